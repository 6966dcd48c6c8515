package payments

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

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
)

// Event is an authenticated event of a gateway in neutral words.
type Event struct {
	Gateway   GatewayName
	ID        string // the gateway's event id, kept whole
	Type      string // the gateway's own word
	Kind      EventKind
	CreatedAt time.Time // by the gateway's clock
	LogID     objectid.ID

	// How to find the local row, in this order; each may be empty.
	SubscriptionID  string      // the gateway's subscription
	AuthorizationID string      // gateway A, automatic PIX
	ConciliationID  string      // gateway A, first payment of an automatic PIX: the id of its QR code
	Reference       objectid.ID // the local id that the gateway was told: externalReference (only of a payment without subscription), metadata.local_subscription_id
	CustomerID      string      // the gateway's customer

	Payment      *Payment            // of the payment kinds
	Attempt      int                 // of PaymentHasFailed: the invoice's attempt_count
	FirstInvoice bool                // of gateway B's invoices: billing_reason subscription_create
	Subscription *RemoteSubscription // of the subscription kinds
}

// Subjects are the ids by which a local row that is not there yet may be found
// later; an event that nobody knew is applied again once one of them is known.
func (e Event) Subjects() []string {
	var ids []string
	for _, id := range []string{e.SubscriptionID, e.AuthorizationID, e.ConciliationID, e.Reference.String(), paymentID(e.Payment)} {
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func paymentID(p *Payment) string {
	if p == nil {
		return ""
	}
	return p.ID
}

// ResultStatus says what became of an event.
type ResultStatus string

// What becomes of an event.
const (
	ResultApplied ResultStatus = "processed"
	ResultIgnored ResultStatus = "ignored" // not ours, not known, older than what is known, or of no consequence
	ResultQueued  ResultStatus = "queued"  // applying failed; a job tries again
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
}

// Applier applies an event inside the webhook's transaction; it must be safe to
// repeat. It answers Unclaimed when the event's subject is not its own.
type Applier interface {
	ApplyEventTx(ctx context.Context, tx pgx.Tx, e Event) (Result, error)
}
