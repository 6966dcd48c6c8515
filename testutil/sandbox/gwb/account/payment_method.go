package account

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// paymentMethod is a card or a PIX payer. Of a card's number only the last four digits and the outcome are known.
type paymentMethod struct {
	ID       string            `json:"id"`
	Created  int64             `json:"created"`
	Type     string            `json:"type"` // card, pix
	Customer string            `json:"customer"`
	Brand    string            `json:"brand"`
	Last4    string            `json:"last4"`
	ExpMonth int64             `json:"exp_month"`
	ExpYear  int64             `json:"exp_year"`
	Outcome  Outcome           `json:"outcome"`
	SetUp    bool              `json:"set_up"` // authenticated for later use
	Billing  billing           `json:"billing"`
	Metadata map[string]string `json:"metadata"`
}

type billing struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Phone string `json:"phone"`
	TaxID string `json:"tax_id"`
}

const billingParams = " billing_details.name billing_details.email billing_details.phone billing_details.tax_id billing_details.address.* metadata metadata.* "

var paymentMethodRoutes = []route{
	{
		"POST /v1/payment_methods",
		"type card.number card.exp_month card.exp_year card.cvc card.token pix pix.* allow_redisplay" + billingParams,
		createMethod,
	},
	{
		"GET /v1/payment_methods", "customer type" + pageParams,
		func(q *Request) (Object, error) { return listMethodsOf(q, q.str("customer")) },
	},
	{"GET /v1/payment_methods/{id}", "", func(q *Request) (Object, error) {
		m, err := q.method(q.id)
		if err != nil {
			return nil, missing("PaymentMethod", q.id, "payment_method")
		}
		return m.render(), nil
	}},
	{"POST /v1/payment_methods/{id}", "card.exp_month card.exp_year allow_redisplay" + billingParams, updateMethod},
	{"POST /v1/payment_methods/{id}/attach", "customer", attachMethod},
	{"POST /v1/payment_methods/{id}/detach", "", detachMethod},
}

func (b billing) render() Object {
	return Object{
		"address": Object{"city": nil, "country": "BR", "line1": nil, "line2": nil, "postal_code": nil, "state": nil},
		"email":   orNull(b.Email), "name": orNull(b.Name), "phone": orNull(b.Phone), "tax_id": orNull(b.TaxID),
	}
}

func (m *paymentMethod) render() Object {
	o := Object{
		"id": m.ID, "object": "payment_method", "allow_redisplay": "unspecified", "billing_details": m.Billing.render(),
		"created": m.Created, "customer": orNull(m.Customer), "livemode": false, "metadata": metadataOf(m.Metadata),
		"type": m.Type,
	}
	if m.Type == "pix" {
		o["pix"] = Object{}
		return o
	}
	o["card"] = Object{
		"brand": m.Brand, "checks": Object{
			"address_line1_check": nil, "address_postal_code_check": nil, "cvc_check": "pass",
		},
		"country": "BR", "display_brand": m.Brand, "exp_month": m.ExpMonth, "exp_year": m.ExpYear,
		"fingerprint": m.fingerprint(),
		"funding":     "credit", "generated_from": nil, "last4": m.Last4,
		"networks":             Object{"available": []any{m.Brand}, "preferred": nil},
		"three_d_secure_usage": Object{"supported": true}, "wallet": nil,
	}
	return o
}

func (m *paymentMethod) fingerprint() string { return "Sandbox" + m.Brand + m.Last4 }

func newCard(c testCard, now int64) *paymentMethod {
	return &paymentMethod{
		ID: NewID("pm"), Created: now, Type: "card", Brand: c.brand, Last4: c.number[len(c.number)-4:],
		ExpMonth: 4, ExpYear: 2035, Outcome: c.Outcome,
	}
}

// method finds a payment method; the ids of the shared test cards make a new one each time.
func (q *Request) method(id string) (*paymentMethod, error) {
	if c, shared := CardByAlias(id); shared {
		m := newCard(c, q.ledger.Now())
		q.ledger.PaymentMethods.Put(m.ID, m)
		return m, nil
	}
	if m := q.ledger.PaymentMethods.Get(id); m != nil {
		return m, nil
	}
	return nil, unknownReference("PaymentMethod", id, "payment_method")
}

// attach asks the issuer and gives the method to the customer. Repeating it is allowed, taking another's is not.
func (q *Request) attach(id string, c *customer) (*paymentMethod, error) {
	m, err := q.method(id)
	switch {
	case err != nil:
		return nil, err
	case m.Customer == c.ID:
		return m, nil
	case m.Customer != "":
		return nil, invalid("", "payment_method_unexpected_state",
			"The payment method you provided has already been attached to a customer.")
	case m.Outcome.Attach != "":
		return nil, declineOf(m.Outcome.Attach)
	}
	m.Customer = c.ID
	q.EmitAbout("payment_method.attached", m.ID)
	return m, nil
}

func attachMethod(q *Request) (Object, error) {
	id := q.need("customer")
	if q.err != nil {
		return nil, q.err
	}
	c, err := q.customer(id, "customer")
	if err != nil {
		return nil, err
	}
	m, err := q.attach(q.id, c)
	if err != nil {
		var e *APIError
		if errors.As(err, &e) && e.Code == "resource_missing" {
			e.Status = http.StatusNotFound
		}
		return nil, err
	}
	return m.render(), nil
}

func detachMethod(q *Request) (Object, error) {
	m := q.ledger.PaymentMethods.Get(q.id)
	if m == nil {
		return nil, missing("PaymentMethod", q.id, "payment_method")
	}
	if m.Customer == "" {
		return nil, unexpectedState("payment_method_unexpected_state",
			"The payment method you provided is not attached to a customer so detachment is impossible.")
	}
	if c := q.ledger.Customers.Get(m.Customer); c != nil && c.DefaultMethod == m.ID {
		c.DefaultMethod = ""
	}
	m.Customer = ""
	q.EmitAbout("payment_method.detached", m.ID)
	return m.render(), nil
}

func createMethod(q *Request) (Object, error) {
	kind := q.oneOf("type", "", "card", "pix")
	metadata := q.metadata(nil)
	month, year := q.integer("card.exp_month", 4), q.integer("card.exp_year", 2035)
	if kind == "" {
		q.need("type")
	}
	if q.err != nil {
		return nil, q.err
	}
	if kind == "pix" {
		m := &paymentMethod{
			ID: NewID("pm"), Created: q.ledger.Now(), Type: kind, Billing: q.billing("billing_details"),
			Metadata: metadata,
		}
		q.ledger.PaymentMethods.Put(m.ID, m)
		return m.render(), nil
	}
	m, err := q.ledger.Mint(Card{
		Number: q.str("card.number"), Token: q.str("card.token"), ExpMonth: month, ExpYear: year,
	})
	if err != nil {
		return nil, err
	}
	m.Billing, m.Metadata = q.billing("billing_details"), metadata
	return m.render(), nil
}

func updateMethod(q *Request) (Object, error) {
	m := q.ledger.PaymentMethods.Get(q.id)
	if m == nil {
		return nil, missing("PaymentMethod", q.id, "payment_method")
	}
	metadata := q.metadata(m.Metadata)
	month, year := q.integer("card.exp_month", m.ExpMonth), q.integer("card.exp_year", m.ExpYear)
	if q.err != nil {
		return nil, q.err
	}
	m.Metadata, m.ExpMonth, m.ExpYear = metadata, month, year
	if q.params.has("billing_details") {
		m.Billing = q.billing("billing_details")
	}
	return m.render(), nil
}

func (q *Request) billing(path string) billing {
	return billing{
		Name: q.str(path + ".name"), Email: q.str(path + ".email"), Phone: q.str(path + ".phone"),
		TaxID: q.str(path + ".tax_id"),
	}
}

func listMethodsOf(q *Request, customerID string) (Object, error) {
	kind := q.str("type")
	all := q.ledger.PaymentMethods.Newest(func(m *paymentMethod) bool {
		return customerID != "" && m.Customer == customerID && (kind == "" || m.Type == kind)
	})
	return page(q, "/v1/payment_methods", all, func(m *paymentMethod) string { return m.ID },
		func(m *paymentMethod) int64 { return m.Created }, (*paymentMethod).render)
}

// Card is what a browser would send to have a payment method made. Exactly one of Number and Token is used.
type Card struct {
	Number   string `json:"number"` // one of the public test numbers; blanks are ignored
	Token    string `json:"-"`      // "tok_visa" and the like
	ExpMonth int64  `json:"exp_month"`
	ExpYear  int64  `json:"exp_year"`
	CVC      string `json:"cvc"`
}

// String hides the number and the code.
func (Card) String() string { return "[card]" }

// GoString hides the number and the code.
func (Card) GoString() string { return "[card]" }

// Mint makes a payment method of a test card. Any other number is declined, as in the real test mode.
func (l *Ledger) Mint(c Card) (*paymentMethod, error) {
	number := strings.NewReplacer(" ", "", "-", "").Replace(c.Number)
	test, known := cardByNumber(number)
	if name, isToken := strings.CutPrefix(c.Token, "tok_"); isToken {
		test, known = CardByAlias("pm_card_" + name)
	}
	if !known {
		e := declineOf("test_mode_live_card")
		e.Message = "Your card was declined. Your request was in test mode, but used a non test card."
		return nil, e
	}
	m := newCard(test, l.Now())
	if c.ExpMonth != 0 || c.ExpYear != 0 {
		if c.ExpMonth < 1 || c.ExpMonth > 12 {
			return nil, invalid("exp_month", "invalid_expiry_month", "Your card's expiration month is invalid: %s.",
				strconv.FormatInt(c.ExpMonth, 10))
		}
		m.ExpMonth, m.ExpYear = c.ExpMonth, c.ExpYear
	}
	l.PaymentMethods.Put(m.ID, m)
	return m, nil
}
