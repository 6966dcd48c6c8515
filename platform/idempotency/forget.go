package idempotency

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
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

// ForgetTx deletes the answers of requests that made these orders or
// subscriptions, because the person who made them is deleted. The others nobody
// can tell apart; they go by age.
func ForgetTx(ctx context.Context, tx pgx.Tx, subjects []string) error {
	if len(subjects) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, "DELETE FROM platform.idempotency_keys WHERE subject_id = ANY ($1::text[])", subjects)
	if err != nil {
		return fmt.Errorf("forget repeatable requests: %w", err)
	}
	return nil
}
