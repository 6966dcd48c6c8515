package gateway

import (
	"math"
	"slices"
	"strings"
	"time"

	"marquee/platform/money"
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
	SubscriptionID  string // the gateway's subscription
	AuthorizationID string // gateway A, automatic PIX
	ConciliationID  string // gateway A, first payment of an automatic PIX: the id of its QR code
	// Reference is the local id that the gateway was told: externalReference, metadata.local_subscription_id.
	Reference  objectid.ID
	CustomerID string // the gateway's customer
	// Purpose is what the payment is for when the gateway was told (gateway B's
	// metadata); empty when only the local row can tell.
	Purpose Purpose
	// Known is the ledger's row of the payment that a refund, a dispute or a
	// deletion is about, found by this module before the appliers are asked; nil
	// when the ledger has none.
	Known *LedgerPayment

	// Payload is what the event says; nil where it changes nothing here.
	Payload Payload
}

// Kind is what the event means, Ignored without a payload.
func (e Event) Kind() EventKind {
	if e.Payload == nil {
		return Ignored
	}
	return e.Payload.Kind()
}

// Payment is the payment that the event reports; ok is false where it reports none, or
// only the id that refunds have for it.
func (e Event) Payment() (p Payment, ok bool) {
	if e.Payload == nil {
		return Payment{}, false
	}
	p = e.Payload.facts().payment
	return p, p.ID != ""
}

// IsTakenBack reports whether the event is about a refund or a dispute.
func (e Event) IsTakenBack() bool {
	switch e.Payload.(type) {
	case RefundChange, DisputeChange:
		return true
	default:
		return false
	}
}

// Subjects are the ids by which a local row that is not there yet may be found
// later; an event that nobody knew is applied again once one of them is known.
func (e Event) Subjects() []string {
	var ids []string
	for _, id := range []string{
		e.SubscriptionID, e.AuthorizationID, e.ConciliationID, e.Reference.String(), e.PaymentID(), e.TakenFrom(),
	} {
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

// TakenFrom is the id that refunds have for the payment of a refund or a dispute; "" for
// all other events.
func (e Event) TakenFrom() string {
	switch p := e.Payload.(type) {
	case RefundChange:
		return p.Report.PaymentID
	case DisputeChange:
		return p.Report.PaymentID
	default:
		return ""
	}
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

// IsProof reports whether an event proves what it says of money. Gateway A's webhooks are
// not signed: whoever has the token could make one up.
func (e Event) IsProof() bool {
	return e.Gateway.Traits().SignsEvents || e.Confirmed || e.Type == Reconciled || e.Type == ReadLive
}

// NeedsConfirmation reports whether an event would open, end or take back what a forged one could:
// the gateway is asked before it is applied. Charges that were paid, or failed, are judged
// by what they are applied to (Result.Unproven).
func (e Event) NeedsConfirmation() bool {
	switch p := e.Payload.(type) {
	case RefundChange, DisputeChange:
		return true
	case AuthorizationChange:
		return p.Authorization.Status == AuthorizationStatusActive
	default:
		return false
	}
}

// MaxID bounds event ids and types, in bytes; gateway A's have about 50.
const MaxID = 255

const (
	// maxAmount is what the ledgers hold.
	maxAmount   = money.MaxCharge
	maxAttempts = math.MaxInt16
	firstYear   = 2000
	lastYear    = 2200
)

// Impossible says why the event can never be applied, whatever job tries it again: a
// value that no ledger holds. It is "" for all others.
func (e Event) Impossible() string {
	var t facts
	if e.Payload != nil {
		t = e.Payload.facts()
	}
	for _, amount := range t.amounts {
		switch {
		case amount < 0:
			return "a negative amount"
		case amount > maxAmount:
			return "an amount beyond all bounds"
		}
	}
	for _, id := range append(append(e.Subjects(), e.CustomerID), t.ids...) {
		if len(id) > MaxID || strings.ContainsRune(id, 0) {
			return "an id that cannot be one"
		}
	}
	for _, at := range append(t.instants, &e.CreatedAt) {
		if at == nil || at.IsZero() {
			continue
		}
		if year := at.Year(); year < firstYear || year > lastYear {
			return "a date beyond all bounds"
		}
	}
	if t.attempt < 0 || t.attempt > maxAttempts {
		return "a number of attempts beyond all bounds"
	}
	return ""
}

// IsStrayMoney reports whether an event that nobody claims reports money that may be
// one of our customers'.
func (e Event) IsStrayMoney() bool {
	p, settled := e.Payload.(SettledPayment)
	return settled && p.Payment.Amount > 0 && e.CustomerID != "" && !IsCharge(p.Payment.ID)
}

// NamesOurs reports whether an event carries an id in our form: gateway B has it in our
// metadata, gateway A in the externalReference.
func (e Event) NamesOurs() bool { return objectid.Valid(e.Reference.String()) }

// ResultStatus says what became of an event.
type ResultStatus string

// What becomes of an event.
const (
	ResultApplied ResultStatus = "processed"
	ResultIgnored ResultStatus = "ignored" // not ours, not known, older than what is known, or of no consequence
	ResultQueued  ResultStatus = "queued"  // applying failed, and a job tries again; or a job asks the gateway first
)

// Result is the result object of the webhook's answer and log (docs/contract/payments.md, Webhooks).
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

// AwaitingConfirmation is the result of an event that has changed nothing yet: a job asks the gateway
// first, for the reason that is given.
func AwaitingConfirmation(subscription *objectid.ID, reason Reason) Result {
	return Result{Status: ResultQueued, SubscriptionID: subscription, Reason: reason}
}
