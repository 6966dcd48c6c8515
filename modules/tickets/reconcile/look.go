package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/orders"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Recover looks at an open order at once. One that is not open is left alone, and so is
// one whose call may still be under way.
func (s *Reconciler) Recover(ctx context.Context, id objectid.ID) error {
	return s.intents.LookAt(ctx, intent.Order, id)
}

// Look asks the gateway what the call of an order has made, and finishes or gives it
// back (open-shapes, Card money moves once).
func (s *Reconciler) Look(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	o, err := s.db.OrderGet(ctx, s.pool, l.Subject)
	if err != nil {
		return 0, err
	}
	if !o.IntentOpen {
		return intent.Settled, nil // by the release before, which knows no intents
	}
	a, found, err := s.ask(ctx, o)
	a.End = orders.End{How: intent.Succeeded[any]{}, By: orders.ByLook}
	switch {
	case err != nil:
		return 0, err
	case !found && !l.Proved:
		return intent.NotThere, nil
	case !found:
		a = orders.Answer{Declined: true, End: orders.End{How: intent.Missing[any]{}, By: orders.ByLook}}
	case a.Pix != nil && a.Pix.Payment.Status == gateway.PaymentPending:
		if a, err = s.offerable(ctx, o, a); err != nil {
			return 0, err
		}
	}
	if _, err = s.orders.Settle(ctx, o.ID, a); err != nil {
		return 0, err
	}
	switch {
	case a.Open && o.HoldUntil != nil && !o.HoldUntil.After(s.clock.Now()):
		// The gateway has thought about the card for too long. What it takes after all
		// is money that arrives late.
		_, err = s.orders.Settle(ctx, o.ID, orders.Answer{RanOut: true, End: orders.End{How: intent.Void[any]{}, By: orders.ByLook}})
		return intent.Settled, err
	case a.Open:
		return intent.Waiting, nil
	}
	return intent.Settled, nil
}

// offerable judges a code that a look has found, of which the buyer, who was answered
// without one, is written. One that cannot be shown any more, since the places are held
// no longer, is made unpayable first.
func (s *Reconciler) offerable(ctx context.Context, o orders.Order, a orders.Answer) (orders.Answer, error) {
	e, err := s.db.EventGet(ctx, s.pool, o.EventID)
	if err != nil {
		return a, fmt.Errorf("read event: %w", err)
	}
	after, now := o, s.clock.Now()
	orders.LearnPix(&after, a.Pix)
	if orders.Payable(after, now) && !a.Pix.Expired && e.EndsAt.After(now) && e.CancelledAt == nil {
		return a, nil
	}
	gw, err := s.payments.Gateway(gateway.Name(postgres.Text(o.Gateway)))
	if err != nil {
		return a, err
	}
	err = gw.CancelPix(ctx, a.Pix.Payment.ID, o.ID)
	switch {
	case errors.Is(err, gateway.ErrAlreadyPaid):
		charge, err := gw.ReadPix(ctx, a.Pix.Payment.ID, o.ID)
		if err != nil {
			return a, fmt.Errorf("read paid charge: %w", err)
		}
		a.Pix = &charge
		return a, nil
	case err != nil && !errors.Is(err, gateway.ErrMissing):
		return a, fmt.Errorf("cancel charge: %w", err)
	}
	a.RanOut = true
	return a, nil
}

// Adopt opens the intent of an order that has none: the release before made it.
func (s *Reconciler) Adopt(ctx context.Context, id objectid.ID) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, id)
		if err != nil || !o.IntentOpen {
			return err
		}
		_, open, err := s.intents.OpenOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if !open {
			if err := s.intents.OpenTx(ctx, tx, intent.Opening{Ref: orders.IntentOf(id), Customer: o.CustomerID, Gateway: postgres.Text(o.Gateway)}); err != nil {
				return err
			}
		}
		return s.orders.SaveTx(ctx, tx, &o, func(o *orders.Order) { o.RecoveryAt = new(s.clock.Now().Add(orders.AdoptAfter)) })
	})
}

// ask looks at the gateway for what the order's call may have made.
func (s *Reconciler) ask(ctx context.Context, o orders.Order) (a orders.Answer, found bool, err error) {
	ctx = gateway.Background(ctx)
	gw, err := s.payments.Gateway(gateway.Name(postgres.Text(o.Gateway)))
	if err != nil {
		return a, false, err
	}
	payer := gateway.Payer{CustomerID: o.CustomerID, GatewayID: postgres.Text(o.GatewayCustomerID)}
	if postgres.Text(o.PaymentMethod) == string(gateway.MethodPix) {
		charge, ok, err := gw.FindPix(ctx, s.orders.PixTerms(o, payer, ""))
		return orders.Answer{Pix: &charge}, ok, err
	}
	var p gateway.Payment
	found = true
	if o.GatewayPaymentID != nil {
		p, err = gw.ReadPayment(ctx, *o.GatewayPaymentID, o.ID)
	} else {
		var charge gateway.CardCharge
		charge, found, err = gw.FindCardCharge(ctx, orders.CardTerms(o, payer, "", gateway.Instrument{}))
		p = charge.Payment
	}
	return orders.Answer{Payment: &p, Open: p.Status == gateway.PaymentPending}, found, err
}
