package gwb

import (
	"encoding/json"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Keys of metadata that we write.
const (
	metaSubscription = "local_subscription_id"
	metaOrder        = "local_order_id"
	metaCustomer     = "local_customer_id"
	metaKind         = "kind"
)

// The objects below hold what we read, in both shapes: since 2025-03-31 and
// before (docs/gateway-facts.md, B10). The client's own types lose the older one.

// ref is a reference to an object: its id, or the object itself when expanded.
type ref struct{ ID string }

// UnmarshalJSON takes an id, an object with an id, or anything else as no
// reference.
func (r *ref) UnmarshalJSON(raw []byte) error {
	*r = ref{}
	if !isObject(raw) {
		_ = json.Unmarshal(raw, &r.ID)
		return nil
	}
	var o struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &o) == nil {
		r.ID = o.ID
	}
	return nil
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// metadata keeps the entries that are texts.
type metadata map[string]string

// UnmarshalJSON never fails: metadata of strangers must not fail an event.
func (m *metadata) UnmarshalJSON(raw []byte) error {
	var all map[string]any
	_ = json.Unmarshal(raw, &all)
	*m = metadata{}
	for k, v := range all {
		if s, ok := v.(string); ok {
			(*m)[k] = s
		}
	}
	return nil
}

func (m metadata) id(key string) objectid.ID {
	id, err := objectid.Parse(m[key])
	if err != nil {
		return ""
	}
	return id
}

type subscriptionObject struct {
	ID                string        `json:"id"`
	Customer          ref           `json:"customer"`
	Status            string        `json:"status"`
	Created           int64         `json:"created"`
	CancelAtPeriodEnd bool          `json:"cancel_at_period_end"`
	CurrentPeriodEnd  int64         `json:"current_period_end"` // older shape
	LatestInvoice     invoiceObject `json:"latest_invoice"`
	Metadata          metadata      `json:"metadata"`
	PauseCollection   *struct{}     `json:"pause_collection"`
	Items             struct {
		Data []struct {
			ID               string `json:"id"`
			CurrentPeriodEnd int64  `json:"current_period_end"`
			Price            ref    `json:"price"`
		} `json:"data"`
	} `json:"items"`
}

func (s *subscriptionObject) neutral() gateway.RemoteSubscription {
	r := gateway.RemoteSubscription{
		GatewayID: s.ID, CustomerGatewayID: s.Customer.ID, Status: gateway.RemoteStatus(s.Status),
		NativeStatus: s.Status,
		CreatedAt:    time.Unix(s.Created, 0).UTC(), CancelAtPeriodEnd: s.CancelAtPeriodEnd,
	}
	end := s.CurrentPeriodEnd
	for _, item := range s.Items.Data {
		end = max(end, item.CurrentPeriodEnd)
		r.PriceID = item.Price.ID
	}
	r.NextBilling = instant(end)
	if s.LatestInvoice.ID != "" {
		r.LatestPayment = s.LatestInvoice.payment()
	}
	return r
}

type invoiceObject struct {
	ID                  string   `json:"id"`
	Customer            ref      `json:"customer"`
	Status              string   `json:"status"`
	BillingReason       string   `json:"billing_reason"`
	AmountPaid          int64    `json:"amount_paid"`
	AmountDue           int64    `json:"amount_due"`
	AttemptCount        int      `json:"attempt_count"`
	Subscription        ref      `json:"subscription"` // older shape
	SubscriptionDetails struct { // older shape
		Metadata metadata `json:"metadata"`
	} `json:"subscription_details"`
	PaymentIntent intentRef `json:"payment_intent"` // older shape
	Parent        struct {
		SubscriptionDetails struct {
			Metadata     metadata `json:"metadata"`
			Subscription ref      `json:"subscription"`
		} `json:"subscription_details"`
	} `json:"parent"`
	Lines struct {
		Data []struct {
			Metadata     metadata `json:"metadata"`
			Subscription ref      `json:"subscription"` // older shape
			Parent       struct {
				SubscriptionItemDetails struct {
					Subscription ref `json:"subscription"`
				} `json:"subscription_item_details"`
			} `json:"parent"`
		} `json:"data"`
	} `json:"lines"`
	Payments struct {
		Data []struct {
			Payment struct {
				PaymentIntent ref `json:"payment_intent"`
			} `json:"payment"`
		} `json:"data"`
	} `json:"payments"`
	ConfirmationSecret struct {
		ClientSecret string `json:"client_secret"`
	} `json:"confirmation_secret"`
	StatusTransitions struct {
		PaidAt int64 `json:"paid_at"`
	} `json:"status_transitions"`
}

// intentRef is a payment intent, expanded or not.
type intentRef struct {
	ref
	ClientSecret string
}

// UnmarshalJSON takes what ref takes.
func (r *intentRef) UnmarshalJSON(raw []byte) error {
	var o struct {
		ClientSecret string `json:"client_secret"`
	}
	_ = json.Unmarshal(raw, &o)
	r.ClientSecret = o.ClientSecret
	return r.ref.UnmarshalJSON(raw)
}

// UnmarshalJSON takes an expanded invoice, or an id alone.
func (i *invoiceObject) UnmarshalJSON(raw []byte) error {
	if !isObject(raw) {
		var r ref
		_ = r.UnmarshalJSON(raw)
		*i = invoiceObject{ID: r.ID}
		return nil
	}
	type plain invoiceObject
	return json.Unmarshal(raw, (*plain)(i))
}

// subscription is the id of the subscription behind the invoice, "" without one.
func (i *invoiceObject) subscription() string {
	for _, id := range []string{i.Parent.SubscriptionDetails.Subscription.ID, i.Subscription.ID} {
		if id != "" {
			return id
		}
	}
	for _, line := range i.Lines.Data {
		if id := line.Parent.SubscriptionItemDetails.Subscription.ID; id != "" {
			return id
		}
		if line.Subscription.ID != "" {
			return line.Subscription.ID
		}
	}
	return ""
}

// reference is the local id in the subscription's metadata, as the invoice
// remembers them.
func (i *invoiceObject) reference() objectid.ID { return i.named(metaSubscription) }

// named is an id of ours that the subscription's metadata hold.
func (i *invoiceObject) named(key string) objectid.ID {
	all := []metadata{i.Parent.SubscriptionDetails.Metadata, i.SubscriptionDetails.Metadata}
	for _, line := range i.Lines.Data {
		all = append(all, line.Metadata)
	}
	for _, m := range all {
		if id := m.id(key); id != "" {
			return id
		}
	}
	return ""
}

// clientSecret is there only when it was asked for.
func (i *invoiceObject) clientSecret() string {
	if i.ConfirmationSecret.ClientSecret != "" {
		return i.ConfirmationSecret.ClientSecret
	}
	return i.PaymentIntent.ClientSecret
}

// intent is the id of the payment intent, "" when the invoice does not tell it.
func (i *invoiceObject) intent() string {
	for _, p := range i.Payments.Data {
		if p.Payment.PaymentIntent.ID != "" {
			return p.Payment.PaymentIntent.ID
		}
	}
	if i.PaymentIntent.ID != "" {
		return i.PaymentIntent.ID
	}
	id, _, found := strings.Cut(i.ConfirmationSecret.ClientSecret, "_secret_")
	if !found {
		return ""
	}
	return id
}

// payment is keyed by the invoice: invoice.paid does not always tell the payment
// intent, and one money must have one key.
func (i *invoiceObject) payment() *gateway.Payment {
	p := &gateway.Payment{
		ID: i.ID, InvoiceID: i.ID, PaymentIntentID: i.intent(), Method: gateway.MethodCard,
		NativeStatus: i.Status, Amount: money.Cents(i.AmountDue), Status: gateway.PaymentStatusPending,
	}
	switch i.Status {
	case "paid":
		p.Status, p.Amount, p.SettledAt = gateway.PaymentStatusSettled, money.Cents(i.AmountPaid),
			instant(i.StatusTransitions.PaidAt)
	case "void", "uncollectible":
		p.Status = gateway.PaymentStatusGone
	}
	return p
}

// instant turns unix seconds into an instant; 0 is none.
func instant(unix int64) *time.Time {
	if unix <= 0 {
		return nil
	}
	t := time.Unix(unix, 0).UTC()
	return &t
}

// chargeObject is a charge as events and lists give it.
type chargeObject struct {
	ID             string   `json:"id"`
	Amount         int64    `json:"amount"`
	AmountRefunded int64    `json:"amount_refunded"`
	Customer       ref      `json:"customer"`
	PaymentIntent  ref      `json:"payment_intent"`
	Invoice        ref      `json:"invoice"` // older shape
	Created        int64    `json:"created"`
	Metadata       metadata `json:"metadata"`
}

// key is the id by which refunds and disputes are kept: the payment intent, for a
// charge alone its own.
func key(intent, charge string) string {
	if intent != "" {
		return intent
	}
	return charge
}

// purpose is what metadata say that a payment is for, with its local row.
func (m metadata) purpose() (gateway.Purpose, objectid.ID) {
	if id := m.id(metaOrder); id != "" || m[metaKind] == gateway.KindTicketOrder {
		return gateway.ForOrder, id
	}
	if id := m.id(metaSubscription); id != "" {
		return gateway.ForSubscription, id
	}
	return "", ""
}

type refundObject struct {
	ID            string   `json:"id"`
	Amount        int64    `json:"amount"`
	Charge        ref      `json:"charge"`
	PaymentIntent ref      `json:"payment_intent"`
	Status        string   `json:"status"`
	Created       int64    `json:"created"`
	Metadata      metadata `json:"metadata"`
}

type disputeObject struct {
	ID            string `json:"id"`
	Amount        int64  `json:"amount"`
	Charge        ref    `json:"charge"`
	PaymentIntent ref    `json:"payment_intent"`
	Reason        string `json:"reason"`
	Status        string `json:"status"`
	Created       int64  `json:"created"`
	Evidence      struct {
		DueBy     int64 `json:"due_by"` // 0 or null where the bank takes no answer
		SentTimes int   `json:"submission_count"`
	} `json:"evidence_details"`
}

// disputeStates maps the statuses; those of an inquiry begin with warning.
var disputeStates = map[string]gateway.DisputeState{
	"warning_needs_response": gateway.DisputeInquiry,
	"warning_under_review":   gateway.DisputeInquiry,
	"warning_closed":         gateway.DisputeDismissed,
	"prevented":              gateway.DisputeDismissed,
	"needs_response":         gateway.DisputeOpen,
	"under_review":           gateway.DisputeOpen,
	"won":                    gateway.DisputeWon,
	"lost":                   gateway.DisputeLost,
}

func (d *disputeObject) report(at time.Time) gateway.DisputeReport {
	r := gateway.DisputeReport{
		ID: d.ID, PaymentID: key(d.PaymentIntent.ID, d.Charge.ID), ChargeID: d.Charge.ID, Amount: money.Cents(d.Amount),
		Reason: d.Reason,
		State:  disputeStates[d.Status], NativeStatus: d.Status, OpenedAt: at, At: at,
	}
	if r.State == "" {
		r.State = gateway.DisputeOpen // a status that is not known yet is a dispute all the same
	}
	if opened := instant(d.Created); opened != nil {
		r.OpenedAt = *opened
	}
	r.EvidenceDueAt = instant(d.Evidence.DueBy)
	r.EvidenceSent = d.Evidence.SentTimes > 0 || strings.HasSuffix(d.Status, "under_review")
	return r
}
