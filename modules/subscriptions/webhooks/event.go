package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/faultpoint"
	"marquee/platform/nullable"
)

// applyOneTx does what each kind of event does to the subscription it is about, which is
// locked. The text is why it did nothing, "" when it did.
func (s *Applier) applyOneTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row,
	e gateway.Event) (ignored gateway.Reason, err error) {
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
		if told.Authorization.Status == gateway.AuthorizationStatusActive {
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
// (docs/contract/payments.md, Webhooks). It answers Unclaimed when there is none.
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
	sub, err := s.deps.Store.LockTx(ctx, tx, found.CustomerID, found.ID)
	if err != nil {
		return gateway.Result{}, err
	}
	if e.Known == nil && ofPayment(e) != "" { // it may have been booked while the row was locked
		if e.Known, err = s.deps.Payments.FindPayment(ctx, tx, e.Gateway, ofPayment(e)); err != nil {
			return gateway.Result{}, err
		}
	}
	if e.Known != nil && e.IsTakenBack() { // or have been made another subscription's (/extend)
		if sub, err = s.lockOwnerTx(ctx, tx, sub, &e); err != nil {
			return gateway.Result{}, err
		}
	}
	if other, err := s.locator.repeatOthersTx(ctx, tx, sub, e); err != nil || other {
		return gateway.Result{Status: gateway.ResultIgnored, SubscriptionID: &sub.ID,
			NewStatus: new(string(sub.Status)), Reason: gateway.ReasonOthersPayment}, err
	}
	stray, err := s.locator.strayTx(ctx, tx, sub, e)
	if err != nil || stray.waits {
		return gateway.Result{Status: gateway.ResultIgnored, Reason: stray.reason, Unclaimed: true}, err
	}
	if asked, err := s.confirmFirstTx(ctx, tx, sub, stray, e); err != nil || asked {
		return gateway.AwaitingConfirmation(&sub.ID, gateway.ReasonAskedPayment), err
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
	r := gateway.Result{
		Status: gateway.ResultApplied, SubscriptionID: &sub.ID, NewStatus: new(string(sub.Status)), Reason: ignored,
	}
	switch ignored {
	case "":
	case gateway.ReasonAskedPayment, gateway.ReasonAskedRecurrence, gateway.ReasonAskedAuthorization:
		r = gateway.AwaitingConfirmation(&sub.ID, ignored)
	default:
		r.Status = gateway.ResultIgnored
	}
	if !e.IsProof() && stray.reason == "" {
		switch e.Payload.(type) {
		case gateway.SettledPayment:
			r.Unproven = !isMatchedByID(sub, e)
		case gateway.FailedPayment:
			r.Unproven = sub.PaymentMethod == gateway.MethodCard
		}
	}
	return r, nil
}

// applyToTx applies an event to the subscription that it was found to be of. What was
// taken back was paid before, which may never be told, or when the gateway shows it no
// more: a payment that the ledger lacks is booked first.
func (s *Applier) applyToTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row,
	e gateway.Event) (ignored gateway.Reason, err error) {
	if paid, ok := paidBefore(e); ok {
		if sub.Status.Ended() {
			err = s.bookGoneTx(ctx, tx, *sub, paid)
		} else {
			_, err = s.applyToTx(ctx, tx, sub, asPaid(e, paid))
		}
		if err != nil {
			return "", fmt.Errorf("book payment %s, which was taken back: %w", paid.ID, err)
		}
		if e.Known, err = s.deps.Payments.FindPayment(ctx, tx, e.Gateway, paid.ID); err != nil {
			return "", err
		}
	}
	ignored, done, err := s.deps.Charges.ApplyChargeTx(ctx, tx, sub, e)
	if err != nil || done {
		return ignored, err
	}
	return s.applyOneTx(ctx, tx, sub, e)
}

// confirmFirstTx has money of gateway A that names the subscription read live, by job, before
// it is believed to be of another recurrence, authorization or gateway, or teaches the
// subscription its recurrence.
func (s *Applier) confirmFirstTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, why stray,
	e gateway.Event) (bool, error) {
	teaches := e.SubscriptionID != "" && lifecycle.RemoteID(sub) == ""
	told, settled := e.Payload.(gateway.SettledPayment)
	if !settled || e.IsProof() || why.reason == "" && !teaches {
		return false, nil
	}
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, told.Payment.ID)
	if err != nil || known != nil {
		return false, err
	}
	a := settle.LateMoneyArgs{
		SubscriptionID: sub.ID, PaymentID: told.Payment.ID, EventID: e.ID, First: settle.IsFirst(sub, e),
		AuthorizationID: e.AuthorizationID,
		SettledAt:       told.Payment.SettledAt,
	}
	charge, err := s.deps.Reads.ChargeOf(ctx, tx, e)
	if err != nil {
		return false, err
	}
	if charge != nil {
		a.ChargeID = charge.ID
	}
	return true, s.deps.Settler.InsertLateTx(ctx, tx, a, time.Time{})
}

// isMatchedByID reports whether a payment is held against an id that the gateway told here: a
// code's or a debit's (isOrderedTx). The charges of a card's recurrence, a first month and
// the first code of an automatic PIX have ids of the gateway's own.
func isMatchedByID(sub lifecycle.Row, e gateway.Event) bool {
	return lifecycle.PaysOnce(sub) || sub.PixAutomatic && !settle.IsFirst(sub, e)
}

// lockOwnerTx reads a payment of the ledger again, now that its customer is locked, and
// locks whose it is by now.
func (s *Applier) lockOwnerTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row,
	e *gateway.Event) (lifecycle.Row, error) {
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, e.Known.Payment.ID)
	if err != nil || known == nil || known.LocalID == e.Known.LocalID {
		return sub, err
	}
	e.Known = known
	return s.deps.Store.LockTx(ctx, tx, known.CustomerID, known.LocalID)
}

// applyPaymentTx: invoice.paid, PAYMENT_CONFIRMED, PAYMENT_RECEIVED.
func (s *Applier) applyPaymentTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event,
	p gateway.Payment) (gateway.Reason, error) {
	adopted, err := s.locator.adoptTx(ctx, tx, sub, e)
	if err != nil {
		return "", err
	}
	older, err := s.olderInvoiceTx(ctx, tx, *sub, e, p)
	if err != nil {
		return "", err
	}
	if chargedThoughEnding(*sub, e, p) {
		if err := s.queueRecurrenceCheckTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID}); err != nil {
			return "", err
		}
	}
	// What has ended here was ended at the gateway too, unless nobody knew that it
	// was there.
	recurs := (sub.PaymentMethod != gateway.MethodPix || sub.PixAutomatic) && (adopted || !sub.Status.Ended())
	beside, err := s.deps.Settler.IsBesideTx(ctx, tx, *sub, e, p)
	if err != nil {
		return "", err
	}
	asked := false
	err = s.deps.Settler.SettlePaymentTx(ctx, tx, sub, settle.Payment{
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
func (s *Applier) olderInvoiceTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e gateway.Event,
	p gateway.Payment) (bool, error) {
	status := sub.Status
	if p.InvoiceID == "" || p.Amount == 0 || status != state.Active && status != state.Suspended {
		return false, nil
	}
	f, err := s.deps.Payments.LastFailure(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil || f == nil {
		return false, err
	}
	return f.PaymentID != p.ID && e.CreatedAt.Before(f.FailedAt), nil
}

// chargedThoughEnding reports whether gateway B has charged a subscription that is to end
// with its period.
func chargedThoughEnding(sub lifecycle.Row, e gateway.Event, p gateway.Payment) bool {
	return e.Gateway.Traits().EndsWithPeriod && sub.CancelAtPeriodEnd && sub.Status == state.Active &&
		!lifecycle.EndsThere(sub) &&
		p.InvoiceID != "" && p.Amount > 0 && p.InvoiceID != nullable.Value(sub.LastPaidInvoiceID) &&
		lifecycle.RemoteID(sub) != ""
}
