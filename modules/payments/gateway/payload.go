package gateway

import (
	"strings"
	"time"

	"marquee/platform/money"
)

// EventKind is what a gateway's event means, in a word for logs and tests.
type EventKind string

// The kinds.
const (
	PaymentSettled      EventKind = "payment_settled"      // invoice.paid; PAYMENT_CONFIRMED, PAYMENT_RECEIVED
	PaymentFailed       EventKind = "payment_failed"       // invoice.payment_failed
	SubscriptionChanged EventKind = "subscription_changed" // customer.subscription.created, .updated
	Ignored             EventKind = ""                     // logged only
	// SubscriptionEnded is customer.subscription.deleted; SUBSCRIPTION_DELETED, SUBSCRIPTION_INACTIVATED.
	SubscriptionEnded EventKind = "subscription_ended"
	// PaymentNameless is money of gateway B that names nothing: payment_intent.succeeded
	// without our metadata. An invoice may be behind it, which the event does not tell.
	PaymentNameless EventKind = "payment_nameless"

	// Of payments. PaymentFailed is also PAYMENT_OVERDUE, a card capture refused
	// and a debit of automatic PIX refused: all with Attempt 1 of that payment, so
	// that RecordFailureTx counts one of them.
	PaymentDeleted EventKind = "payment_deleted" // PAYMENT_DELETED: the echo of our own cancelling, as a rule
	// PaymentLost is payment_intent.payment_failed, .canceled of a PIX or an order: it can no longer be paid.
	PaymentLost EventKind = "payment_lost"

	// PaymentRefunded is charge.refunded, refund.created, .updated; PAYMENT_REFUNDED, PAYMENT_PARTIALLY_REFUNDED.
	PaymentRefunded EventKind = "payment_refunded"
	RefundPending   EventKind = "refund_pending" // PAYMENT_REFUND_IN_PROGRESS
	RefundFailed    EventKind = "refund_failed"  // refund.failed; PAYMENT_REFUND_DENIED

	// DisputeOpened is charge.dispute.created; PAYMENT_CHARGEBACK_REQUESTED, PAYMENT_CHARGEBACK_DISPUTE.
	DisputeOpened EventKind = "dispute_opened"
	// DisputeClosed is charge.dispute.closed; PAYMENT_AWAITING_CHARGEBACK_REVERSAL, PAYMENT_REFUNDED of a charged back
	// payment.
	DisputeClosed EventKind = "dispute_closed"

	// Of gateway A's recurrences: a new date says nothing of the status.
	RecurrenceMoved EventKind = "recurrence_moved" // SUBSCRIPTION_UPDATED

	// Of automatic PIX.
	AuthorizationActivated EventKind = "authorization_activated"
	AuthorizationCancelled EventKind = "authorization_cancelled"
	AuthorizationRefused   EventKind = "authorization_refused"
	AuthorizationExpired   EventKind = "authorization_expired"
)

// Payload is what an event says, one type a kind of thing that can happen; the types below
// are all there are. Who reads an event switches over them.
type Payload interface {
	Kind() EventKind
	facts() facts
}

// facts is what an event tells by numbers, ids and dates, by which what can never be
// applied is known (Event.Impossible).
type facts struct {
	payment  Payment
	amounts  []money.Cents
	ids      []string
	instants []*time.Time
	attempt  int
}

// ofPayment begins what an event tells with its payment, the zero value of which tells nothing.
func ofPayment(p Payment) facts {
	return facts{
		payment: p, amounts: []money.Cents{p.Amount}, ids: []string{p.InvoiceID, p.PaymentIntentID},
		instants: []*time.Time{p.SettledAt, p.DueDate},
	}
}

// SettledPayment is money that counts.
type SettledPayment struct{ Payment Payment }

// NamelessPayment is money of gateway B that names nothing of ours.
type NamelessPayment struct{ Payment Payment }

// FailedPayment is a charge that came to nothing so far.
type FailedPayment struct {
	Payment Payment
	Attempt int  // the invoice's attempt_count; gateway A numbers none
	First   bool // of gateway B's invoices: billing_reason subscription_create
	// Of a debit of automatic PIX, "" and false of all others: the gateway's own word for
	// why, and that no retry is of use.
	Reason string
	Final  bool
}

// LostPayment is a payment that can no longer be made.
type LostPayment struct{ Payment Payment }

// DeletedPayment is a charge of gateway A that was deleted.
type DeletedPayment struct{ Payment Payment }

// RefundChange is what became of the refunds of a payment: Report goes into RecordRefundTx.
type RefundChange struct {
	// Status is RefundStatusDone, RefundStatusPending or RefundStatusFailed, of the refund that the event is about.
	Status RefundStatus
	Report RefundReport
	// Payment is the payment as it was paid, where the event holds it (gateway A); else it
	// is known by Report.PaymentID alone.
	Payment Payment
}

// DisputeChange is a step of a dispute: Report goes into RecordDisputeTx.
type DisputeChange struct {
	Report  DisputeReport
	Payment Payment // as of RefundChange
}

// SubscriptionChange is the status of a subscription of gateway B.
type SubscriptionChange struct {
	Subscription RemoteSubscription
	Left         RemoteStatus // the status before, "" when the event does not tell
}

// SubscriptionEnd is the end of a recurrence at its gateway, which does not end a period
// that is paid. RemoteSubscription.Inactive: gateway A only collects no more.
type SubscriptionEnd struct{ Subscription RemoteSubscription }

// RecurrenceMove is a new due date of a recurrence of gateway A: Subscription.NextBilling.
type RecurrenceMove struct{ Subscription RemoteSubscription }

// AuthorizationChange is the state of an automatic PIX, told without its code.
type AuthorizationChange struct{ Authorization PixAuthorization }

// Kind is PaymentSettled.
func (SettledPayment) Kind() EventKind { return PaymentSettled }

// Kind is PaymentNameless.
func (NamelessPayment) Kind() EventKind { return PaymentNameless }

// Kind is PaymentFailed.
func (FailedPayment) Kind() EventKind { return PaymentFailed }

// Kind is PaymentLost.
func (LostPayment) Kind() EventKind { return PaymentLost }

// Kind is PaymentDeleted.
func (DeletedPayment) Kind() EventKind { return PaymentDeleted }

// Kind follows from the status.
func (p RefundChange) Kind() EventKind {
	switch p.Status {
	case RefundStatusPending:
		return RefundPending
	case RefundStatusFailed:
		return RefundFailed
	}
	return PaymentRefunded
}

// Kind follows from the state.
func (p DisputeChange) Kind() EventKind {
	if p.Report.State.Closed() {
		return DisputeClosed
	}
	return DisputeOpened
}

// Kind is SubscriptionChanged.
func (SubscriptionChange) Kind() EventKind { return SubscriptionChanged }

// Kind is SubscriptionEnded.
func (SubscriptionEnd) Kind() EventKind { return SubscriptionEnded }

// Kind is RecurrenceMoved.
func (RecurrenceMove) Kind() EventKind { return RecurrenceMoved }

// Kind follows from the status.
func (p AuthorizationChange) Kind() EventKind {
	switch p.Authorization.Status {
	case AuthorizationStatusCancelled:
		return AuthorizationCancelled
	case AuthorizationStatusRefused:
		return AuthorizationRefused
	case AuthorizationStatusExpired:
		return AuthorizationExpired
	}
	return AuthorizationActivated
}

func (p SettledPayment) facts() facts  { return ofPayment(p.Payment) }
func (p NamelessPayment) facts() facts { return ofPayment(p.Payment) }
func (p LostPayment) facts() facts     { return ofPayment(p.Payment) }
func (p DeletedPayment) facts() facts  { return ofPayment(p.Payment) }

func (p FailedPayment) facts() facts {
	t := ofPayment(p.Payment)
	t.attempt = p.Attempt
	return t
}

func (p RefundChange) facts() facts {
	t := ofPayment(p.Payment)
	t.amounts = append(t.amounts, p.Report.Total)
	t.ids = append(t.ids, p.Report.ChargeID)
	t.instants = append(t.instants, &p.Report.At)
	for _, single := range p.Report.Singles {
		t.amounts, t.ids, t.instants = append(t.amounts, single.Amount), append(t.ids, single.ID),
			append(t.instants, &single.At)
	}
	return t
}

func (p DisputeChange) facts() facts {
	t := ofPayment(p.Payment)
	t.amounts, t.ids = append(t.amounts, p.Report.Amount), append(t.ids, p.Report.ID)
	t.instants = append(t.instants, &p.Report.OpenedAt, &p.Report.At)
	return t
}

func (p SubscriptionChange) facts() facts { return ofSubscription(p.Subscription) }
func (p SubscriptionEnd) facts() facts    { return ofSubscription(p.Subscription) }
func (p RecurrenceMove) facts() facts     { return ofSubscription(p.Subscription) }

func ofSubscription(s RemoteSubscription) facts {
	t := facts{ids: []string{s.CustomerGatewayID, s.PriceID}, instants: []*time.Time{s.NextBilling}}
	if s.LatestPayment != nil {
		t.amounts = []money.Cents{s.LatestPayment.Amount}
	}
	return t
}

func (p AuthorizationChange) facts() facts {
	a := p.Authorization
	return facts{amounts: []money.Cents{a.Amount}, ids: []string{a.CustomerID}, instants: []*time.Time{a.ExpiresAt}}
}

// IsCharge reports whether a payment is a charge of gateway B without an intent, which
// none of our calls reads.
func IsCharge(paymentID string) bool { return strings.HasPrefix(paymentID, "ch_") }

const (
	// settledAhead and dueAhead are how far ahead of our clock a charge may say that it was
	// paid, and due: gateway A makes charges 40 days ahead.
	settledAhead, dueAhead = 3 * 24 * time.Hour, 45 * 24 * time.Hour
)

// IsFarAhead reports whether money says that it came days from now, or that it was due
// longer from now than charges are made ahead.
func (p Payment) IsFarAhead(now time.Time) bool {
	return p.SettledAt != nil && p.SettledAt.After(now.Add(settledAhead)) ||
		p.DueDate != nil && p.DueDate.After(now.Add(dueAhead))
}
