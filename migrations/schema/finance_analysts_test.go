package schema_test

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
)

// rolesOf is the statement of the migration that makes the analysts' roles, with
// names of this test's own: those of the migration are the whole cluster's.
func rolesOf(t *testing.T, name string) string {
	t.Helper()
	file, err := fs.ReadFile(schema.FS, "01011_finance_baseline.sql")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(file), "-- +goose StatementBegin\n")
	statement, _, found := strings.Cut(rest, "-- +goose StatementEnd")
	require.True(t, found)
	require.Contains(t, statement, "CREATE ROLE")
	return strings.ReplaceAll(statement, "marquee_analyst", name)
}

// connected is a connection to a database of its own, and what the server says on it.
func connected(t *testing.T) (*pgx.Conn, *[]string) {
	t.Helper()
	config, err := pgx.ParseConfig(pgtest.URL(t))
	require.NoError(t, err)
	said := &[]string{}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { *said = append(*said, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn, said
}

// testRoles are the names of a test's two roles, which are dropped at its end.
func testRoles(t *testing.T) (name string) {
	t.Helper()
	conn, _ := connected(t)
	var may bool
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT rolsuper FROM pg_roles WHERE rolname = current_user`).
		Scan(&may))
	if !may {
		t.Skip("the tests' user is no superuser: roles cannot be made and dropped")
	}
	name = "analyst_" + objectid.New().String()
	t.Cleanup(func() {
		for _, role := range []string{name, name + "_personal", name + "_migrator"} {
			_, err := conn.Exec(context.Background(), "DROP ROLE IF EXISTS "+role)
			require.NoError(t, err)
		}
	})
	return name
}

// settingsOf are what the roles carry, sorted.
func settingsOf(t *testing.T, conn *pgx.Conn, name string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(),
		`SELECT rolname || ' ' || c FROM pg_roles, unnest(rolconfig) c WHERE rolname IN ($1::text, $1::text || '_personal') AND NOT rolcanlogin ORDER BY 1`, name)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

var settings = []string{
	"default_transaction_read_only=on", "idle_in_transaction_session_timeout=10min", "search_path=finance",
	"statement_timeout=60s",
}

func settled(name string) (all []string) {
	for _, role := range []string{name, name + "_personal"} {
		for _, s := range settings {
			all = append(all, role+" "+s)
		}
	}
	return all
}

// Roles belong to the cluster: several databases that migrate at once make them
// once, and one that comes later finds them.
func TestAnalystRolesAreMadeOnce(t *testing.T) {
	t.Parallel()
	name := testRoles(t)
	statement := rolesOf(t, name)
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 3 {
		conn, _ := connected(t)
		all.Go(func() {
			<-start
			_, err := conn.Exec(t.Context(), statement)
			if err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	conn, said := connected(t)
	require.Equal(t, settled(name), settingsOf(t, conn, name))
	_, err := conn.Exec(t.Context(), statement)
	require.NoError(t, err, "they are there")
	require.Empty(t, *said)
	require.Equal(t, settled(name), settingsOf(t, conn, name))
}

// TestAnalystRolesRaceWithoutTheirGuards shows that the race is real: without what
// catches it, one of the databases cannot migrate.
func TestAnalystRolesRaceWithoutTheirGuards(t *testing.T) {
	t.Parallel()
	name := testRoles(t)
	first, _ := connected(t)
	second, _ := connected(t)
	tx, err := first.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `CREATE ROLE `+name)
	require.NoError(t, err)
	ended := make(chan error, 1)
	roles := rolesOf(t, name)
	go func() {
		_, err := second.Exec(t.Context(),
			strings.Replace(roles, "WHEN duplicate_object OR unique_violation THEN", "WHEN division_by_zero THEN", 1))
		ended <- err
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		require.NoError(t,
			tx.QueryRow(t.Context(),
				`SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)`, // a transaction sees no other activity
				second.PgConn().PID()).Scan(&waiting))
		return waiting
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, tx.Commit(t.Context()))
	require.ErrorContains(t, <-ended, "pg_authid_rolname_index")
}

// A user who may not create roles migrates all the same, and is told what an
// administrator has to do; with the roles there, they are told nothing of them.
func TestAnalystRolesWithoutTheRightToMakeThem(t *testing.T) {
	t.Parallel()
	name := testRoles(t)
	conn, said := connected(t)
	_, err := conn.Exec(t.Context(), `CREATE ROLE `+name+`_migrator NOCREATEROLE`)
	require.NoError(t, err)
	as := func(statement string) {
		t.Helper()
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `SET LOCAL ROLE `+name+`_migrator`)
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), statement)
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
	}
	as(rolesOf(t, name))
	require.Empty(t, settingsOf(t, conn, name))
	require.Len(t, *said, 2)
	for i, role := range []string{name, name + "_personal"} {
		require.Equal(t, "Role "+role+" is not made: "+name+
			"_migrator may not create roles. Let an administrator create it (docs/analysts.md), then run SELECT finance.grant_analysts().", (*said)[i])
	}
	*said = nil
	_, err = conn.Exec(t.Context(), rolesOf(t, name))
	require.NoError(t, err)
	as(rolesOf(t, name))
	require.Empty(t, *said)
}
