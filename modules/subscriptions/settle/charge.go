package settle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// movedByTx notes what the payment of a renewal charge did to the end of the paid
// time, in the transaction that did it.
func (s *Settler) movedByTx(ctx context.Context, tx pgx.Tx, before, after lifecycle.Row, p Payment) error {
	charge, err := s.db.GetRenewalChargeForUpdate(ctx, tx, p.Charge.ID)
	if err != nil {
		return fmt.Errorf("read renewal charge: %w", err)
	}
	from, to := paidEnd(before), paidEnd(after)
	_, err = s.store.SaveChargeTx(ctx, tx, charge, func(c *lifecycle.RenewalCharge) {
		c.State, c.IntentOpen, c.LookAt = state.ChargeUnapplied, false, nil
		if to != nil && (from == nil || to.After(*from)) {
			c.State, c.MovedFrom, c.MovedTo = state.ChargePaid, from, to
		}
		lifecycle.Learn(&c.GatewayPaymentID, p.ID)
	})
	return err
}

// paidEnd is what a renewal charge moves; nil of what has ended.
func paidEnd(sub lifecycle.Row) *time.Time {
	switch {
	case sub.Status.Ended():
		return nil
	case sub.ExpiresAt != nil:
		return sub.ExpiresAt
	}
	return sub.NextBillingDate
}
