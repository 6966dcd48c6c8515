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
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// ApplyEventTx applies a gateway's event to the subscription that it is about
// (docs/contract/payments.md, Webhooks). It answers Unclaimed when there is none.
func (s *Applier) ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	if !isOfSubscriptions(e) {
		return gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}, nil
	}
	sub, err := s.locator.lockTx(ctx, tx, e)
	if errors.Is(err, pgx.ErrNoRows) {
		return gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}, nil
	}
	if err != nil {
		return gateway.Result{}, err
	}
	if e.IsTakenBack() {
		if sub, err = s.lockOwnerTx(ctx, tx, sub, &e); err != nil {
			return gateway.Result{}, err
		}
	}
	absent, err := s.locator.absentTx(ctx, tx, sub, e)
	if err != nil {
		return gateway.Result{}, err
	}
	if other, err := s.locator.repeatOthersTx(ctx, tx, sub, e, absent); err != nil || other {
		return gateway.Result{
			Status: gateway.ResultIgnored, SubscriptionID: &sub.ID,
			NewStatus: new(string(sub.Status)), Reason: gateway.ReasonOthersPayment,
		}, err
	}
	stray, err := s.locator.strayTx(ctx, tx, sub, e)
	if err != nil || stray.waiting {
		return gateway.Result{Status: gateway.ResultIgnored, Reason: stray.reason, Unclaimed: true}, err
	}
	if confirming, err := s.confirmFirstTx(ctx, tx, sub, stray, e); err != nil || confirming {
		return gateway.AwaitingConfirmation(&sub.ID, gateway.ReasonToConfirmPayment), err
	}
	ignored := stray.reason
	if ignored != "" {
		err = s.locator.listStrayTx(ctx, tx, sub, stray, e)
	} else {
		ignored, err = s.applyToTx(ctx, tx, &sub, e, absent)
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
	case gateway.ReasonToConfirmPayment, gateway.ReasonToConfirmRecurrence, gateway.ReasonToConfirmAuthorization:
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
		default:
		}
	}
	return r, nil
}

// isOfSubscriptions reports whether an event may be about a subscription at all.
func isOfSubscriptions(e gateway.Event) bool {
	_, nameless := e.Payload.(gateway.NamelessPayment)
	return e.Payload != nil && !nameless && e.Purpose != gateway.ForOrder
}

// byID finds a subscription by its gateway's id: each gateway's have a column of their own.
type byID = func(ctx context.Context, db postgres.DB, id *string) (lifecycle.Subscription, error)

// lockTx finds the subscription of an event and locks it, as Store.LockTx does. The one of the recurrence that most
// events name comes first, and costs one statement.
func (s *Locator) lockTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (sub lifecycle.Subscription, err error) {
	if e.Known == nil && e.SubscriptionID != "" {
		sub, err = gateway.Each[byID]{
			GWA: s.db.SubscriptionLockByGWAID, GWB: s.db.SubscriptionLockByGWBID,
		}.Of(e.Gateway)(ctx, tx, &e.SubscriptionID)
		if !errors.Is(err, pgx.ErrNoRows) {
			return sub, err
		}
	}
	found, err := s.locate(ctx, tx, e)
	if err != nil {
		return sub, err
	}
	return s.deps.Store.LockTx(ctx, tx, found.CustomerID, found.ID)
}

// locate finds the subscription in the contract's order (docs/contract/payments.md, Webhooks), where it is not
// that of the gateway's subscription: the authorization, the local id that the gateway was told. The
// last also finds events that overtook our own commit, and those of a call whose
// answer was none: whether the event fits the row is strayTx's to say. A payment that
// the ledger has needs no looking: its row says what it was for.
func (s *Locator) locate(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Subscription, error) {
	if e.Known != nil {
		if e.Known.Purpose != gateway.ForSubscription {
			return lifecycle.Subscription{}, pgx.ErrNoRows
		}
		return s.db.SubscriptionGet(ctx, tx, e.Known.LocalID)
	}
	sub, err := lifecycle.Subscription{}, pgx.ErrNoRows
	if e.AuthorizationID != "" || e.ConciliationID != "" {
		sub, err = s.locateAuthorization(ctx, tx, e)
	}
	if errors.Is(err, pgx.ErrNoRows) && objectid.Valid(e.Reference.String()) {
		sub, err = s.db.SubscriptionGet(ctx, tx, e.Reference)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		sub, err = s.locateCharge(ctx, tx, e)
	}
	if errors.Is(err, pgx.ErrNoRows) && ofPayment(e) != "" {
		sub, err = s.locateByPix(ctx, tx, e)
	}
	return sub, err
}

func (s *Locator) locateAuthorization(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Subscription, error) {
	if e.AuthorizationID != "" {
		sub, err := s.db.SubscriptionGetByAuthorization(ctx, tx, &e.AuthorizationID)
		if !errors.Is(err, pgx.ErrNoRows) {
			return sub, err
		}
	}
	if e.ConciliationID == "" {
		return lifecycle.Subscription{}, pgx.ErrNoRows
	}
	return s.db.SubscriptionGetByConciliation(ctx, tx, &e.ConciliationID)
}

// locateCharge finds the subscription whose code for a further period an event is about.
func (s *Locator) locateCharge(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Subscription, error) {
	c, err := s.ChargeOf(ctx, tx, e)
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	if c == nil {
		return lifecycle.Subscription{}, pgx.ErrNoRows
	}
	return s.db.SubscriptionGet(ctx, tx, c.SubscriptionID)
}

// locateByPix finds the subscription whose code a refund or a dispute of gateway B is
// of, which names nothing but the payment.
func (s *Locator) locateByPix(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Subscription, error) {
	id := ofPayment(e)
	sub, err := s.db.SubscriptionGetByPixPayment(ctx, tx, e.Gateway, &id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return sub, err
	}
	c, err := s.db.RenewalChargeGetByPayment(ctx, tx, e.Gateway, &id)
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	return s.db.SubscriptionGet(ctx, tx, c.SubscriptionID)
}

// LocateRemote finds the subscription by the gateway's id of its recurrence.
func (s *Locator) LocateRemote(ctx context.Context, db postgres.DB, gw gateway.Name,
	recurrence string,
) (lifecycle.Subscription, error) {
	if recurrence == "" {
		return lifecycle.Subscription{}, pgx.ErrNoRows
	}
	return gateway.Each[byID]{
		GWA: s.db.SubscriptionGetByGWAID, GWB: s.db.SubscriptionGetByGWBID,
	}.Of(gw)(ctx, db, &recurrence)
}

// ofPayment is the payment that a refund or a dispute is of, where the event tells
// nothing else of it; "" else.
func ofPayment(e gateway.Event) string {
	if _, ok := e.Payment(); ok {
		return ""
	}
	return e.TakenFrom()
}

// absentTx looks for what most payments have nothing of, when an event tells that one settled. The caller holds the
// customer and the subscription: nothing of it comes about until the transaction ends, but for rows of the ledger,
// which RecordPaymentTx finds.
func (s *Locator) absentTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event,
) (settle.Absent, error) {
	paid, settled := e.Payload.(gateway.SettledPayment)
	if !settled {
		return settle.Absent{}, nil
	}
	row, err := s.db.SubscriptionCheckAbsent(ctx, tx, sub, paid.Payment.ID, e)
	if err != nil {
		return settle.Absent{}, fmt.Errorf("look for what the subscription has: %w", err)
	}
	return settle.Absent(row), nil
}

// repeatOthersTx reports whether an event names the subscription with a payment that the
// ledger has for something else: it pays that alone, whoever reports it. For one that was
// given to another row of the customer (/extend), what the gateway says since is recorded.
func (s *Locator) repeatOthersTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event,
	absent settle.Absent,
) (bool, error) {
	paid, settled := e.Payload.(gateway.SettledPayment)
	if !settled || absent.Others {
		return false, nil
	}
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, paid.Payment.ID)
	if err != nil || !settle.IsOthers(sub, known) {
		return false, err
	}
	if known.CustomerID == sub.CustomerID {
		_, err = s.deps.Payments.RecordPaymentTx(ctx, tx,
			payments.Record{Owner: sub.Owner().At(e.Gateway), Payment: paid.Payment})
	}
	return true, err
}

// stray says why an event that names a subscription is about something else of its
// gateway; the zero value, that it is not.
type stray struct {
	reason  gateway.Reason
	waiting bool // applied again once the row knows its recurrence, or the ledger the payment
	ours    bool // money of it was charged for the subscription once more
}

// strayTx holds the event's ids against the row's. An id that contradicts is not
// believed, and never written over the row's own.
func (s *Locator) strayTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event) (stray, error) {
	if e.Known != nil {
		return stray{}, nil
	}
	known := sub.RemoteID()
	_, ofAuthorization := e.Payload.(gateway.AuthorizationChange)
	_, settled := e.Payload.(gateway.SettledPayment)
	_, refund := e.Payload.(gateway.RefundChange)
	paid, ofMoney := e.Payment()
	otherRecurrence := e.SubscriptionID != "" && !ofAuthorization && e.SubscriptionID != known
	switch {
	case sub.Gateway != e.Gateway:
		return stray{reason: gateway.ReasonOtherGateway}, nil
	case ofPayment(e) != "" && (refund || e.SubscriptionID == "" || sub.Status == state.Pending):
		// How much was paid, and how, is not told: what was taken back before the payment
		// is booked would pass for a refund of ours, and the payment then for money.
		return stray{reason: gateway.ReasonNotBooked, waiting: true}, nil
	case e.AuthorizationID != "" && sub.GwaPixAuthID != nil && *sub.GwaPixAuthID != e.AuthorizationID:
		return stray{reason: gateway.ReasonOtherAuthorization, ours: true}, nil
	case ofAuthorization && e.Reference != "" && e.Reference != sub.ID:
		return stray{reason: gateway.ReasonOtherContract}, nil
	case otherRecurrence && known != "",
		otherRecurrence && !e.Gateway.Traits().SignsEvents && sub.PaymentMethod != gateway.MethodCard:
		return stray{reason: gateway.ReasonOtherRecurrence, ours: true}, nil
	case otherRecurrence && !e.Gateway.Traits().SignsEvents && !settled:
		return stray{reason: gateway.ReasonRecurrenceUnknown, waiting: true}, nil
	case ofAuthorization && e.ConciliationID != "" && e.ConciliationID != nullable.Value(sub.PixConciliationID):
		if sub.PixConciliationID != nil {
			return stray{reason: gateway.ReasonOtherAuthorization}, nil
		}
		return s.takenTx(s.db.SubscriptionGetByConciliation(ctx, tx, &e.ConciliationID))
	case ofMoney && sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic && sub.PixPaymentID == nil:
		return s.takenTx(s.db.SubscriptionGetByPixPayment(ctx, tx, sub.Gateway, &paid.ID))
	}
	return stray{}, nil
}

// takenTx: the row lacks an id that the event tells. Another row has it already.
func (*Locator) takenTx(_ lifecycle.Subscription, err error) (stray, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return stray{}, nil
	}
	return stray{reason: gateway.ReasonOtherSubscription}, err
}

// confirmFirstTx has money of gateway A that names the subscription read live, by job, before
// it is believed to be of another recurrence, authorization or gateway, or teaches the
// subscription its recurrence.
func (s *Applier) confirmFirstTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, why stray,
	e gateway.Event,
) (bool, error) {
	teaches := e.SubscriptionID != "" && sub.RemoteID() == ""
	paid, settled := e.Payload.(gateway.SettledPayment)
	if !settled || e.IsProof() || why.reason == "" && !teaches {
		return false, nil
	}
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, paid.Payment.ID)
	if err != nil || known != nil {
		return false, err
	}
	a := settle.LateMoneyArgs{
		Gateway: e.Gateway, SubscriptionID: sub.ID, PaymentID: paid.Payment.ID, EventID: e.ID,
		First: settle.IsFirst(sub, e), AuthorizationID: e.AuthorizationID, SettledAt: paid.Payment.SettledAt,
	}
	charge, err := s.locator.ChargeOf(ctx, tx, e)
	if err != nil {
		return false, err
	}
	if charge != nil {
		a.ChargeID = charge.ID
	}
	return true, s.deps.Settler.InsertLateTx(ctx, tx, a)
}

// isMatchedByID reports whether a payment is held against an id that the gateway told here: a
// code's or a debit's (isOrderedTx). The charges of a card's recurrence, a first month and
// the first code of an automatic PIX have ids of the gateway's own.
func isMatchedByID(sub lifecycle.Subscription, e gateway.Event) bool {
	return sub.PaysOnce() || sub.PixAutomatic && !settle.IsFirst(sub, e)
}

// applyToTx applies an event to the subscription that it was found to be of, or to the code
// for a further period that its payment is of.
func (s *Applier) applyToTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	absent settle.Absent,
) (ignored gateway.Reason, err error) {
	switch e.Payload.(type) {
	case gateway.RefundChange, gateway.DisputeChange:
		if err := s.bookTakenBackTx(ctx, tx, sub, &e); err != nil {
			return "", err
		}
	case gateway.SettledPayment, gateway.FailedPayment, gateway.LostPayment, gateway.DeletedPayment:
		if absent.Charge {
			break
		}
		charge, err := s.locator.ChargeOf(ctx, tx, e)
		if err != nil {
			return "", err
		}
		if charge != nil && charge.SubscriptionID == sub.ID && charge.Gateway == e.Gateway {
			return s.deps.Charges.ApplyChargeTx(ctx, tx, sub, charge.ID, e)
		}
	default:
	}
	return s.applyOneTx(ctx, tx, sub, e, absent)
}

// ChargeOf finds the renewal charge that an event is about, by our own id or the
// payment's; nil when it is about none.
func (s *Locator) ChargeOf(ctx context.Context, db postgres.DB, e gateway.Event) (*lifecycle.RenewalCharge, error) {
	c, err := s.db.RenewalChargeFind(ctx, db, e)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nil is the answer: no charge
	}
	return &c, err
}

// applyOneTx does what each kind of event does to the subscription it is about, which is
// locked. The text is why it did nothing, "" when it did.
func (s *Applier) applyOneTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	absent settle.Absent,
) (ignored gateway.Reason, err error) {
	switch payload := e.Payload.(type) {
	case gateway.SettledPayment:
		return s.applyPaymentTx(ctx, tx, sub, e, payload.Payment, absent)
	case gateway.FailedPayment:
		return s.applyFailureTx(ctx, tx, sub, e, payload)
	case gateway.LostPayment:
		return s.applyLossTx(ctx, tx, sub, e, payload.Payment)
	case gateway.DeletedPayment:
		return s.applyDeletedTx(ctx, tx, sub, e, payload.Payment)
	case gateway.RefundChange:
		return s.applyRefundTx(ctx, tx, sub, e, payload.Report)
	case gateway.DisputeChange:
		return s.applyDisputeTx(ctx, tx, sub, e, payload.Report)
	case gateway.SubscriptionChange:
		return s.applyStatusTx(ctx, tx, sub, e, payload)
	case gateway.SubscriptionEnd:
		return s.applyEndTx(ctx, tx, sub, e, payload.Subscription)
	case gateway.RecurrenceMove:
		return s.applyNextDueTx(ctx, tx, sub, e, payload.Subscription)
	case gateway.AuthorizationChange:
		if payload.Authorization.Status == gateway.AuthorizationStatusActive {
			return s.applyAuthorizedTx(ctx, tx, sub, e, payload.Authorization)
		}
		return s.applyUnauthorizedTx(ctx, tx, sub, e, payload.Authorization)
	case gateway.NamelessPayment:
	}
	return "", fmt.Errorf("an event %s is of no subscription", e.Kind())
}

// applyPaymentTx: invoice.paid, PAYMENT_CONFIRMED, PAYMENT_RECEIVED.
func (s *Applier) applyPaymentTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	paid gateway.Payment, absent settle.Absent,
) (gateway.Reason, error) {
	p, err := s.judgePaymentTx(ctx, tx, sub, e, paid, absent)
	if err != nil {
		return "", err
	}
	confirming, err := s.deps.Settler.SettlePaymentTx(ctx, tx, sub, p)
	if err != nil {
		return "", err
	}
	return whyUnapplied(*sub, p, confirming), nil
}

// whyUnapplied is why a payment that was settled lengthened nothing, or is yet to; "" when it did.
func whyUnapplied(sub lifecycle.Subscription, p settle.Payment, confirming bool) gateway.Reason {
	switch {
	case confirming:
		return gateway.ReasonToConfirmPayment
	case p.Older:
		return gateway.ReasonOlderPayment
	case sub.Status.Ended():
		return gateway.ReasonEnded
	}
	return ""
}

// judgePaymentTx says what the payment that an event tells is to the subscription, which learns its recurrence by it.
func (s *Applier) judgePaymentTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	paid gateway.Payment, absent settle.Absent,
) (p settle.Payment, err error) {
	p = settle.Payment{Payment: paid, Source: settle.SourceOf(e), Event: settle.EventOf(e), Absent: absent}
	adopted, err := s.locator.adoptTx(ctx, tx, sub, e)
	if err != nil {
		return p, err
	}
	if !absent.Failures {
		if p.Older, err = s.locator.olderInvoiceTx(ctx, tx, *sub, e, paid); err != nil {
			return p, err
		}
	}
	if chargedThoughEnding(*sub, e, paid) {
		if err := s.queueRecurrenceCheckTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID}); err != nil {
			return p, err
		}
	}
	// What has ended here was ended at the gateway too, unless nobody knew that it
	// was there.
	p.Recurs = (sub.PaymentMethod != gateway.MethodPix || sub.PixAutomatic) && (adopted || !sub.Status.Ended())
	p.Role, err = s.deps.Settler.RoleOfTx(ctx, tx, *sub, e, paid)
	return p, err
}

// adoptTx keeps the gateway's subscription id when an event tells it first.
func (s *Locator) adoptTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	e gateway.Event,
) (adopted bool, err error) {
	if e.SubscriptionID == "" || sub.RemoteID() != "" {
		return false, nil
	}
	err = s.deps.Store.EditTx(ctx, tx, sub, state.RecurrenceAdopted,
		func(r *lifecycle.Subscription) { r.SetRecurrence(e.SubscriptionID) })
	if err != nil {
		return false, err
	}
	return true, s.deps.Payments.ReplayWaitingTx(ctx, tx, e.Gateway, e.SubscriptionID)
}

// olderInvoiceTx reports whether the event tells of an invoice of gateway B that was
// paid before another one failed, and so says nothing about that one.
func (s *Locator) olderInvoiceTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event,
	p gateway.Payment,
) (bool, error) {
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
func chargedThoughEnding(sub lifecycle.Subscription, e gateway.Event, p gateway.Payment) bool {
	return e.Gateway.Traits().EndsWithPeriod && sub.CancelAtPeriodEnd && sub.Status == state.Active &&
		!sub.EndsThere() &&
		p.InvoiceID != "" && p.Amount > 0 && p.InvoiceID != nullable.Value(sub.LastPaidInvoiceID) &&
		sub.RemoteID() != ""
}
