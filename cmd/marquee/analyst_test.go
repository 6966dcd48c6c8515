package main_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
)

// TestAnAnalystReadsFiguresAndWritesNothing: by the command, and as the login that it made.
func TestAnAnalystReadsFiguresAndWritesNothing(t *testing.T) {
	t.Parallel()
	ctx, database := t.Context(), pgtest.URL(t)
	owner, err := pgx.Connect(ctx, database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = owner.Close(context.Background()) })
	var super bool
	require.NoError(t, owner.QueryRow(ctx, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user").Scan(&super))
	if !super {
		t.Skip("the tests' user is no superuser: logins cannot be made and dropped")
	}
	name := "ana_" + objectid.New().String()
	run := func(args ...string) (string, error) {
		c := exec.Command(build(t, "faultpoints"), append([]string{"analyst", "create"}, args...)...)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "DATABASE_URL=" + database}
		out, err := c.CombinedOutput()
		return string(out), err
	}
	// Not superusers: who owns the database, as `marquee serve` mostly does, and who only uses it.
	serving, working := "serve_"+name, "work_"+name
	for _, statement := range []string{
		"CREATE ROLE " + serving, "CREATE ROLE " + working,
		"ALTER DATABASE " + owner.Config().Database + " OWNER TO " + serving,
		"GRANT USAGE ON SCHEMA payments TO " + working,
	} {
		_, err := owner.Exec(ctx, statement)
		require.NoError(t, err, statement)
	}
	t.Cleanup(func() {
		for _, statement := range []string{
			"ALTER DATABASE " + owner.Config().Database + " OWNER TO " + owner.Config().User,
			"DROP OWNED BY " + serving + ", " + working, "DROP ROLE " + serving + ", " + working,
		} {
			_, err := owner.Exec(context.Background(), statement)
			require.NoError(t, err, statement)
		}
	})
	printed, err := run(name)
	t.Cleanup(func() { _, _ = owner.Exec(context.Background(), "DROP ROLE IF EXISTS "+name) })
	require.NoError(t, err, printed)
	said := map[string]string{}
	for line := range strings.Lines(printed) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[key] = strings.TrimSpace(value)
	}
	require.Equal(t, name, said["login"])
	require.Len(t, said["password"], 24)

	analyst, err := pgx.Connect(ctx, said["connect"])
	require.NoError(t, err, printed)
	defer func() { _ = analyst.Close(ctx) }()
	for setting, value := range map[string]string{
		"default_transaction_read_only": "on", "statement_timeout": "1min",
		"idle_in_transaction_session_timeout": "10min", "search_path": "finance",
	} {
		var output string
		require.NoError(t, analyst.QueryRow(ctx, "SHOW "+setting).Scan(&output))
		require.Equal(t, value, output, setting)
	}
	_, err = analyst.Exec(ctx, "SELECT * FROM overview") // schema finance is looked through by itself
	require.NoError(t, err)
	_, err = analyst.Exec(ctx, "SET default_transaction_read_only = off")
	require.NoError(t, err, "which anybody may")
	for _, forbidden := range []string{
		"CREATE TEMPORARY TABLE mine (n int)", "CREATE TABLE public.mine (n int)", "SELECT lo_create(0)",
		"SELECT lo_from_bytea(0, 'x')", "SELECT * FROM finance_internal.daily_scan",
		"SELECT * FROM customers_personal", "SELECT * FROM accounts.users", "SELECT pg_advisory_lock(1)",
		"SELECT pg_try_advisory_xact_lock_shared(1, 2)",
		"SELECT pg_advisory_xact_lock(hashtextextended('payments.unapplied_payments/automatic', 0))",
	} {
		_, err = analyst.Exec(ctx, forbidden)
		require.ErrorContains(t, err, "SQLSTATE 42501", forbidden)
	}

	for role, may := range map[string]bool{
		serving: true, working: true, owner.Config().User: true, name: false, "marquee_analyst": false,
	} {
		var all, allowed int
		require.NoError(t,
			owner.QueryRow(ctx,
				`SELECT count(*), count(*) FILTER (WHERE has_function_privilege($1, oid, 'EXECUTE')) FROM pg_proc
			WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_'`, role).Scan(&all,
				&allowed))
		require.Greater(t, all, 15)
		require.Equal(t, map[bool]int{true: all, false: 0}[may], allowed, role)
	}

	again, err := run(name, "--personal")
	require.NoError(t, err, again)
	require.NotContains(t, again, "password", "it is somebody's")
	_, err = analyst.Exec(ctx, "SELECT * FROM customers_personal")
	require.NoError(t, err)
	for _, wrong := range []string{"Ana", "pg_ana", "ana;x", owner.Config().User} {
		out, err := run(wrong)
		require.Error(t, err, out)
	}
}
