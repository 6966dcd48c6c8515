package account

// Statuses of a dispute.
const (
	disputeNeedsResponse = "needs_response"
	disputeInquiry       = "warning_needs_response"
	disputeWon           = "won"
	disputeLost          = "lost"
	disputeInquiryClosed = "warning_closed"
)

// evidenceSeconds is how long the merchant may answer.
const evidenceSeconds = 7 * 24 * 3600

type dispute struct {
	ID      string `json:"id"`
	Created int64  `json:"created"`
	Amount  int64  `json:"amount"`
	Charge  string `json:"charge"`
	Reason  string `json:"reason"`
	Status  string `json:"status"`
}

var disputeRoutes = []route{
	{"GET /v1/disputes", "charge payment_intent" + pageParams, listDisputes},
	{"GET /v1/disputes/{id}", "", func(q *Request) (Object, error) {
		if d := q.ledger.Disputes.Get(q.id); d != nil {
			return q.ledger.renderDispute(d), nil
		}
		return nil, missing("dispute", q.id, "dispute")
	}},
}

var emptyEvidence = []string{
	"access_activity_log", "billing_address", "cancellation_policy", "cancellation_policy_disclosure",
	"cancellation_rebuttal",
	"customer_communication", "customer_purchase_ip", "customer_signature", "duplicate_charge_documentation",
	"duplicate_charge_explanation", "duplicate_charge_id", "product_description", "receipt", "refund_policy",
	"refund_policy_disclosure",
	"refund_refusal_explanation", "service_date", "service_documentation", "shipping_address", "shipping_carrier",
	"shipping_date",
	"shipping_documentation", "shipping_tracking_number", "uncategorized_file", "uncategorized_text",
}

func (l *Ledger) renderDispute(d *dispute) Object {
	c := l.Charges.Get(d.Charge)
	evidence := Object{
		"customer_email_address": orNull(c.Card.Billing.Email), "customer_name": orNull(c.Card.Billing.Name),
		"enhanced_evidence": Object{},
	}
	for _, k := range emptyEvidence {
		evidence[k] = nil
	}
	kind, brand := "chargeback", c.Card.Brand
	if d.Status == disputeInquiry || d.Status == disputeInquiryClosed {
		kind = "inquiry"
	}
	return Object{
		"id": d.ID, "object": "dispute", "amount": d.Amount, "balance_transactions": []any{}, "charge": d.Charge,
		"created":  d.Created,
		"currency": c.Currency, "enhanced_eligibility_types": []any{}, "evidence": evidence,
		"evidence_details": Object{
			"due_by": d.Created + evidenceSeconds, "enhanced_eligibility": Object{}, "has_evidence": false,
			"past_due": l.Now() > d.Created+evidenceSeconds, "submission_count": 0,
		},
		"is_charge_refundable": d.Status == disputeInquiry, "livemode": false, "metadata": Object{},
		"payment_intent": orNull(c.Intent),
		"payment_method_details": Object{
			"card": Object{"brand": brand, "case_type": kind, "network_reason_code": "10.4"}, "type": "card",
		},
		"reason": d.Reason, "status": d.Status,
	}
}

// OpenDispute takes a charge's money back, or as an inquiry only asks.
func (o *Op) OpenDispute(c *charge, reason string, inquiry bool) *dispute {
	d := &dispute{
		ID: NewID("du"), Created: o.ledger.Now(), Amount: c.Amount - c.Refunded, Charge: c.ID, Reason: reason,
		Status: disputeNeedsResponse,
	}
	if inquiry {
		d.Status = disputeInquiry
	} else {
		c.Disputed = true
	}
	o.ledger.Disputes.Put(d.ID, d)
	o.EmitAbout("charge.dispute.created", d.ID)
	if !inquiry {
		o.EmitAbout("charge.dispute.funds_withdrawn", d.ID)
	}
	return d
}

// CloseDispute decides a dispute; a won one gives the money back.
func (o *Op) CloseDispute(d *dispute, won bool) {
	switch {
	case d.Status == disputeInquiry:
		d.Status = disputeInquiryClosed
	case won:
		d.Status = disputeWon
		o.EmitAbout("charge.dispute.funds_reinstated", d.ID)
	default:
		d.Status = disputeLost
	}
	o.EmitAbout("charge.dispute.closed", d.ID)
}

// Open tells whether it waits for its decision.
func (d *dispute) Open() bool { return d.Status == disputeNeedsResponse || d.Status == disputeInquiry }

// isDisputed reports whether a dispute holds, or took, a charge's money: no refund of it is made then. A charge stays
// disputed after its dispute was won, when its money is back and may be refunded; an inquiry holds nothing.
func (l *Ledger) isDisputed(chargeID string) bool {
	open := l.Disputes.Newest(func(d *dispute) bool {
		return d.Charge == chargeID && (d.Status == disputeNeedsResponse || d.Status == disputeLost)
	})
	return len(open) > 0
}

func (o Jobs) disputeJob(chargeID string) {
	if c := o.ledger.Charges.Get(chargeID); c != nil && !c.Disputed {
		o.OpenDispute(c, "fraudulent", false)
	}
}

func listDisputes(q *Request) (Object, error) {
	chargeID, intent := q.str("charge"), q.str("payment_intent")
	all := q.ledger.Disputes.Newest(func(d *dispute) bool {
		return (chargeID == "" || d.Charge == chargeID) &&
			(intent == "" || q.ledger.Charges.Get(d.Charge).Intent == intent)
	})
	return page(q, "/v1/disputes", all, func(d *dispute) string { return d.ID },
		func(d *dispute) int64 { return d.Created }, q.ledger.renderDispute)
}
