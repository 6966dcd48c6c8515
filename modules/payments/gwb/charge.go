package gwb

import (
	"time"

	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

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
		ID: d.ID, PaymentID: key(d.PaymentIntent.ID, d.Charge.ID), ChargeID: d.Charge.ID, Amount: money.Cents(d.Amount), Reason: d.Reason,
		State: disputeStates[d.Status], NativeStatus: d.Status, OpenedAt: at, At: at,
	}
	if r.State == "" {
		r.State = gateway.DisputeOpen // a status that is not known yet is a dispute all the same
	}
	if opened := instant(d.Created); opened != nil {
		r.OpenedAt = *opened
	}
	return r
}
