package gwb

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/platform/money"
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
	"customer.subscription.resumed": readSubscriptionChanged,
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
		return gateway.Event{Gateway: gateway.GWB, ID: env.ID, Type: env.Type},
			fmt.Errorf("object of %s: %w", env.Type, err)
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
	p.Status = gateway.PaymentStatusSettled
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
	p.Status = gateway.PaymentStatusFailed
	e.Payload = gateway.FailedPayment{
		Payment: p, Attempt: i.AttemptCount, First: i.BillingReason == "subscription_create",
	}
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

// intentObject is a payment intent as events give it.
type intentObject struct {
	ID                 string   `json:"id"`
	Amount             int64    `json:"amount"`
	Customer           ref      `json:"customer"`
	Status             string   `json:"status"`
	PaymentMethodTypes []string `json:"payment_method_types"`
	Metadata           metadata `json:"metadata"`
	Invoice            ref      `json:"invoice"` // in the older shape alone
	Description        string   `json:"description"`
}

// ofInvoice reports whether the intent says that it is of an invoice: by its id, or in the
// gateway's own words for those of subscriptions.
func (i *intentObject) ofInvoice() bool {
	return i.Invoice.ID != "" || ofInvoice(i.Description)
}

// ofInvoice knows the gateway's own words for what a subscription's invoice charges.
func ofInvoice(description string) bool {
	return description == "Subscription creation" || description == "Subscription update"
}

// readIntent reads an intent of ours: a PIX of a subscription, or a ticket order.
// Ok is false for others: every card charge of an invoice has an intent too.
func readIntent(object json.RawMessage, e *gateway.Event) (p gateway.Payment, ok bool, err error) {
	var i intentObject
	if err := json.Unmarshal(object, &i); err != nil || i.ID == "" {
		return p, false, errNoObject
	}
	purpose, local := i.Metadata.purpose()
	kind := i.Metadata[metaKind]
	known := kind == gateway.KindSubscriptionPix || kind == gateway.KindTicketOrder || kind == gateway.KindFirstMonth
	if local == "" || !known {
		return p, false, nil
	}
	e.Purpose, e.Reference, e.CustomerID = purpose, local, i.Customer.ID
	return i.payment(), true, nil
}

func (i *intentObject) payment() gateway.Payment {
	p := gateway.Payment{
		ID: i.ID, PaymentIntentID: i.ID, NativeStatus: i.Status, Method: gateway.MethodCard,
		Amount: money.Cents(i.Amount),
		Status: gateway.PaymentStatusPending,
	}
	for _, t := range i.PaymentMethodTypes {
		if t == "pix" {
			p.Method = gateway.MethodPix
		}
	}
	return p
}

func readIntentSucceeded(object json.RawMessage, e *gateway.Event) error {
	p, ok, err := readIntent(object, e)
	if err != nil {
		return err
	}
	if !ok {
		p, ok = readOfSubscription(object, e)
	}
	if ok {
		e.Payload = gateway.SettledPayment{Payment: settledIntent(p, e)}
		return nil
	}
	if p, ok = readNameless(object, e); ok {
		e.Payload = gateway.NamelessPayment{Payment: settledIntent(p, e)}
	}
	return nil
}

// settledIntent is the payment of an intent of which the event says that it is paid.
func settledIntent(p gateway.Payment, e *gateway.Event) gateway.Payment {
	p.Status = gateway.PaymentStatusSettled
	if !e.CreatedAt.IsZero() {
		p.SettledAt = &e.CreatedAt
	}
	return p
}

// readOfSubscription reads an intent that names a subscription and no kind of ours: it was
// not made here, and reconciliation finds its charge, too.
func readOfSubscription(object json.RawMessage, e *gateway.Event) (p gateway.Payment, ok bool) {
	var i intentObject
	if json.Unmarshal(object, &i) != nil || i.ofInvoice() {
		return p, false
	}
	purpose, local := i.Metadata.purpose()
	if purpose != gateway.ForSubscription {
		return p, false
	}
	e.Purpose, e.Reference, e.CustomerID = purpose, local, i.Customer.ID
	return i.payment(), true
}

// readNameless reads an intent of a customer that names nothing of ours and no invoice.
func readNameless(object json.RawMessage, e *gateway.Event) (p gateway.Payment, ok bool) {
	var i intentObject
	if json.Unmarshal(object, &i) != nil || i.Customer.ID == "" || i.Amount <= 0 || i.ofInvoice() {
		return p, false
	}
	if _, local := i.Metadata.purpose(); local != "" {
		return p, false
	}
	e.CustomerID = i.Customer.ID
	return i.payment(), true
}

// readIntentLost reads an intent that nobody will pay: a PIX code that ran out, a
// refused card of an order, a cancelled intent.
func readIntentLost(object json.RawMessage, e *gateway.Event) error {
	p, ok, err := readIntent(object, e)
	if !ok {
		return err
	}
	p.Status = gateway.PaymentStatusGone
	e.Payload = gateway.LostPayment{Payment: p}
	return nil
}

// readChargeRefunded reads the cumulative amount_refunded.
func readChargeRefunded(object json.RawMessage, e *gateway.Event) error {
	var c chargeObject
	if err := json.Unmarshal(object, &c); err != nil || c.ID == "" {
		return errNoObject
	}
	e.CustomerID = c.Customer.ID
	e.Purpose, e.Reference = c.Metadata.purpose()
	e.Payload = gateway.RefundChange{Status: gateway.RefundStatusDone, Report: gateway.RefundReport{
		PaymentID: key(c.PaymentIntent.ID, c.ID), ChargeID: c.ID, Total: money.Cents(c.AmountRefunded), HasTotal: true,
		At: e.CreatedAt, EventID: e.ID, Type: e.Type,
	}}
	return nil
}

// readRefund reads one refund; the event tells nothing of the others.
func readRefund(object json.RawMessage, e *gateway.Event) error {
	var r refundObject
	if err := json.Unmarshal(object, &r); err != nil || r.ID == "" || key(r.PaymentIntent.ID, r.Charge.ID) == "" {
		return errNoObject
	}
	status, state := gateway.RefundStatusDone, ledgerState(r.Status)
	at := e.CreatedAt
	if created := instant(r.Created); created != nil && state != gateway.RefundStatusFailed {
		at = *created // it failed when the event was made
	}
	if state == gateway.RefundStatusFailed {
		status = gateway.RefundStatusFailed
	}
	e.Payload = gateway.RefundChange{Status: status, Report: gateway.RefundReport{
		PaymentID: key(r.PaymentIntent.ID, r.Charge.ID), ChargeID: r.Charge.ID, At: e.CreatedAt, EventID: e.ID,
		Type: e.Type,
		Singles: []gateway.SingleRefund{{
			ID: r.ID, RefundID: r.Metadata.id(metaRefund), Amount: money.Cents(r.Amount), Status: state,
			Reason: r.Metadata[metaReason], At: at,
		}},
	}}
	return nil
}

// readDispute reads every step of a dispute; its status tells the step. It names
// no customer: the payment's row in the ledger does.
func readDispute(object json.RawMessage, e *gateway.Event) error {
	var d disputeObject
	if err := json.Unmarshal(object, &d); err != nil || d.ID == "" || key(d.PaymentIntent.ID, d.Charge.ID) == "" {
		return errNoObject
	}
	at := e.CreatedAt
	if at.IsZero() {
		at = time.Unix(d.Created, 0).UTC()
	}
	report := d.report(at)
	report.EventID = e.ID
	e.Payload = gateway.DisputeChange{Report: report}
	return nil
}

// errNoObject quotes nothing of the body, which may hold anything.
var errNoObject = errors.New("cannot be read")
