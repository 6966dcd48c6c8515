package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/faultpoint"
	"marquee/platform/objectid"
)

// Renewals applies renewals together that are told at once.
type Renewals struct{ applier *Applier }

// NewRenewals makes it, on the applier of each.
func NewRenewals(a *Applier) *Renewals { return &Renewals{applier: a} }

// MayShare reports whether an event may be a renewal as ApplyEventsTx applies them: a paid invoice of a recurrence,
// told by a gateway whose word is proof.
func (*Renewals) MayShare(e gateway.Event) bool {
	paid, settled := e.Payload.(gateway.SettledPayment)
	return settled && e.Gateway.Traits().Invoices && e.IsProof() && isOfSubscriptions(e) && e.SubscriptionID != "" &&
		paid.Payment.InvoiceID != "" && paid.Payment.Amount > 0
}

// errNotPlain says that an event which was taken for a plain renewal is none.
var errNotPlain = errors.New("subscriptions: an event is no plain renewal")

// ApplyEventsTx applies those of the events that are plain renewals (isPlainRenewal): what Applier.ApplyEventTx does of
// each, by the same functions, but that what they are about is read and locked by one statement, and their payments
// are booked by another. Errors are the database's, and errNotPlain; the transaction has to be rolled back then.
func (r *Renewals) ApplyEventsTx(ctx context.Context, tx pgx.Tx,
	events []gateway.Event,
) (map[string]gateway.Result, error) {
	if len(events) == 0 {
		return map[string]gateway.Result{}, nil
	}
	found, err := r.applier.db.SubscriptionLockMany(ctx, tx, events)
	if err != nil {
		return nil, fmt.Errorf("lock subscriptions: %w", err)
	}
	results := map[string]gateway.Result{}
	taken := map[objectid.ID]bool{} // subscriptions: of two renewals of one, the second waits for the first
	var records []payments.Record
	for _, f := range found {
		e, sub, absent := events[f.Place], f.Subscription, settle.Absent(f.Absent)
		if taken[sub.ID] || !isPlainRenewal(sub, e, absent) {
			continue
		}
		taken[sub.ID] = true
		record, err := r.renewTx(ctx, tx, &sub, e, absent)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
		results[e.ID] = gateway.Result{
			Status: gateway.ResultApplied, SubscriptionID: &sub.ID, NewStatus: new(string(sub.Status)),
		}
	}
	return results, r.applier.deps.Payments.RecordCountedTx(ctx, tx, records)
}

// isPlainRenewal reports whether an event tells that the card of an active subscription was charged for its next
// period, and there is nothing that makes the payment something else. The customer and the subscription are locked.
func isPlainRenewal(sub lifecycle.Subscription, e gateway.Event, absent settle.Absent) bool {
	nothing := settle.Absent{
		Payment: true, Others: true, Failures: true, Charge: true, Pauses: true, ChargeMoves: true, Deletion: true,
	}
	return absent == nothing && sub.Status == state.Active && sub.Gateway == e.Gateway &&
		sub.Recurs() && sub.RemoteID() == e.SubscriptionID &&
		sub.StartedAt != nil && !sub.IntentOpen && !sub.HasChargeback && !sub.CancelAtPeriodEnd
}

// renewTx applies a plain renewal, all but the ledger's row of its payment, which it returns.
func (r *Renewals) renewTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	absent settle.Absent,
) (payments.Record, error) {
	paid, _ := e.Payment()
	p, err := r.applier.judgePaymentTx(ctx, tx, sub, e, paid, absent)
	if err != nil {
		return payments.Record{}, err
	}
	booking, confirming, err := r.applier.deps.Settler.SettleUnbookedTx(ctx, tx, sub, p)
	ignored := whyUnapplied(*sub, p, confirming)
	if err == nil && (ignored != "" || !booking.Counts) {
		err = fmt.Errorf("%w: event %s of subscription %s: %q", errNotPlain, e.ID, sub.ID, ignored)
	}
	faultpoint.Hit("webhook.before_commit")
	return booking.Record, err
}
