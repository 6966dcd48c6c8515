package idempotency

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"marquee/platform/jobs"
)

// PurgeArgs is the job that removes keys that nobody may repeat any more.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "idempotency_purge" }

const purgeEvery = time.Hour

// Workers adds the job.
func (s *Store) Workers(w *river.Workers) {
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[PurgeArgs]) error { return s.Purge(ctx) }))
}

// Periodic returns it by the clock.
func (*Store) Periodic() []jobs.Periodic {
	return []jobs.Periodic{jobs.NewPeriodic(river.PeriodicInterval(purgeEvery), PurgeArgs{},
		&river.InsertOpts{MaxAttempts: 1}, &river.PeriodicJobOpts{ID: PurgeArgs{}.Kind(), RunOnStart: true})}
}
