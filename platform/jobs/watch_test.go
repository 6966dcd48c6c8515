package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/platform/jobs"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

type args struct {
	Name string `json:"name"`
}

func (args) Kind() string { return "test_watch" }

// setup makes a database and its client. The options lack the log.
func setup(t *testing.T, o jobs.Options) (*pgxpool.Pool, *river.Client[pgx.Tx]) {
	t.Helper()
	db, err := pgxpool.New(t.Context(), pgtest.URL(t))
	require.NoError(t, err)
	t.Cleanup(db.Close)
	o.Log = secrettest.Logger(t)
	client, err := jobs.New(db, o)
	require.NoError(t, err)
	return db, client
}

// TestJobsOfADeadWorkerStartAgain: of a worker that falls silent, and of none that lives
// or never spoke.
func TestJobsOfADeadWorkerStartAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, client := setup(t, jobs.Options{})
	pace := jobs.Pace{Beat: 50 * time.Millisecond, Silence: 3 * time.Second}
	stopped, die := context.WithCancel(ctx)
	require.NoError(t, jobs.Watch(stopped, db, "dead", secrettest.Logger(t), pace))
	require.NoError(t, jobs.Watch(ctx, db, "living", secrettest.Logger(t), pace))
	running := func(by string, attempt, most, deaths int, metadata string) int64 {
		t.Helper()
		inserted, err := client.Insert(ctx, args{by}, &river.InsertOpts{MaxAttempts: most})
		require.NoError(t, err)
		_, err = db.Exec(ctx,
			`UPDATE jobs.river_job SET state = 'running', attempt = $2, attempted_at = now(), attempted_by = ARRAY['living', $3], metadata = $4,
			errors = (SELECT array_agg('{"error":"The worker died."}'::jsonb) FROM generate_series(1, $5)) WHERE id = $1`, inserted.Job.ID, attempt, by, metadata, deaths)
		require.NoError(t, err)
		return inserted.Job.ID
	}
	state := func(id int64) (state string) {
		t.Helper()
		require.NoError(t, db.QueryRow(ctx, "SELECT state FROM jobs.river_job WHERE id = $1", id).Scan(&state))
		return state
	}
	first, last, deadly := running("dead", 1, 8, 0, `{}`), running("dead", 1, 1, 1, `{}`),
		running("dead", 5, 5, 3, `{}`)
	cancelled := running("dead", 1, 8, 0, `{"cancel_attempted_at":"2026-11-22T00:00:00Z"}`)
	living, old := running("living", 1, 8, 0, `{}`), running("never spoke", 1, 8, 0, `{}`)
	var seen, now time.Time
	seenAt := func(at *time.Time) {
		require.NoError(t, db.QueryRow(ctx, "SELECT seen_at FROM jobs.workers WHERE id = 'dead'").Scan(at))
	}
	seenAt(&seen)
	require.Eventually(t, func() bool { seenAt(&now); return now.After(seen) }, time.Minute, 20*time.Millisecond,
		"it goes on speaking")
	require.Equal(t, "running", state(first), "while it lives")
	die()
	require.Eventually(t, func() bool { return state(first) == "available" }, time.Minute, 20*time.Millisecond)
	require.Equal(t, "available", state(last))
	require.Equal(t, "discarded", state(deadly))
	require.Equal(t, "cancelled", state(cancelled))
	require.Equal(t, "running", state(living))
	require.Equal(t, "running", state(old))
	var most int
	require.NoError(t, db.QueryRow(ctx, "SELECT max_attempts FROM jobs.river_job WHERE id = $1", last).Scan(&most))
	require.Equal(t, 2, most)
}
