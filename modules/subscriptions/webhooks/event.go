package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/faultpoint"
)

// applyOneTx does what each kind of event does to the subscription it is about, which is
// locked. The text is why it did nothing, "" when it did.
func (s *Applier) applyOneTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event) (ignored gateway.Reason, err error) {
	switch told := e.Payload.(type) {
	case gateway.SettledPayment:
		return s.applyPaymentTx(ctx, tx, sub, e, told.Payment)
	case gateway.FailedPayment:
		return s.applyFailureTx(ctx, tx, sub, e, told)
	case gateway.LostPayment:
		return s.applyLossTx(ctx, tx, sub, e, told.Payment)
	case gateway.DeletedPayment:
		return s.applyDeletedTx(ctx, tx, sub, e, told.Payment)
	case gateway.RefundChange:
		return s.applyRefundTx(ctx, tx, sub, e, told.Report)
	case gateway.DisputeChange:
		return s.applyDisputeTx(ctx, tx, sub, e, told.Report)
	case gateway.SubscriptionChange:
		return s.applyStatusTx(ctx, tx, sub, e, told)
	case gateway.SubscriptionEnd:
		return s.applyEndTx(ctx, tx, sub, e, told.Subscription)
	case gateway.RecurrenceMove:
		return s.applyNextDueTx(ctx, tx, sub, e, told.Subscription)
	case gateway.AuthorizationChange:
		if told.Authorization.Status == gateway.AuthorizationActive {
			return s.applyAuthorizedTx(ctx, tx, sub, e, told.Authorization)
		}
		return s.applyUnauthorizedTx(ctx, tx, sub, e, told.Authorization)
	}
	return "", fmt.Errorf("an event %s is of no subscription", e.Kind())
}

// isOfSubscriptions reports whether an event may be about a subscription at all.
func isOfSubscriptions(e gateway.Event) bool {
	_, nameless := e.Payload.(gateway.NamelessPayment)
	return e.Payload != nil && !nameless && e.Purpose != gateway.ForOrder
}

// ApplyEventTx applies a gateway's event to the subscription that it is about
// (specification, Events). It answers Unclaimed when there is none.
func (s *Applier) ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	if !isOfSubscriptions(e) {
		return gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}, nil
	}
	found, err := s.locator.locate(ctx, tx, e)
	if errors.Is(err, pgx.ErrNoRows) {
		return gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}, nil
	}
	if err != nil {
		return gateway.Result{}, err
	}
	sub, err := s.store.LockTx(ctx, tx, found.CustomerID, found.ID)
	if err != nil {
		return gateway.Result{}, err
	}
	if e.Known == nil && ofPayment(e) != "" { // it may have been booked while the row was locked
		if e.Known, err = s.payments.FindPayment(ctx, tx, e.Gateway, ofPayment(e)); err != nil {
			return gateway.Result{}, err
		}
	}
	if e.Known != nil && e.IsTakenBack() { // or have been made another subscription's (/extend)
		if sub, err = s.lockOwnerTx(ctx, tx, sub, &e); err != nil {
			return gateway.Result{}, err
		}
	}
	if other, err := s.locator.repeatOthersTx(ctx, tx, sub, e); err != nil || other {
		return gateway.Result{Status: gateway.ResultIgnored, SubscriptionID: &sub.ID, NewStatus: new(string(sub.Status)), Reason: gateway.ReasonOthersPayment}, err
	}
	stray, err := s.locator.strayTx(ctx, tx, sub, e)
	if err != nil || stray.waits {
		return gateway.Result{Status: gateway.ResultIgnored, Reason: stray.reason, Unclaimed: true}, err
	}
	if asked, err := s.asksFirstTx(ctx, tx, sub, stray, e); err != nil || asked {
		return gateway.Asked(&sub.ID, gateway.ReasonAskedPayment), err
	}
	ignored := stray.reason
	if ignored != "" {
		err = s.locator.listStrayTx(ctx, tx, sub, stray, e)
	} else {
		ignored, err = s.applyToTx(ctx, tx, &sub, e)
	}
	if err != nil {
		return gateway.Result{}, err
	}
	faultpoint.Hit("webhook.before_commit")
	r := gateway.Result{Status: gateway.ResultApplied, SubscriptionID: &sub.ID, NewStatus: new(string(sub.Status)), Reason: ignored}
	switch ignored {
	case "":
	case gateway.ReasonAskedPayment, gateway.ReasonAskedRecurrence, gateway.ReasonAskedAuthorization:
		r = gateway.Asked(&sub.ID, ignored)
	default:
		r.Status = gateway.ResultIgnored
	}
	if !e.IsProof() && stray.reason == "" {
		switch e.Payload.(type) {
		case gateway.SettledPayment:
			r.Unproven = !heldByID(sub, e)
		case gateway.FailedPayment:
			r.Unproven = sub.PaymentMethod == gateway.MethodCard
		}
	}
	return r, nil
}

// applyToTx applies an event to the subscription that it was found to be of. What was
// taken back was paid before, which may never be told, or when the gateway shows it no
// more: a payment that the ledger lacks is booked first.
func (s *Applier) applyToTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event) (ignored gateway.Reason, err error) {
	if paid, ok := paidBefore(e); ok {
		if sub.Status.Ended() {
			err = s.bookGoneTx(ctx, tx, *sub, paid)
		} else {
			_, err = s.applyToTx(ctx, tx, sub, asPaid(e, paid))
		}
		if err != nil {
			return "", fmt.Errorf("book payment %s, which was taken back: %w", paid.ID, err)
		}
		if e.Known, err = s.payments.FindPayment(ctx, tx, e.Gateway, paid.ID); err != nil {
			return "", err
		}
	}
	ignored, done, err := s.charges.ApplyChargeTx(ctx, tx, sub, e)
	if err != nil || done {
		return ignored, err
	}
	return s.applyOneTx(ctx, tx, sub, e)
}

// paidBefore is the payment of which a refund or a dispute tells, as it was before, when
// the ledger lacks it. Gateway A's events hold it; of gateway B's waits what has none.
func paidBefore(e gateway.Event) (paid gateway.Payment, ok bool) {
	paid, told := e.Payment()
	if !e.IsTakenBack() || e.Known != nil || !told || paid.SettledAt == nil || !e.IsProof() {
		return gateway.Payment{}, false
	}
	paid.Status = gateway.PaymentSettled
	return paid, true
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
func (s *Applier) bookGoneTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p gateway.Payment) error {
	first, err := s.payments.RecordPaymentTx(ctx, tx, payments.Record{
		Gateway: sub.Gateway, Purpose: gateway.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Payment: p,
	})
	if err != nil || !first {
		return err
	}
	return s.settler.ListUnappliedTx(ctx, tx, sub, settle.Payment{Payment: p}, "Told after the subscription had ended, by what took it back: it added no paid time.", true)
}

// heldByID reports whether a payment is held against an id that the gateway told here: a
// code's or a debit's (isOrderedTx). The charges of a card's recurrence, a first month and
// the first code of an automatic PIX have ids of the gateway's own.
func heldByID(sub lifecycle.Row, e gateway.Event) bool {
	return lifecycle.PaysOnce(sub) || sub.PixAutomatic && !settle.IsFirst(sub, e)
}

// lockOwnerTx reads a payment of the ledger again, now that its customer is locked, and
// locks whose it is by now.
func (s *Applier) lockOwnerTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e *gateway.Event) (lifecycle.Row, error) {
	known, err := s.payments.FindPayment(ctx, tx, e.Gateway, e.Known.Payment.ID)
	if err != nil || known == nil || known.LocalID == e.Known.LocalID {
		return sub, err
	}
	e.Known = known
	return s.store.LockTx(ctx, tx, known.CustomerID, known.LocalID)
}

// applyPaymentTx: invoice.paid, PAYMENT_CONFIRMED, PAYMENT_RECEIVED.
func (s *Applier) applyPaymentTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, p gateway.Payment) (gateway.Reason, error) {
	adopted, err := s.locator.adoptTx(ctx, tx, sub, e)
	if err != nil {
		return "", err
	}
	older, err := s.olderInvoiceTx(ctx, tx, *sub, e, p)
	if err != nil {
		return "", err
	}
	if chargedThoughEnding(*sub, e, p) {
		if err := s.askRecurrenceTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID}); err != nil {
			return "", err
		}
	}
	// What has ended here was ended at the gateway too, unless nobody knew that it
	// was there.
	recurs := (sub.PaymentMethod != gateway.MethodPix || sub.PixAutomatic) && (adopted || !sub.Status.Ended())
	beside, err := s.settler.IsBesideTx(ctx, tx, *sub, e, p)
	if err != nil {
		return "", err
	}
	asked := false
	err = s.settler.SettlePaymentTx(ctx, tx, sub, settle.Payment{
		Payment: p, Source: settle.SourceOf(e), Event: settle.EventOf(e), Recurs: recurs,
		First: settle.IsFirst(*sub, e), Beside: beside, Older: older, Asked: &asked,
	})
	switch {
	case err == nil && asked:
		return gateway.ReasonAskedPayment, nil
	case err == nil && older:
		return gateway.ReasonOlderPayment, nil
	case err == nil && sub.Status.Ended():
		return gateway.ReasonEnded, nil
	}
	return "", err
}

// olderInvoiceTx reports whether the event tells of an invoice of gateway B that was
// paid before another one failed, and so says nothing about that one.
func (s *Applier) olderInvoiceTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e gateway.Event, p gateway.Payment) (bool, error) {
	status := sub.Status
	if p.InvoiceID == "" || p.Amount == 0 || status != state.Active && status != state.Suspended {
		return false, nil
	}
	f, err := s.payments.LastFailure(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil || f == nil {
		return false, err
	}
	return f.PaymentID != p.ID && e.CreatedAt.Before(f.FailedAt), nil
}

// applyFailureTx: invoice.payment_failed; PAYMENT_OVERDUE, a card or a debit that was
// refused. A PIX code that nobody paid is no attempt, and stands in no ledger
// (finance-definitions, payment_success_rate). The first invoice's failure is told by
// the answer to the customer and is none of a row of failures; neither is that of an
// invoice that has been paid since.
func (s *Applier) applyFailureTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, f gateway.FailedPayment) (gateway.Reason, error) {
	if _, err := s.locator.adoptTx(ctx, tx, sub, e); err != nil {
		return "", err
	}
	status := sub.Status
	if sub.PaymentMethod == gateway.MethodPix && (!sub.PixAutomatic || status == state.Pending) {
		return gateway.ReasonCodeUnpaid, nil
	}
	first, err := s.payments.RecordFailureTx(ctx, tx, payments.Failure{
		Gateway: e.Gateway, Purpose: gateway.ForSubscription, LocalID: sub.ID,
		PaymentID: f.Payment.ID, Attempt: f.Attempt, Amount: f.Payment.Amount, FailedAt: e.CreatedAt,
	})
	if err != nil {
		return "", err
	}
	switch {
	case status.Ended():
		return gateway.ReasonEnded, nil
	case status == state.Pending && s.calendar.ChargesFirstMonth(*sub) && e.SubscriptionID == "":
		// The gateway took the card and refused it after a look at the risk: no
		// recurrence follows, and the code that lowered the month is free again.
		_, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.PaymentDeclined, Source: state.ByWebhook, Event: &e.ID})
		return "", err
	case lifecycle.Stopped(*sub):
		return gateway.ReasonRecurrenceStopped, nil
	case lifecycle.Waits(*sub) && !e.Gateway.Traits().PayerConfirms:
		_, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.PaymentDeclined, Source: state.ByWebhook, Event: &e.ID})
		return "", errors.Join(err, s.store.EndAtGatewayTx(ctx, tx, *sub))
	case f.First || status == state.Pending:
		return gateway.ReasonFirstFailed, nil
	case e.Known != nil, f.Payment.InvoiceID != "" && lifecycle.Text(sub.LastPaidInvoiceID) == f.Payment.InvoiceID:
		return gateway.ReasonPaidSince, nil
	case !first: // counted already, by another event about the same attempt, which may have come before the debit was known
		if err := s.noteFailureTx(ctx, tx, *sub, f); err != nil {
			return "", err
		}
		if _, err := s.skipCycleTx(ctx, tx, sub, f.Payment.ID); err != nil {
			return "", err
		}
		return "", s.suspendLateTx(ctx, tx, sub, e, f.Payment.ID)
	}
	at := e.CreatedAt
	if e.Gateway.Traits().ChargesByDay && f.Payment.DueDate != nil {
		at = *f.Payment.DueDate
	}
	if moved, err := s.reads.IsMovedTx(ctx, tx, *sub, at); err != nil || moved {
		return gateway.ReasonExtended, err
	}
	if err := s.noteFailureTx(ctx, tx, *sub, f); err != nil {
		return "", err
	}
	return "", s.failTx(ctx, tx, sub, e, &f.Payment)
}

// suspendLateTx suspends, once its period has begun, for a debit that the payer took
// back before it, and that reached the limit: until then access was paid.
func (s *Applier) suspendLateTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, paymentID string) error {
	d, found, err := s.reads.DebitOfTx(ctx, tx, *sub, paymentID)
	if err != nil || !found || d.FailedAt == nil || d.PaidAt != nil {
		return err
	}
	begins := s.calendar.DayOf(d.Cycle)
	early := d.FailedAt.Before(begins) && !s.clock.Now().Before(begins)
	if !early || sub.Status != state.Active || int(sub.PaymentFailures) < s.cfg.MaxPaymentFailures {
		return nil
	}
	_, err = s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.PaymentFailsTooOften, Source: settle.SourceOf(e), Event: settle.EventOf(e)})
	return err
}

// failTx counts a failed payment, which may not be known; the one that reaches the limit suspends.
func (s *Applier) failTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, failed *gateway.Payment) error {
	paymentID := ""
	if failed != nil {
		paymentID = failed.ID
	}
	next, err := s.cycleAfterTx(ctx, tx, *sub, paymentID)
	if err != nil {
		return err
	}
	d, debited, err := s.reads.DebitOfTx(ctx, tx, *sub, paymentID)
	if err != nil {
		return err
	}
	action, ahead := state.PaymentFails, debited && s.clock.Now().Before(s.calendar.DayOf(d.Cycle))
	if int(sub.PaymentFailures)+1 >= s.cfg.MaxPaymentFailures && !ahead {
		action = state.PaymentFailsTooOften
	}
	_, err = s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: action, Source: settle.SourceOf(e), Event: settle.EventOf(e), Edit: func(r *lifecycle.Row) {
		r.PaymentFailures++
		if next != nil {
			r.NextBillingDate = next
		}
	}})
	if err != nil {
		return err
	}
	return s.dunning.DunTx(ctx, tx, *sub, failed)
}

// applyLossTx: payment_intent.payment_failed and .canceled of a PIX. Only the row
// that waits for this very payment is given up.
func (s *Applier) applyLossTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, p gateway.Payment) (gateway.Reason, error) {
	switch {
	case sub.Status.Ended():
		return gateway.ReasonEnded, nil
	case sub.Status != state.Pending || sub.PaymentMethod != gateway.MethodPix:
		return gateway.ReasonNotAwaited, nil
	case sub.PixPaymentID != nil && *sub.PixPaymentID != p.ID:
		return gateway.ReasonOtherAwaited, nil
	}
	_, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{
		Action: state.PixRunsOut, Source: state.ByWebhook, Event: &e.ID, Edit: func(r *lifecycle.Row) { lifecycle.Learn(&r.PixPaymentID, p.ID) },
	})
	if err != nil {
		return "", err
	}
	return "", s.store.EndAtGatewayTx(ctx, tx, *sub)
}

// applyDeletedTx: PAYMENT_DELETED, as a rule the echo of our own deleting. A debit of
// automatic PIX that somebody deleted at the gateway is asked for no more, and the
// next cycle follows: or the debits would stop there, and access would not.
func (s *Applier) applyDeletedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, p gateway.Payment) (gateway.Reason, error) {
	if sub.Status.Ended() || e.Known != nil || lifecycle.Stopped(*sub) {
		return gateway.ReasonNoConsequence, nil
	}
	if paused, err := s.reads.IsPausedTx(ctx, tx, sub.ID); err != nil || paused {
		return gateway.ReasonPaused, err
	}
	if err := s.debits.DropDebitTx(ctx, tx, *sub, p.ID); err != nil {
		return "", err
	}
	moved, err := s.skipCycleTx(ctx, tx, sub, p.ID)
	if err != nil || moved {
		return "", err
	}
	return gateway.ReasonNoConsequence, nil
}

// applyNextDueTx: SUBSCRIPTION_UPDATED, which tells the next due date alone. It is not
// signed: one of a day that is not known has the recurrence read, whose answer tells it.
func (s *Applier) applyNextDueTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, told gateway.RemoteSubscription) (gateway.Reason, error) {
	switch {
	case sub.Status.Ended():
		return gateway.ReasonEnded, nil
	case told.NextBilling == nil:
		return gateway.ReasonNoDate, nil
	case !e.IsProof() && sub.NextBillingDate != nil && sub.NextBillingDate.Equal(*told.NextBilling):
		return gateway.ReasonDayKnown, nil
	case !e.IsProof():
		return gateway.ReasonAskedRecurrence, s.askRecurrenceTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID, Moved: true})
	case sub.LastEventAt != nil && e.CreatedAt.Before(*sub.LastEventAt):
		return gateway.ReasonOlder, nil
	}
	return "", s.store.EditTx(ctx, tx, sub, state.RecurrenceFollowed, func(r *lifecycle.Row) {
		noteEvent(r, e)
		s.calendar.LearnRemote(r, &told)
	})
}

// applyEndTx: customer.subscription.deleted; gateway A's deleted and inactivated, which
// are not signed: the gateway is asked first. Inactivated is also the echo of a pause of
// ours, which changes nothing.
func (s *Applier) applyEndTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, remote gateway.RemoteSubscription) (gateway.Reason, error) {
	if sub.Status.Ended() {
		return gateway.ReasonEnded, nil
	}
	if echo, err := s.reads.IsEchoTx(ctx, tx, *sub, remote, e.CreatedAt); err != nil || echo {
		return gateway.ReasonPaused, err
	}
	switch {
	case !e.IsProof() && sub.GatewayDeletedAt != nil:
		return gateway.ReasonEndKnown, nil
	case !e.IsProof():
		return gateway.ReasonAskedRecurrence, s.askRecurrenceTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID})
	}
	c := lifecycle.Change{Action: state.GatewaySaysCancelled, Source: state.ByWebhook, Event: &e.ID, Edit: func(r *lifecycle.Row) { noteEvent(r, e) }}
	return "", s.EndWithGatewayTx(ctx, tx, sub, c, remote)
}

// noteEvent keeps the newest status event, against which older ones are told.
func noteEvent(r *lifecycle.Row, e gateway.Event) {
	if r.LastEventAt == nil || !e.CreatedAt.Before(*r.LastEventAt) {
		at := e.CreatedAt
		r.LastEventAt, r.LastEventID = &at, &e.ID
	}
}

// isCreation reports whether the event tells of the subscription's beginning: the
// oldest there is, whatever comes with it.
func isCreation(e gateway.Event) bool { return strings.HasSuffix(e.Type, ".created") }
