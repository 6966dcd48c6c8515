package main_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// TestDoctorTellsWhatIsBroken runs the real command.
func TestDoctorTellsWhatIsBroken(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	doctor := func(args ...string) (status int, out string) {
		command := exec.Command(build(t, ""), append([]string{"doctor"}, args...)...)
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "DATABASE_URL=" + database}
		raw, err := command.Output()
		if err != nil {
			require.NotNil(t, command.ProcessState, "%v", err)
		}
		return command.ProcessState.ExitCode(), string(raw)
	}
	status, out := doctor()
	require.Zero(t, status, out)
	require.Contains(t, out, "one_live_subscription")

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(),
		`INSERT INTO accounts.users (id, user_type, username, email, full_name, created_at, updated_at, current_subscription_id)
		VALUES ('0000000000000000000000a1', 'customer', 'ana', 'ana@example.com', 'Ana', now(), now(), '0000000000000000000000b1')`)
	require.NoError(t, err)
	status, out = doctor()
	require.Equal(t, 1, status, out)
	require.Regexp(t,
		`(?m)^1 +current_subscription_live .*\n +0000000000000000000000a1 +points to 0000000000000000000000b1, which is not there$`, out)
	status, out = doctor("--json")
	require.Equal(t, 1, status)
	var results []struct {
		Name, Meaning string
		Findings      int
		Offenders     []struct{ ID, Detail string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &results))
	for _, r := range results {
		if r.Name == "current_subscription_live" {
			require.Equal(t, 1, r.Findings)
			require.Equal(t, "0000000000000000000000a1", r.Offenders[0].ID)
			continue
		}
		require.Zero(t, r.Findings, r.Name)
		require.NotNil(t, r.Offenders)
	}
}

// requireInvariants ends an end-to-end test: no invariant is broken.
func requireInvariants(t *testing.T, database string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	pgtest.RequireInvariants(t, conn, time.Now())
}
