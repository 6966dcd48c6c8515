package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// CollectionPause is the order to collect nothing for a disputed subscription, and
// later to collect again. At most one of a subscription is not over.
type CollectionPause = subscriptionsdb.SubscriptionsPause

// ResumeTx has the gateway collect again, from an instant on; without a pause there is
// nothing to do.
func (s *Store) ResumeTx(ctx context.Context, tx pgx.Tx, id objectid.ID, from time.Time) error {
	open, err := s.db.LockOpenPause(ctx, tx, id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && open.State == state.Resuming {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pause: %w", err)
	}
	return s.TurnPauseTx(ctx, tx, open.ID, state.Resuming, open.Since, &from)
}

// PauseAgainTx has a pause that was confirmed look once more: something was ordered
// before it, and is known only now.
func (s *Store) PauseAgainTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	open, err := s.db.LockOpenPause(ctx, tx, id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && open.State != state.Paused {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pause: %w", err)
	}
	return s.TurnPauseTx(ctx, tx, open.ID, state.Pausing, open.Since, nil)
}

// TurnPauseTx turns a pause into another state and has it carried out.
func (s *Store) TurnPauseTx(ctx context.Context, tx pgx.Tx, id objectid.ID, to state.Pause, since time.Time, until *time.Time) error {
	now := s.deps.Clock.Now()
	err := s.db.TurnPause(ctx, tx, subscriptionsdb.TurnPauseParams{ID: id, State: to, Since: since, Until: until, Now: now})
	if err != nil {
		return fmt.Errorf("turn pause: %w", err)
	}
	return s.SchedulePauseTx(ctx, tx, id, now)
}

// SchedulePauseTx has a pause carried out by job.
func (s *Store) SchedulePauseTx(ctx context.Context, tx pgx.Tx, id objectid.ID, at time.Time) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, PauseArgs{PauseID: id, At: at}, &river.InsertOpts{
		ScheduledAt: at, Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByArgs: true},
	})
	if err != nil {
		return fmt.Errorf("schedule pause: %w", err)
	}
	return nil
}
