package gwb

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"marquee/modules/payments/gateway"
)

type envelope struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Created int64  `json:"created"`
	Data    struct {
		Object   json.RawMessage `json:"object"`
		Previous json.RawMessage `json:"previous_attributes"`
	} `json:"data"`
}

// leftStatus is the subscription's status before the change that the event tells,
// "" when another of its fields changed.
func (e envelope) leftStatus() gateway.RemoteStatus {
	var previous struct {
		Status gateway.RemoteStatus `json:"status"`
	}
	_ = json.Unmarshal(e.Data.Previous, &previous) // it only helps to order what came in one second
	return previous.Status
}

// readers say what each event type means; the others are without consequence.
var readers = map[string]func(object json.RawMessage, e *gateway.Event) error{
	"invoice.paid":                  readInvoicePaid,
	"invoice.payment_failed":        readInvoiceFailed,
	"customer.subscription.created": readSubscriptionChanged,
	"customer.subscription.updated": readSubscriptionChanged,
	"customer.subscription.deleted": readSubscriptionEnded,

	"payment_intent.succeeded":      readIntentSucceeded,
	"payment_intent.payment_failed": readIntentLost,
	"payment_intent.canceled":       readIntentLost,

	"charge.refunded":       readChargeRefunded,
	"charge.refund.updated": readRefund, // the older name of refund.updated
	"refund.created":        readRefund,
	"refund.updated":        readRefund,
	"refund.failed":         readRefund,

	"charge.dispute.created":          readDispute,
	"charge.dispute.updated":          readDispute,
	"charge.dispute.funds_withdrawn":  readDispute,
	"charge.dispute.funds_reinstated": readDispute,
	"charge.dispute.closed":           readDispute,
}

// ReadEvent reads an event of either shape, by its fields and not by its
// api_version.
func (*events) ReadEvent(body []byte) (gateway.Event, error) {
	var env envelope
	if err := json.Unmarshal(body, &env); err != nil {
		return gateway.Event{ID: env.ID, Type: env.Type}, errors.New("the body is no event object")
	}
	e := gateway.Event{Gateway: gateway.GWB, ID: env.ID, Type: env.Type}
	if env.Created > 0 {
		e.CreatedAt = time.Unix(env.Created, 0).UTC()
	}
	reader, known := readers[env.Type]
	if !known {
		return e, nil
	}
	if err := reader(env.Data.Object, &e); err != nil {
		return gateway.Event{Gateway: gateway.GWB, ID: env.ID, Type: env.Type}, fmt.Errorf("object of %s: %w", env.Type, err)
	}
	if change, ok := e.Payload.(gateway.SubscriptionChange); ok {
		change.Left = env.leftStatus()
		e.Payload = change
	}
	return e, nil
}

func readInvoicePaid(object json.RawMessage, e *gateway.Event) error {
	i, err := readInvoice(object, e)
	if err != nil || !ofSubscription(i, e) {
		return err
	}
	p := *i.payment()
	p.Status = gateway.PaymentSettled
	if p.SettledAt == nil && !e.CreatedAt.IsZero() {
		p.SettledAt = &e.CreatedAt
	}
	e.Payload = gateway.SettledPayment{Payment: p}
	return nil
}

func readInvoiceFailed(object json.RawMessage, e *gateway.Event) error {
	i, err := readInvoice(object, e)
	if err != nil || !ofSubscription(i, e) {
		return err
	}
	p := *i.payment()
	p.Status = gateway.PaymentFailed
	e.Payload = gateway.FailedPayment{Payment: p, Attempt: i.AttemptCount, First: i.BillingReason == "subscription_create"}
	return nil
}

// readInvoice reads whom an invoice is of.
func readInvoice(object json.RawMessage, e *gateway.Event) (*invoiceObject, error) {
	var i invoiceObject
	// What came out of the event is valid JSON: it is not checked once more.
	if len(object) == 0 || i.UnmarshalJSON(object) != nil {
		return nil, errNoObject
	}
	aboutInvoice(&i, e)
	return &i, nil
}

func aboutInvoice(i *invoiceObject, e *gateway.Event) {
	e.SubscriptionID, e.Reference, e.CustomerID = i.subscription(), i.reference(), i.Customer.ID
}

// ofSubscription reports whether a subscription is behind the invoice: others are none of ours.
func ofSubscription(i *invoiceObject, e *gateway.Event) bool {
	return i.ID != "" && (e.SubscriptionID != "" || e.Reference != "")
}

func readSubscriptionChanged(object json.RawMessage, e *gateway.Event) error {
	sub, err := readSubscription(object, e)
	if err != nil {
		return err
	}
	e.Payload = gateway.SubscriptionChange{Subscription: sub}
	return nil
}

func readSubscriptionEnded(object json.RawMessage, e *gateway.Event) error {
	sub, err := readSubscription(object, e)
	if err != nil {
		return err
	}
	e.Payload = gateway.SubscriptionEnd{Subscription: sub}
	return nil
}

func readSubscription(object json.RawMessage, e *gateway.Event) (gateway.RemoteSubscription, error) {
	var o subscriptionObject
	if err := json.Unmarshal(object, &o); err != nil || o.ID == "" {
		return gateway.RemoteSubscription{}, errNoObject
	}
	e.SubscriptionID, e.Reference, e.CustomerID = o.ID, o.Metadata.id(metaSubscription), o.Customer.ID
	return settled(&o).RemoteSubscription, nil
}

// errNoObject quotes nothing of the body, which may hold anything.
var errNoObject = errors.New("cannot be read")
