package gateway

import (
	"slices"
	"time"

	"marquee/platform/objectid"
)

// EventKind is what a gateway's event means, in neutral words. An event type of
// a gateway that means none of them is logged and ignored.
type EventKind string

// The kinds.
const (
	PaymentWasSettled    EventKind = "payment_settled"      // invoice.paid; PAYMENT_CONFIRMED, PAYMENT_RECEIVED
	PaymentHasFailed     EventKind = "payment_failed"       // invoice.payment_failed
	SubscriptionChanged  EventKind = "subscription_changed" // customer.subscription.created, .updated
	SubscriptionWasEnded EventKind = "subscription_ended"   // customer.subscription.deleted
	NothingForUs         EventKind = ""                     // logged only
	// PaymentIsNameless is money of gateway B that names nothing: payment_intent.succeeded
	// without our metadata. An invoice may be behind it, which the event does not tell.
	PaymentIsNameless EventKind = "payment_nameless"

	// Of payments. PaymentHasFailed is also PAYMENT_OVERDUE, a card capture refused
	// and a debit of automatic PIX refused: all with Attempt 1 of that payment, so
	// that RecordFailureTx counts one of them.
	PaymentWasLost    EventKind = "payment_lost"    // payment_intent.payment_failed, .canceled of a PIX or an order: it can no longer be paid
	PaymentWasDeleted EventKind = "payment_deleted" // PAYMENT_DELETED: the echo of our own cancelling, as a rule

	// Of refunds: Event.Refund goes into RecordRefundTx.
	PaymentWasRefunded EventKind = "payment_refunded" // charge.refunded, refund.created, .updated; PAYMENT_REFUNDED, PAYMENT_PARTIALLY_REFUNDED
	RefundIsPending    EventKind = "refund_pending"   // PAYMENT_REFUND_IN_PROGRESS
	RefundHasFailed    EventKind = "refund_failed"    // refund.failed; PAYMENT_REFUND_DENIED

	// Of disputes: Event.Dispute goes into RecordDisputeTx.
	DisputeWasOpened EventKind = "dispute_opened" // charge.dispute.created; PAYMENT_CHARGEBACK_REQUESTED, PAYMENT_CHARGEBACK_DISPUTE
	DisputeWasClosed EventKind = "dispute_closed" // charge.dispute.closed; PAYMENT_AWAITING_CHARGEBACK_REVERSAL, PAYMENT_REFUNDED of a charged back payment

	// Of gateway A's recurrences. They are kinds of their own: an end there does
	// not end a period that is paid, and a new date says nothing of the status.
	RecurrenceWasMoved EventKind = "recurrence_moved" // SUBSCRIPTION_UPDATED: Subscription.NextBilling
	RecurrenceWasEnded EventKind = "recurrence_ended" // SUBSCRIPTION_DELETED, SUBSCRIPTION_INACTIVATED

	// Of automatic PIX: Event.Authorization.
	AuthorizationWasActivated EventKind = "authorization_activated"
	AuthorizationWasCancelled EventKind = "authorization_cancelled"
	AuthorizationWasRefused   EventKind = "authorization_refused"
	AuthorizationHasExpired   EventKind = "authorization_expired"
)

// Event is an authenticated event of a gateway in neutral words.
type Event struct {
	Gateway   Name
	ID        string // the gateway's event id, kept whole
	Type      string // the gateway's own word
	Kind      EventKind
	CreatedAt time.Time // by the gateway's clock
	LogID     objectid.ID
	// Confirmed: the gateway was asked for its object since, and the event holds what it
	// answered.
	Confirmed bool

	// How to find the local row, in this order; each may be empty.
	SubscriptionID  string      // the gateway's subscription
	AuthorizationID string      // gateway A, automatic PIX
	ConciliationID  string      // gateway A, first payment of an automatic PIX: the id of its QR code
	Reference       objectid.ID // the local id that the gateway was told: externalReference, metadata.local_subscription_id
	CustomerID      string      // the gateway's customer

	Payment      *Payment            // of the payment kinds
	Attempt      int                 // of PaymentHasFailed: the invoice's attempt_count
	Reason       string              // of a debit of automatic PIX that failed: the gateway's own word
	Final        bool                // of a debit of automatic PIX that failed: no retry is of use
	FirstInvoice bool                // of gateway B's invoices: billing_reason subscription_create
	Subscription *RemoteSubscription // of the subscription and recurrence kinds
	LeftStatus   RemoteStatus        // of SubscriptionChanged: the status before it, "" when the event does not tell

	// Purpose is what the payment is for when the gateway was told (gateway B's
	// metadata); empty when only the local row can tell.
	Purpose       Purpose
	Refund        *RefundReport     // of the refund kinds
	Dispute       *DisputeReport    // of the dispute kinds
	Authorization *PixAuthorization // of the authorization kinds, without its code
	// Known is the ledger's row of the payment that a refund, a dispute or a
	// deletion is about, found by this module before the appliers are asked; nil
	// when the ledger has none.
	Known *LedgerPayment
}

// Subjects are the ids by which a local row that is not there yet may be found
// later; an event that nobody knew is applied again once one of them is known.
func (e Event) Subjects() []string {
	var ids []string
	all := []string{e.SubscriptionID, e.AuthorizationID, e.ConciliationID, e.Reference.String(), e.PaymentID()}
	if e.Refund != nil {
		all = append(all, e.Refund.PaymentID)
	}
	if e.Dispute != nil {
		all = append(all, e.Dispute.PaymentID)
	}
	for _, id := range all {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// PaymentID is the id of the event's payment, "" without one.
func (e Event) PaymentID() string {
	if e.Payment == nil {
		return ""
	}
	return e.Payment.ID
}

// PaymentIDs are the ids by which the ledger may know the payment that the event is about.
func (e Event) PaymentIDs() []string {
	ids := []string{e.PaymentID()}
	if e.Payment != nil {
		ids = append(ids, e.Payment.PaymentIntentID)
	}
	if e.Refund != nil {
		ids = append(ids, e.Refund.PaymentID)
	}
	if e.Dispute != nil {
		ids = append(ids, e.Dispute.PaymentID)
	}
	return ids
}

// ReceivedAt bounds an event's time by that of its coming: one of the future would make
// all true ones after it older than what is known. A date beyond all bounds stays, and is
// why the event can never be applied.
func (e *Event) ReceivedAt(at time.Time) {
	if e.CreatedAt.IsZero() || e.CreatedAt.After(at) && e.Impossible() == "" {
		e.CreatedAt = at
	}
}

// ResultStatus says what became of an event.
type ResultStatus string

// What becomes of an event.
const (
	ResultApplied ResultStatus = "processed"
	ResultIgnored ResultStatus = "ignored" // not ours, not known, older than what is known, or of no consequence
	ResultQueued  ResultStatus = "queued"  // applying failed, and a job tries again; or the gateway is asked first, by a job
)

// Result is the result object of the webhook's answer and log (specification,
// Gateway B events).
type Result struct {
	Status         ResultStatus `json:"status"`
	SubscriptionID *objectid.ID `json:"subscription_id"`
	NewStatus      *string      `json:"new_status"`
	Reason         string       `json:"reason,omitempty"` // why it was ignored
	// Unclaimed tells that no module knew the subject of the event; it is applied
	// again when one appears. Not shown.
	Unclaimed bool `json:"-"`
	// Taken tells that nobody knew the subject of money, but its customer, and that it
	// is being given back. Not shown.
	Taken bool `json:"-"`
	// Unproven tells that the event was applied although nothing but the event says that
	// the payment is there, and paid or not: its id was not told here by the gateway. Not
	// shown.
	Unproven bool `json:"-"`
}

// Asked is the result of an event that has changed nothing yet: a job asks the gateway
// first, for the reason that is given.
func Asked(subscription *objectid.ID, reason string) Result {
	return Result{Status: ResultQueued, SubscriptionID: subscription, Reason: reason}
}
