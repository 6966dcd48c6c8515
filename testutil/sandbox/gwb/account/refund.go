package account

import "time"

// refundFailsAfter is when the refund of the failing test card fails.
const refundFailsAfter = time.Hour

type refund struct {
	ID            string            `json:"id"`
	Created       int64             `json:"created"`
	Amount        int64             `json:"amount"`
	Currency      string            `json:"currency"`
	Charge        string            `json:"charge"`
	Intent        string            `json:"intent"`
	Reason        string            `json:"reason"`
	Status        string            `json:"status"` // pending, succeeded, failed
	FailureReason string            `json:"failure_reason"`
	Metadata      map[string]string `json:"metadata"`
}

var refundRoutes = []route{
	{
		"POST /v1/refunds", "payment_intent charge amount reason metadata metadata.* currency instructions_email",
		createRefund,
	},
	{"GET /v1/refunds", "charge payment_intent" + pageParams, listRefunds},
	{"GET /v1/refunds/{id}", "", func(q *Request) (Object, error) {
		if r := q.ledger.Refunds.Get(q.id); r != nil {
			return r.render(), nil
		}
		return nil, missing("refund", q.id, "id")
	}},
}

func (r *refund) render() Object {
	o := Object{
		"id": r.ID, "object": "refund", "amount": r.Amount, "balance_transaction": "txn" + r.ID[2:], "charge": r.Charge,
		"created":  r.Created,
		"currency": r.Currency,
		"destination_details": Object{
			"card": Object{
				"reference_status": "pending", "reference_type": "acquirer_reference_number",
				"type": "refund",
			}, "type": "card",
		},
		"metadata": metadataOf(r.Metadata), "payment_intent": orNull(r.Intent), "reason": orNull(r.Reason),
		"receipt_number":           nil,
		"source_transfer_reversal": nil, "status": r.Status, "transfer_reversal": nil,
	}
	if r.FailureReason != "" {
		o["failure_reason"] = r.FailureReason
	}
	return o
}

func (l *Ledger) refundsOf(chargeID string) Object {
	rows := []any{}
	for _, r := range l.Refunds.Newest(func(r *refund) bool { return r.Charge == chargeID }) {
		rows = append(rows, r.render())
	}
	return Object{"object": "list", "data": rows, "has_more": false, "url": "/v1/charges/" + chargeID + "/refunds"}
}

// chargeToRefund finds the charge by its id or by its intent.
func (q *Request) chargeToRefund() (*charge, error) {
	id, intentID := q.str("charge"), q.str("payment_intent")
	if id == "" && intentID == "" {
		return nil, invalid("", "parameter_missing",
			"One of the following params should be provided for this request: payment_intent or charge.")
	}
	if intentID != "" {
		p := q.ledger.Intents.Get(intentID)
		if p == nil {
			return nil, unknownReference("payment_intent", intentID, "payment_intent")
		}
		if p.Status != intentSucceeded {
			return nil, unexpectedState("payment_intent_unexpected_state",
				"This PaymentIntent (%s) does not have a successful charge to refund.", p.ID)
		}
		id = p.LatestCharge
	}
	c := q.ledger.Charges.Get(id)
	switch {
	case c == nil:
		return nil, unknownReference("charge", id, "charge")
	case c.Status != ChargeSucceeded:
		return nil, unexpectedState("", "Charge %s has not succeeded.", c.ID)
	case q.ledger.isDisputed(c.ID):
		return nil, unexpectedState("charge_disputed", "Charge %s has been charged back; cannot issue a refund.", c.ID)
	case c.Refunded == c.Amount:
		return nil, unexpectedState("charge_already_refunded", "Charge %s has already been refunded.", c.ID)
	}
	return c, nil
}

func createRefund(q *Request) (Object, error) {
	reason := q.oneOf("reason", "", "duplicate", "fraudulent", "requested_by_customer")
	metadata, amount := q.metadata(nil), q.integer("amount", 0)
	if _, given := q.params["amount"]; given && amount <= 0 {
		q.fail(invalid("amount", "parameter_invalid_integer", "This value must be greater than or equal to 1."))
	}
	if q.err != nil {
		return nil, q.err
	}
	c, err := q.chargeToRefund()
	if err != nil {
		return nil, err
	}
	rest := c.Amount - c.Refunded
	if amount == 0 {
		amount = rest
	}
	if amount > rest {
		return nil, unexpectedState("",
			"Refund amount (R$%d.%02d) is greater than unrefunded amount on charge (R$%d.%02d)", amount/100, amount%100,
			rest/100, rest%100)
	}
	r := &refund{
		ID: NewID("re"), Created: q.ledger.Now(), Amount: amount, Currency: c.Currency, Charge: c.ID, Intent: c.Intent,
		Reason: reason,
		Status: "succeeded", Metadata: metadata,
	}
	if c.Card.Outcome.Refund == "pending" {
		r.Status = "pending"
	}
	q.ledger.Refunds.Put(r.ID, r)
	q.refunded(c, r)
	return r.render(), nil
}

// refunded books a new refund: the charge's sum is cumulative, and its event comes once a refund.
func (o *Op) refunded(c *charge, r *refund) {
	previous := Object{"amount_refunded": c.Refunded, "receipt_url": c.receiptURL(o.ledger.BaseURL, c.Receipts)}
	c.Refunded += r.Amount
	c.Receipts++
	if c.Refunded == c.Amount {
		previous["refunded"] = false
	}
	o.emit("charge.refunded", o.ledger.renderCharge(c, o.ledger.Shape), previous)
	o.EmitAbout("refund.created", r.ID)
	if c.Card.Outcome.Refund == "failed" {
		o.ledger.stage.Clock.At(o.ledger.stage.Clock.Now().Add(refundFailsAfter), JobRefundFail, r.ID)
	}
}

func (o Jobs) failRefundJob(id string) {
	if r := o.ledger.Refunds.Get(id); r != nil && r.Status != "failed" {
		o.FailRefund(r)
	}
}

// FailRefund gives the money back to the merchant: the charge counts it as not refunded again.
func (o *Op) FailRefund(r *refund) {
	r.Status, r.FailureReason = "failed", "expired_or_canceled_card"
	if c := o.ledger.Charges.Get(r.Charge); c != nil {
		c.Refunded -= r.Amount
	}
	o.EmitAbout("charge.refund.updated", r.ID)
	o.EmitAbout("refund.updated", r.ID)
	o.EmitAbout("refund.failed", r.ID)
}

// SucceedRefund has a pending refund arrive.
func (o *Op) SucceedRefund(r *refund) {
	r.Status = "succeeded"
	o.EmitAbout("charge.refund.updated", r.ID)
	o.EmitAbout("refund.updated", r.ID)
}

func listRefunds(q *Request) (Object, error) {
	chargeID, intent := q.str("charge"), q.str("payment_intent")
	all := q.ledger.Refunds.Newest(func(r *refund) bool {
		return (chargeID == "" || r.Charge == chargeID) && (intent == "" || r.Intent == intent)
	})
	return page(q, "/v1/refunds", all, func(r *refund) string { return r.ID },
		func(r *refund) int64 { return r.Created }, (*refund).render)
}
