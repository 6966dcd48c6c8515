package jobs_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/platform/jobs"
)

// TestJobsFollowAMovedClock: what is planned by it is due when it comes there, what comes by the machine's clock
// stays, and what is due starts in its order.
func TestJobsFollowAMovedClock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var ahead atomic.Int64
	db, client := setup(t, jobs.Options{Ahead: func() time.Duration { return time.Duration(ahead.Load()) }})
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	plan := func(name string, at time.Time) {
		t.Helper()
		_, err := client.Insert(ctx, args{name}, &river.InsertOpts{ScheduledAt: at})
		require.NoError(t, err)
	}
	move := func(by time.Duration) {
		t.Helper()
		ahead.Add(int64(by))
		require.NoError(t, jobs.BringForward(ctx, db, by))
		require.NoError(t, jobs.StartDue(ctx, db, client, time.Now()))
	}
	started := func() (names []string) {
		t.Helper()
		rows, err := db.Query(ctx,
			"SELECT args ->> 'name' FROM jobs.river_job WHERE state = 'available' ORDER BY priority, scheduled_at, id")
		require.NoError(t, err)
		for rows.Next() {
			var name string
			require.NoError(t, rows.Scan(&name))
			names = append(names, name)
		}
		return names
	}
	plan("third", now().Add(50*time.Hour))
	plan("first", now().Add(30*time.Hour))
	move(29 * time.Hour)
	require.Empty(t, started())
	plan("second", now().Add(2*time.Hour))
	in, known, err := jobs.DueIn(ctx, db, time.Now())
	require.NoError(t, err)
	require.True(t, known)
	require.InDelta(t, time.Hour.Seconds(), in.Seconds(), 60)
	move(90 * time.Minute)
	require.Equal(t, []string{"first"}, started())
	move(30 * time.Hour)
	require.Equal(t, []string{"first", "second", "third"}, started())
	plan("by the machine's clock", time.Now())
	plan("of the past", now().Add(-time.Hour))
	require.NoError(t, jobs.StartDue(ctx, db, client, time.Now()))
	require.Len(t, started(), 5)
	var oldest time.Duration
	require.NoError(t, db.QueryRow(ctx, "SELECT clock_timestamp() - min(scheduled_at) FROM jobs.river_job").
		Scan(&oldest))
	require.Less(t, oldest, 10*time.Minute, "nothing looks as if it had been left undone")
	n, err := jobs.UnderWay(ctx, db)
	require.NoError(t, err)
	require.Equal(t, 5, n)
}

// TestJobsWaitForAStandingClock: by the machine's clock nothing falls due, by moves all does, by whole seconds.
func TestJobsWaitForAStandingClock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, client := setup(t, jobs.Options{})
	for name, in := range map[string]time.Duration{"soon": time.Minute, "later": time.Hour} {
		_, err := client.Insert(ctx, args{name}, &river.InsertOpts{ScheduledAt: time.Now().Add(in)})
		require.NoError(t, err)
	}
	for range 2 { // the second finds nothing to do
		require.NoError(t, jobs.Stand(ctx, db))
	}
	due := func(want time.Duration) {
		t.Helper()
		in, known, err := jobs.DueIn(ctx, db, jobs.Standing)
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, want, in)
	}
	started := func() (n int) {
		t.Helper()
		require.NoError(t, jobs.StartDue(ctx, db, client, jobs.Standing))
		n, err := jobs.UnderWay(ctx, db)
		require.NoError(t, err)
		return n
	}
	due(time.Minute)
	require.NoError(t, jobs.BringForward(ctx, db, 59*time.Second))
	require.Zero(t, started())
	require.NoError(t, jobs.BringForward(ctx, db, time.Second))
	require.Equal(t, 1, started())
	due(59 * time.Minute)
}
