package disputes

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
)

// pauseTx has the gateway collect nothing for a disputed subscription: recorded here
// first, so that the echo of it changes nothing, and done by job. It may be repeated.
func (s *Disputes) pauseTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row) error {
	if sub.Status.Ended() || !lifecycle.Collects(sub) || sub.GatewayDeletedAt != nil {
		return nil
	}
	all, err := s.holdingDisputesOf(ctx, tx, sub)
	if err != nil || !hasState(all, gateway.DisputeOpen) {
		return err
	}
	now := s.clock.Now()
	since := now
	for _, d := range all {
		if d.State == gateway.DisputeOpen && d.OpenedAt.Before(since) {
			since = d.OpenedAt
		}
	}
	open, err := s.db.LockOpenPause(ctx, tx, sub.ID)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		id := objectid.At(now)
		if err := s.db.InsertPause(ctx, tx, subscriptionsdb.InsertPauseParams{ID: id, SubscriptionID: sub.ID, Since: since, Now: now}); err != nil {
			return fmt.Errorf("write pause: %w", err)
		}
		return s.store.SchedulePauseTx(ctx, tx, id, now)
	case err != nil:
		return fmt.Errorf("read pause: %w", err)
	case open.State != state.Resuming:
		return nil
	}
	return s.store.TurnPauseTx(ctx, tx, open.ID, state.Pausing, since, nil)
}
