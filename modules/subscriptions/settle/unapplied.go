package settle

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
)

// ListUnappliedTx puts money that an ended subscription cannot take on the list of
// unapplied payments, from which it is refunded by itself, and ends at the gateway
// what went on charging.
func (s *Settler) ListUnappliedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment, note string, automatic bool) error {
	_, err := s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedLate, Gateway: sub.Gateway, PaymentID: p.ID, Amount: &p.Amount,
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
	if sub.Status == state.Pending {
		if _, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.CustomerCancels, Source: p.Source, Event: p.Event}); err != nil {
			return false, err
		}
	}
	return true, s.ListUnappliedTx(ctx, tx, *sub, p, "Paid after the customer had deleted the account.", true)
}

// paidBeforeDeletion reports whether a payment that is told after the deletion had its
// access before it. A code that was paid before it and is told after it had none. Where
// gateway A tells the day of the deletion alone, the customer is given the benefit.
func (s *Settler) paidBeforeDeletion(sub lifecycle.Row, p Payment, deleted time.Time) bool {
	oneOff := sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic
	if sub.StartedAt == nil || oneOff || p.SettledAt == nil {
		return false
	}
	if lifecycle.TraitsOf(sub).ChargesByDay && p.SettledAt.Equal(lifecycle.StartOfDay(*p.SettledAt, s.cfg.Zone)) {
		return p.SettledAt.Before(lifecycle.StartOfDay(deleted, s.cfg.Zone))
	}
	return p.SettledAt.Before(deleted.Truncate(time.Second))
}
