package gateway

import (
	"slices"
	"time"

	"marquee/platform/objectid"
)

// Event is an authenticated event of a gateway in neutral words: a head that all have,
// and a payload of its kind.
type Event struct {
	Gateway   Name
	ID        string    // the gateway's event id, kept whole
	Type      string    // the gateway's own word
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
	// Purpose is what the payment is for when the gateway was told (gateway B's
	// metadata); empty when only the local row can tell.
	Purpose Purpose
	// Known is the ledger's row of the payment that a refund, a dispute or a
	// deletion is about, found by this module before the appliers are asked; nil
	// when the ledger has none.
	Known *LedgerPayment

	// Payload is what the event says; nil where that is of no consequence here.
	Payload Payload
}

// Kind is what the event means, NothingForUs without a payload.
func (e Event) Kind() EventKind {
	if e.Payload == nil {
		return NothingForUs
	}
	return e.Payload.Kind()
}

// Payment is the payment that the event tells of; ok is false where it tells of none, or
// no more than an id under which the payment goes among refunds.
func (e Event) Payment() (p Payment, ok bool) {
	if e.Payload == nil {
		return Payment{}, false
	}
	p = e.Payload.told().payment
	return p, p.ID != ""
}

// IsTakenBack reports whether the event tells of a refund or a dispute.
func (e Event) IsTakenBack() bool {
	switch e.Payload.(type) {
	case RefundChange, DisputeChange:
		return true
	}
	return false
}

// Subjects are the ids by which a local row that is not there yet may be found
// later; an event that nobody knew is applied again once one of them is known.
func (e Event) Subjects() []string {
	var ids []string
	for _, id := range []string{e.SubscriptionID, e.AuthorizationID, e.ConciliationID, e.Reference.String(), e.PaymentID(), e.TakenFrom()} {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// PaymentID is the id of the event's payment, "" without one.
func (e Event) PaymentID() string {
	p, _ := e.Payment()
	return p.ID
}

// TakenFrom is the id, among refunds, of the payment that a refund or a dispute is of; ""
// of all other events.
func (e Event) TakenFrom() string {
	switch p := e.Payload.(type) {
	case RefundChange:
		return p.Report.PaymentID
	case DisputeChange:
		return p.Report.PaymentID
	}
	return ""
}

// PaymentIDs are the ids by which the ledger may know the payment that the event is about.
func (e Event) PaymentIDs() []string {
	p, _ := e.Payment()
	return []string{p.ID, p.PaymentIntentID, e.TakenFrom()}
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
	Reason         Reason       `json:"reason,omitempty"` // why it was ignored
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
func Asked(subscription *objectid.ID, reason Reason) Result {
	return Result{Status: ResultQueued, SubscriptionID: subscription, Reason: reason}
}
