package main_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// TestWhoLostASecondFactorIsLetIn runs the real command.
func TestWhoLostASecondFactorIsLetIn(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	run := func(stdin string, args ...string) (status int, out string) {
		command := exec.Command(build(t, ""), append([]string{"user"}, args...)...)
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "DATABASE_URL=" + database}
		command.Stdin = strings.NewReader(stdin)
		raw, err := command.CombinedOutput()
		if err != nil {
			require.NotNil(t, command.ProcessState, "%v", err)
		}
		return command.ProcessState.ExitCode(), string(raw)
	}
	status, id := run("correct horse battery\n", "create", "--root", "--username", "boss", "--email", "boss@example.com",
		"--password-stdin")
	require.Zero(t, status, id)
	id = strings.TrimSpace(id)
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(),
		`INSERT INTO accounts.totp (user_id, secret, created_at, confirmed_at) VALUES ($1, '', now(), now())`, id)
	require.NoError(t, err)

	status, out := run("", "mfa-reset", "--username", "nobody")
	require.Equal(t, 1, status, out)
	require.Contains(t, out, "User not found.")
	status, out = run("", "mfa-reset", "--username", "BOSS@example.com")
	require.Zero(t, status, out)
	require.Equal(t, id, strings.TrimSpace(out))
	var left, ended, entries int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM accounts.totp),
		(SELECT count(*) FROM accounts.users WHERE tokens_valid_after IS NOT NULL),
		(SELECT count(*) FROM accounts.audit_log WHERE action = 'user_mfa_reset' AND record_id = $1)`, id).
		Scan(&left, &ended, &entries))
	require.Equal(t, []int{0, 1, 1}, []int{left, ended, entries})
}
