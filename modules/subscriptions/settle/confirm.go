package settle

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
)

// confirmFirstTx has money of gateway A that the ledger lacks, and that comes after the
// subscription's end, or would lengthen it without having been ordered here, confirmed by
// the gateway first, by job: nothing is booked until then.
func (s *Settler) confirmFirstTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, p Payment) (bool, error) {
	if sub.Traits().SignsEvents || p.Source != state.ByWebhook {
		return false, nil
	}
	if !sub.Status.Ended() {
		if ordered, err := s.isOrderedTx(ctx, tx, sub, p); err != nil || ordered {
			return false, err
		}
	}
	a := LateMoneyArgs{
		Gateway: sub.Gateway, SubscriptionID: sub.ID, PaymentID: p.ID, EventID: nullable.Value(p.Event), First: p.First,
		SettledAt: p.SettledAt,
	}
	if p.Charge != nil {
		a.ChargeID = p.Charge.ID
	}
	return true, s.InsertLateTx(ctx, tx, a)
}

// confirmTwinTx has a job read a charge for a due date live, and the one that has paid for
// that day as well when only an event has reported it: an event may be forged, and what is
// refunded must not be the real payment.
func (s *Settler) confirmTwinTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, p Payment) (bool, error) {
	if !paysADay(sub, p) || sub.Status.Ended() {
		return false, nil
	}
	twins, err := s.deps.Payments.PaidFor(ctx, tx, sub.Gateway, sub.ID, p.Payment)
	if err != nil || !slices.ContainsFunc(twins, func(t payments.PaidFor) bool { return !t.Confirmed }) {
		return false, err
	}
	return true, s.InsertLateTx(ctx, tx, LateMoneyArgs{
		Gateway: sub.Gateway, SubscriptionID: sub.ID, PaymentID: p.ID, EventID: nullable.Value(p.Event),
		SettledAt: p.SettledAt,
	})
}

// paysADay reports whether a payment is a charge of gateway A's recurrence, of which each
// day that is due has one.
func paysADay(sub lifecycle.Subscription, p Payment) bool {
	return p.Recurs && !p.First && sub.Traits().ChargesByDay && sub.PaymentMethod != gateway.MethodPix
}
