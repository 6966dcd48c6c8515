package subscriptions

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// ListUnappliedTx puts money that an ended subscription cannot take on the list of
// unapplied payments, from which it is refunded by itself, and ends at the gateway
// what went on charging.
func (s *Settler) ListUnappliedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment, note string, automatic bool) error {
	_, err := s.payments.RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedLate, Gateway: payments.GatewayName(sub.Gateway), PaymentID: p.ID, Amount: &p.Amount,
		CustomerID: sub.CustomerID, SubscriptionID: sub.ID, PaidAt: p.SettledAt, Note: note, Automatic: automatic,
		Reference: referenceOf(p),
	})
	if err != nil {
		return err
	}
	return s.store.EndAtGatewayTx(ctx, tx, sub)
}

// referenceOf is our id that the gateway was told with a payment, where it is not the
// subscription's: without it nobody would find the payment there.
func referenceOf(p Payment) objectid.ID {
	if p.Charge == nil {
		return ""
	}
	return p.Charge.ID
}

// refundDeletedTx lists money for a customer who had been deleted when it was charged:
// the deletion has not reached the subscription yet, or ended it after the charge. What
// was not open yet ends here, as nothing is to open it any more; what runs is ended by
// the deletion.
func (s *Settler) refundDeletedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, p Payment) (refunded bool, err error) {
	deleted, err := s.accounts.CustomerDeletedAt(ctx, tx, sub.CustomerID)
	if err != nil || deleted == nil || s.paidBeforeDeletion(*sub, p, *deleted) {
		return false, err
	}
	if lifecycle.Status(sub.Status) == lifecycle.Pending {
		if _, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: lifecycle.CustomerCancels, Source: p.Source, Event: p.Event}); err != nil {
			return false, err
		}
	}
	return true, s.ListUnappliedTx(ctx, tx, *sub, p, "Paid after the customer had deleted the account.", true)
}

// paidBeforeDeletion reports whether a payment that is told after the deletion had its
// access before it. A code that was paid before it and is told after it had none. Where
// gateway A tells the day of the deletion alone, the customer is given the benefit.
func (s *Settler) paidBeforeDeletion(sub lifecycle.Row, p Payment, deleted time.Time) bool {
	oneOff := sub.PaymentMethod == string(payments.MethodPix) && !sub.PixAutomatic
	if sub.StartedAt == nil || oneOff || p.SettledAt == nil {
		return false
	}
	if sub.Gateway == string(payments.GWA) && p.SettledAt.Equal(lifecycle.StartOfDay(*p.SettledAt, s.cfg.Zone)) {
		return p.SettledAt.Before(lifecycle.StartOfDay(deleted, s.cfg.Zone))
	}
	return p.SettledAt.Before(deleted.Truncate(time.Second))
}

// ExtendTx moves the end of a living subscription by the months that an amount pays
// for (payments.Extender). It changes what an admin's extension does. The audit trail has
// it with the decision about the payment.
func (s *Extensions) ExtendTx(ctx context.Context, tx pgx.Tx, e payments.Extension) (objectid.ID, error) {
	if err := s.store.LockCustomerTx(ctx, tx, e.CustomerID); err != nil {
		return "", err
	}
	sub, err := s.livingTx(ctx, tx, e)
	if err != nil {
		return "", err
	}
	months := 0
	if sub.PriceCents > 0 {
		months = int(int64(e.Amount) / sub.PriceCents)
	}
	switch {
	case sub.CustomerID != e.CustomerID:
		return "", fault.Conflict("The subscription is another customer's.")
	case lifecycle.Status(sub.Status).Ended(), lifecycle.Status(sub.Status) == lifecycle.Pending:
		return "", fault.Conflict("The subscription is %s.", sub.Status)
	case sub.HasChargeback:
		return "", fault.Conflict("A payment of the subscription is disputed.")
	case months == 0:
		return "", fault.Conflict("The payment of R$ %s pays for no period of the subscription.", e.Amount)
	}
	err = s.ExtendRowTx(ctx, tx, &sub, func(end time.Time) (time.Time, error) {
		of := sub
		s.calendar.Anchor(&of, end)
		return s.calendar.MonthsOn(end, months, of), nil
	})
	return sub.ID, err
}

// livingTx finds and locks the subscription that a payment is to lengthen.
func (s *Extensions) livingTx(ctx context.Context, tx pgx.Tx, e payments.Extension) (lifecycle.Row, error) {
	id := e.SubscriptionID
	if id == "" {
		living, err := s.db.GetLiveSubscription(ctx, tx, e.CustomerID)
		if errors.Is(err, pgx.ErrNoRows) {
			return lifecycle.Row{}, fault.Conflict("The customer has no subscription that lives.")
		}
		if err != nil {
			return lifecycle.Row{}, err
		}
		id = living.ID
	}
	sub, err := s.db.GetSubscriptionForUpdate(ctx, tx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return lifecycle.Row{}, fault.NotFound("Subscription").WithField("subscription_id")
	}
	return sub, err
}
