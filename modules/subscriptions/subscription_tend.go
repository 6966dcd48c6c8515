package subscriptions

import (
	"context"

	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
)

// SweepChargeMove takes up an extension's next charge that nobody asks about.
func (s *Extensions) SweepChargeMove(ctx context.Context, id objectid.ID) error {
	return s.calls.SweepOrder(ctx, chargeMoveIntent(id), s.MoveCharge, func() error {
		return s.db.PostponeChargeMove(ctx, s.pool, subscriptionsdb.PostponeChargeMoveParams{ID: id, NextTryAt: s.clock.Now().Add(lifecycle.AdoptAfter)})
	})
}
