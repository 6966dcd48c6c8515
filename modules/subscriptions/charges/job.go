package charges

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// TendRenewalCharge makes unpayable a code that has run out or whose subscription has
// ended. What became of an order whose answer was lost the looks find out: it sees to it
// that they do. Otherwise it does nothing.
func (s *Charges) TendRenewalCharge(ctx context.Context, id objectid.ID) error {
	charge, err := s.db.GetRenewalCharge(ctx, s.pool, id)
	if err != nil || charge.State != state.ChargeOpen {
		return err
	}
	if charge.IntentOpen {
		if err := s.adoptCharge(ctx, id); err != nil {
			return err
		}
		charge = s.lookNowForCharge(ctx, charge)
	}
	if charge.IntentOpen || charge.State != state.ChargeOpen {
		return nil
	}
	sub, err := s.db.GetSubscription(ctx, s.pool, charge.SubscriptionID)
	if err != nil || !sub.Status.Ended() && !s.runsOut(charge) {
		return err
	}
	return s.withdrawCode(ctx, charge)
}

// withdrawCode makes an open code unpayable at the gateway; one that has just been
// paid is settled instead.
func (s *Charges) withdrawCode(ctx context.Context, charge lifecycle.RenewalCharge) error {
	gw, err := s.payments.Gateway(charge.Gateway)
	if err != nil {
		return err
	}
	paid, err := gateway.WithdrawPix(ctx, gw, *charge.GatewayPaymentID, charge.ID)
	if err != nil {
		return err
	}
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		if paid != nil {
			return s.keepCodeTx(ctx, tx, charge, *paid, intent.ByLook)
		}
		return s.dropTx(ctx, tx, charge.ID, intent.Void[any]{}, intent.ByLook)
	})
}

// TendAll settles what is open of a subscription's renewal charges, for an account
// that is deleted: ErrStillOpen while something could still be paid.
func (s *Charges) TendAll(ctx context.Context, subscriptionID objectid.ID) error {
	ids, err := s.db.ListOpenRenewalCharges(ctx, s.pool, subscriptionID)
	if err != nil {
		return fmt.Errorf("list renewal charges: %w", err)
	}
	for _, id := range ids {
		if err := s.TendRenewalCharge(ctx, id); err != nil {
			return err
		}
	}
	if ids, err = s.db.ListOpenRenewalCharges(ctx, s.pool, subscriptionID); err == nil && len(ids) > 0 {
		return calls.ErrStillOpen
	}
	return err
}
