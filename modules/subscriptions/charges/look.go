package charges

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

func (s *Charges) openChargeIntentTx(ctx context.Context, tx pgx.Tx, c lifecycle.RenewalCharge, callTime time.Duration) error {
	return s.intents.OpenTx(ctx, tx, intent.Opening{Ref: lifecycle.IntentOfCharge(c.ID), Customer: c.CustomerID, Gateway: c.Gateway, CallTime: callTime})
}

// LookAtCharge asks the gateway what became of an order whose answer was lost. Proved
// to have made nothing the code is gone, and the customer may ask for another.
func (s *Charges) LookAtCharge(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	ctx = gateway.Background(ctx)
	charge, err := s.db.GetRenewalCharge(ctx, s.pool, l.Subject)
	if err != nil {
		return 0, fmt.Errorf("read renewal charge: %w", err)
	}
	if !charge.IntentOpen {
		return intent.Settled, nil
	}
	sub, err := s.db.GetSubscription(ctx, s.pool, charge.SubscriptionID)
	if err != nil {
		return 0, err
	}
	terms, gateway, err := s.chargeTerms(ctx, sub, chargeOrder{amount: money.Cents(charge.AmountCents), until: charge.PayableUntil})
	if err != nil {
		return 0, err
	}
	terms.Reference = charge.ID
	made, found, err := gateway.FindPix(ctx, terms)
	switch {
	case err != nil:
		return 0, err
	case found:
		_, err = s.keepCode(ctx, charge, made, lifecycle.ByLook)
		return intent.Settled, err
	case !l.Proved:
		return intent.NotThere, nil
	}
	return intent.Settled, s.dropCharge(ctx, charge.ID, intent.Missing[any]{}, lifecycle.ByLook)
}

// adoptCharge opens the intent of an order that has none: the release before made it,
// and asks about it by look_at, which lies so far ahead that it leaves those of this
// one alone.
func (s *Charges) adoptCharge(ctx context.Context, id objectid.ID) error {
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		c, err := s.db.GetRenewalChargeForUpdate(ctx, tx, id)
		if err != nil || !c.IntentOpen {
			return err
		}
		if c, err = s.store.SaveChargeTx(ctx, tx, c, func(c *lifecycle.RenewalCharge) { c.LookAt = new(s.clock.Now().Add(lifecycle.AdoptAfter)) }); err != nil {
			return err
		}
		if _, open, err := s.intents.OpenOf(ctx, tx, id); err != nil || open {
			return err
		}
		return s.openChargeIntentTx(ctx, tx, c, 0)
	})
	if open := (*intent.ErrOpen)(nil); errors.As(err, &open) {
		return nil
	}
	return err
}
