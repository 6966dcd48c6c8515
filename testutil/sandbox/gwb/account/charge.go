package account

// Statuses of a charge.
const (
	ChargeSucceeded = "succeeded"
	chargeFailed    = "failed"
)

type charge struct {
	ID             string            `json:"id"`
	Created        int64             `json:"created"`
	Amount         int64             `json:"amount"`
	Refunded       int64             `json:"refunded"` // sum of all refunds that did not fail
	Currency       string            `json:"currency"`
	Customer       string            `json:"customer"`
	Intent         string            `json:"intent"`
	Invoice        string            `json:"invoice"`
	Method         string            `json:"method"`
	Card           paymentMethod     `json:"card"` // as it was when charged
	Description    string            `json:"description"`
	Metadata       map[string]string `json:"metadata"`
	Status         string            `json:"status"`
	FailureCode    string            `json:"failure_code"`
	FailureMessage string            `json:"failure_message"`
	Decline        string            `json:"decline"`
	Disputed       bool              `json:"disputed"`
	Receipts       int               `json:"receipts"`
}

var chargeRoutes = []route{
	{"GET /v1/charges", "customer payment_intent" + pageParams, listCharges},
	{"GET /v1/charges/{id}", "", func(q *Request) (Object, error) {
		if c := q.ledger.Charges.Get(q.id); c != nil {
			return q.ledger.renderCharge(c, Dahlia), nil
		}
		return nil, missing("charge", q.id, "id")
	}},
}

// newCharge is one attempt to take an intent's money. It carries the intent's metadata.
func (o *Op) newCharge(p *PaymentIntent, m *paymentMethod) *charge {
	c := &charge{
		ID: NewID("ch"), Created: o.ledger.Now(), Amount: p.Amount, Currency: p.Currency, Customer: p.Customer,
		Intent: p.ID, Invoice: p.Invoice,
		Method: m.ID, Card: *m, Description: p.Description, Metadata: p.Metadata, Status: ChargeSucceeded,
	}
	if owner := o.ledger.Customers.Get(p.Customer); owner != nil && c.Card.Billing == (billing{}) {
		c.Card.Billing.Name, c.Card.Billing.Email = owner.Name, owner.Email
	}
	o.ledger.Charges.Put(c.ID, c)
	return c
}

func (l *Ledger) renderCharge(c *charge, shape Shape) Object {
	paid := c.Status == ChargeSucceeded
	captured, balance := int64(0), any(nil)
	if paid {
		captured, balance = c.Amount, "txn"+c.ID[2:]
	}
	o := Object{
		"id": c.ID, "object": "charge", "amount": c.Amount, "amount_captured": captured, "amount_refunded": c.Refunded,
		"application":     nil,
		"application_fee": nil, "application_fee_amount": nil, "balance_transaction": balance,
		"billing_details":                 c.Card.Billing.render(),
		"calculated_statement_descriptor": "MARQUEE", "captured": paid, "created": c.Created, "currency": c.Currency,
		"customer": orNull(c.Customer), "description": orNull(c.Description), "disputed": c.Disputed,
		"failure_balance_transaction": nil,
		"failure_code":                orNull(c.FailureCode), "failure_message": orNull(c.FailureMessage),
		"fraud_details": Object{}, "livemode": false,
		"metadata": metadataOf(c.Metadata), "on_behalf_of": nil, "outcome": c.outcome(), "paid": paid,
		"payment_intent": orNull(c.Intent),
		"payment_method": c.Method, "payment_method_details": c.details(), "radar_options": Object{},
		"receipt_email":  nil,
		"receipt_number": nil, "receipt_url": c.receiptURL(l.BaseURL, c.Receipts),
		"refunded": paid && c.Refunded == c.Amount, "review": nil,
		"shipping": nil, "source_transfer": nil, "statement_descriptor": nil, "statement_descriptor_suffix": nil,
		"status":        c.Status,
		"transfer_data": nil, "transfer_group": nil,
	}
	if shape == PreBasil {
		o["invoice"], o["source"], o["order"] = orNull(c.Invoice), nil, nil
	}
	return o
}

func (c *charge) receiptURL(base string, n int) string {
	return base + "/receipts/" + c.ID + "/" + itoa(int64(n))
}

func (c *charge) outcome() Object {
	o := Object{
		"advice_code": nil, "network_advice_code": nil, "network_decline_code": nil,
		"network_status": "approved_by_network", "reason": nil,
		"risk_level": "normal", "risk_score": 12, "seller_message": "Payment complete.", "type": "authorized",
	}
	if c.Status == chargeFailed {
		o["network_status"], o["reason"] = "declined_by_network", orNull(c.Decline)
		o["seller_message"], o["type"] = "The bank did not return any further details with this decline.",
			"issuer_declined"
	}
	return o
}

func (c *charge) details() Object {
	if c.Card.Type == "pix" {
		return Object{"pix": Object{"bank_transaction_id": "E" + c.ID[len(c.ID)-20:]}, "type": "pix"}
	}
	return Object{
		"card": Object{
			"amount_authorized": c.Amount, "brand": c.Card.Brand,
			"checks":  Object{"address_line1_check": nil, "address_postal_code_check": nil, "cvc_check": "pass"},
			"country": "BR", "exp_month": c.Card.ExpMonth, "exp_year": c.Card.ExpYear,
			"fingerprint": c.Card.fingerprint(),
			"funding":     "credit", "last4": c.Card.Last4, "network": c.Card.Brand, "three_d_secure": nil,
			"wallet": nil,
		},
		"type": "card",
	}
}

func listCharges(q *Request) (Object, error) {
	customer, intent := q.str("customer"), q.str("payment_intent")
	all := q.ledger.Charges.Newest(func(c *charge) bool {
		return (customer == "" || c.Customer == customer) && (intent == "" || c.Intent == intent)
	})
	return page(q, "/v1/charges", all, func(c *charge) string { return c.ID },
		func(c *charge) int64 { return c.Created },
		func(c *charge) Object { return q.ledger.renderCharge(c, Dahlia) })
}
