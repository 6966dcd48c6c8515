package webhooks

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// applyDisputeTx: charge.dispute.*, PAYMENT_CHARGEBACK_*.
func (s *Applier) applyDisputeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	report gateway.DisputeReport,
) (gateway.Reason, error) {
	changed, err := s.deps.Payments.RecordDisputeTx(ctx, tx,
		payments.DisputeRecord{Owner: sub.Owner().At(e.Gateway), Report: report})
	if err != nil {
		return "", err
	}
	return s.deps.Disputes.ApplyDisputeTx(ctx, tx, sub, changed,
		lifecycle.Change{Source: settle.SourceOf(e), Event: settle.EventOf(e)})
}

// lockOwnerTx finds the payment that is taken back, now that its customer is locked: it may
// have been booked meanwhile, or been made another subscription's (/extend), which is locked
// then.
func (s *Applier) lockOwnerTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	e *gateway.Event,
) (lifecycle.Subscription, error) {
	before, id := e.Known, ofPayment(*e)
	if before != nil {
		id = before.Payment.ID
	}
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, id)
	if err != nil || known == nil {
		return sub, err
	}
	e.Known = known
	if before == nil || known.LocalID == before.LocalID {
		return sub, nil
	}
	return s.deps.Store.LockTx(ctx, tx, known.CustomerID, known.LocalID)
}

// paidBefore is the payment of which a refund or a dispute tells, as it was before, when
// the ledger lacks it. Gateway A's events hold it; of gateway B's waits what has none.
func paidBefore(e gateway.Event) (paid gateway.Payment, ok bool) {
	paid, reported := e.Payment()
	if !e.IsTakenBack() || e.Known != nil || !reported || paid.SettledAt == nil || !e.IsProof() {
		return gateway.Payment{}, false
	}
	paid.Status = gateway.PaymentStatusSettled
	return paid, true
}

// bookTakenBackTx: what was taken back was paid before, which may never be told, or when the
// gateway shows it no more. A payment that the ledger lacks is booked first.
func (s *Applier) bookTakenBackTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	e *gateway.Event,
) (err error) {
	paid, ok := paidBefore(*e)
	if !ok {
		return nil
	}
	if sub.Status.Ended() {
		err = s.bookGoneTx(ctx, tx, *sub, paid)
	} else {
		_, err = s.applyToTx(ctx, tx, sub, asPaid(*e, paid), settle.Absent{})
	}
	if err != nil {
		return fmt.Errorf("book payment %s, which was taken back: %w", paid.ID, err)
	}
	e.Known, err = s.deps.Payments.FindPayment(ctx, tx, e.Gateway, paid.ID)
	return err
}

// asPaid is the event that a payment was made which a later one takes back.
func asPaid(later gateway.Event, p gateway.Payment) gateway.Event {
	later.ID = "" // its move is that of the payment, not the one that the event makes
	later.Payload = gateway.SettledPayment{Payment: p}
	if later.Type != gateway.Reconciled {
		later.Type = gateway.ReadLive
	}
	return later
}

// bookGoneTx books a payment of what has ended of which nothing but its dispute or refund
// tells: it opens nothing. What comes back of it, as by a dispute that is won, is given back.
func (s *Applier) bookGoneTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, p gateway.Payment) error {
	first, err := s.deps.Payments.RecordPaymentTx(ctx, tx, payments.Record{Owner: sub.Owner(), Payment: p})
	if err != nil || !first {
		return err
	}
	return s.deps.Settler.ListUnappliedTx(ctx, tx, sub, p,
		"Reported only after the subscription had ended, when it was taken back: it added no paid time.")
}

// applyRefundTx: charge.refunded, refund.*; PAYMENT_REFUNDED,
// PAYMENT_PARTIALLY_REFUNDED, PAYMENT_REFUND_*. The ledger sorts out repetitions
// and cumulative totals, and what is no refund but a dispute that was lost; the
// row's total follows from it. What the payer's bank took back of a PIX in part
// suspends nobody: people see it on the list of unapplied payments.
func (s *Applier) applyRefundTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	report gateway.RefundReport,
) (gateway.Reason, error) {
	record := payments.RefundRecord{Owner: sub.Owner().At(e.Gateway), Report: report, Payment: paymentOf(e)}
	changed, err := s.deps.Payments.RecordRefundTx(ctx, tx, record)
	if err != nil {
		return "", err
	}
	reason := gateway.Reason("")
	if changed.Dispute != nil {
		reason, err = s.deps.Disputes.ApplyDisputeTx(ctx, tx, sub, *changed.Dispute,
			lifecycle.Change{Source: settle.SourceOf(e), Event: settle.EventOf(e)})
		if err != nil || changed.Dispute.State != gateway.DisputeWon {
			return reason, err
		}
	}
	if changed.TakenBack > 0 {
		if err := s.listTakenBackTx(ctx, tx, *sub, record); err != nil {
			return "", err
		}
	}
	if changed.Dispute != nil && !changed.Dispute.Unused { // else it is listed
		if err := s.listReturnedTx(ctx, tx, *sub, record); err != nil {
			return "", err
		}
	}
	if err := s.withdrawAgainTx(ctx, tx, sub, changed.Restored); err != nil {
		return "", err
	}
	return reason, s.totalRefundsTx(ctx, tx, sub)
}

// withdrawAgainTx ends a subscription whose customer had withdrawn from it before the restore
// of a database lost that: a refund which bears the mark of ours says at the gateway that it
// was one. Of renewals the one that goes on ends.
func (s *Applier) withdrawAgainTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	restored []payments.Refund,
) error {
	lost := func(r payments.Refund) bool {
		return r.Reason == lifecycle.WithdrawalReason && r.Status != gateway.RefundStatusFailed
	}
	if sub.HasChargeback || !slices.ContainsFunc(restored, lost) {
		return nil
	}
	withdrawn, err := s.db.TransitionListWithdrawals(ctx, tx, sub.ID)
	if err != nil || len(withdrawn) > 0 {
		return err
	}
	last, err := s.db.SubscriptionGetLastRenewal(ctx, tx, sub.ID)
	if err != nil {
		return fmt.Errorf("read what renews the subscription: %w", err)
	}
	ends := sub
	if last.ID != sub.ID {
		locked, err := s.deps.Store.LockTx(ctx, tx, sub.CustomerID, last.ID)
		if err != nil {
			return err
		}
		ends = &locked
	}
	moved, err := s.deps.Store.MoveTx(ctx, tx, ends,
		lifecycle.Change{Action: state.CustomerWithdraws, Source: state.ByCustomer, Actor: &ends.CustomerID})
	if err != nil || !moved {
		return err
	}
	if err := s.deps.Store.EndAtGatewayTx(ctx, tx, *ends); err != nil {
		return err
	}
	return s.deps.Store.GiveBackLaterTx(ctx, tx, ends.ID)
}

// listReturnedTx has people decide about what is left of a PIX of which the payer's bank
// did not take all in the end: its time was lost with the subscription.
func (s *Applier) listReturnedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	r payments.RefundRecord,
) error {
	given, err := s.deps.Payments.RefundsOf(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil {
		return err
	}
	paid := gateway.LedgerPayment{Owner: r.Owner, Payment: *r.Payment}
	left := disputes.LeftOf(paid, given)
	if left <= 0 {
		return nil
	}
	_, _, reference, err := s.deps.Disputes.PeriodOfTx(ctx, tx, sub, paid)
	if err != nil {
		return err
	}
	_, err = s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedLate, Amount: &left, Bought: true, Reference: reference,
		Note: fmt.Sprintf("The payer's bank had taken the PIX back, which ended the subscription; a refund by which it did so failed, and R$ %s of it is with us.", left),
	}.Of(r.Owner, *r.Payment))
	return err
}

// paymentOf is the payment that a refund is of, nil when nothing is known of it.
func paymentOf(e gateway.Event) *gateway.Payment {
	if e.Known != nil {
		return &e.Known.Payment
	}
	if p, ok := e.Payment(); ok {
		return &p
	}
	return nil
}

// listTakenBackTx has people look at what a bank took back of a payment, once or more often.
func (s *Applier) listTakenBackTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	r payments.RefundRecord,
) error {
	given, err := s.deps.Payments.RefundsOf(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil {
		return err
	}
	part := money.Cents(0)
	for _, g := range given {
		if g.Kind == payments.RefundTakenBack && g.Status != gateway.RefundStatusFailed &&
			disputes.IsOne(*r.Payment, []string{g.PaymentID}) {
			part += g.Amount
		}
	}
	return s.deps.Payments.Cases().RecordTakenBackTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedUnknown, Amount: &part, Bought: true,
		Note: fmt.Sprintf("The payer's bank took back R$ %s of PIX %s of R$ %s (MED); nobody here requested it.", part,
			r.Payment.ID, r.Payment.Amount),
	}.Of(r.Owner, *r.Payment))
}

// totalRefundsTx writes what the ledger adds up to.
func (s *Applier) totalRefundsTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) error {
	total, err := s.deps.Payments.RefundedTotal(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil || int64(total) == sub.TotalRefundedCents {
		return err
	}
	if int64(total) < sub.TotalRefundedCents { // a refund failed after it had been counted
		if err := s.deps.Store.GiveBackWithdrawnTx(ctx, tx, sub.ID); err != nil {
			return err
		}
	}
	return s.deps.Store.EditTx(ctx, tx, sub, state.RefundsTotalled,
		func(r *lifecycle.Subscription) { r.TotalRefundedCents = int64(total) })
}

// TotalRefunds rewrites the total after a refund that was settled elsewhere, in a
// transaction of its own: the ledger locks its rows after the subscription's.
func (s *Applier) TotalRefunds(ctx context.Context, customerID,
	id objectid.ID,
) (sub lifecycle.Subscription, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if sub, err = s.deps.Store.LockTx(ctx, tx, customerID, id); err != nil {
			return err
		}
		return s.totalRefundsTx(ctx, tx, &sub)
	})
	return sub, err
}

// RefundChanged keeps the total of a subscription when a check of a refund has
// settled it, of which no event may ever tell (refund.Follower).
func (s *Applier) RefundChanged(ctx context.Context, r payments.Refund) error {
	if r.Purpose != gateway.ForSubscription {
		return nil
	}
	_, err := s.TotalRefunds(ctx, r.CustomerID, r.LocalID)
	return err
}
