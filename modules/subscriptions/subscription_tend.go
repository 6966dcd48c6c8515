package subscriptions

import (
	"context"

	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
)

// SweepPause takes up a pause that nobody asks about.
func (s *Pauses) SweepPause(ctx context.Context, id objectid.ID) error {
	return s.calls.SweepOrder(ctx, pauseIntent(id), s.CarryOutPause, func() error {
		return s.db.DeferPause(ctx, s.pool, subscriptionsdb.DeferPauseParams{ID: id, NextTryAt: s.clock.Now().Add(lifecycle.AdoptAfter)})
	})
}

// SweepChargeMove takes up an extension's next charge that nobody asks about.
func (s *Extensions) SweepChargeMove(ctx context.Context, id objectid.ID) error {
	return s.calls.SweepOrder(ctx, chargeMoveIntent(id), s.MoveCharge, func() error {
		return s.db.PostponeChargeMove(ctx, s.pool, subscriptionsdb.PostponeChargeMoveParams{ID: id, NextTryAt: s.clock.Now().Add(lifecycle.AdoptAfter)})
	})
}
