package account

import "strings"

type customer struct {
	ID            string            `json:"id"`
	Created       int64             `json:"created"`
	Name          string            `json:"name"`
	Email         string            `json:"email"`
	Phone         string            `json:"phone"`
	Description   string            `json:"description"`
	Address       map[string]string `json:"address,omitempty"`
	Metadata      map[string]string `json:"metadata"`
	DefaultMethod string            `json:"default_method"`
	InvoicePrefix string            `json:"invoice_prefix"`
	Invoices      int               `json:"invoices"` // numbers given out
	Deleted       bool              `json:"deleted"`
}

const customerParams = " name email phone description metadata metadata.* address.* shipping.* preferred_locales invoice_settings.default_payment_method tax_exempt source "

var customerRoutes = []route{
	{"POST /v1/customers", "payment_method test_clock" + customerParams, createCustomer},
	{"GET /v1/customers", "email" + pageParams, listCustomers},
	{"GET /v1/customers/{id}", "", retrieveCustomer},
	{"POST /v1/customers/{id}", customerParams, updateCustomer},
	{"DELETE /v1/customers/{id}", "", deleteCustomer},
	{"GET /v1/customers/{id}/payment_methods", "type" + pageParams, func(q *Request) (Object, error) {
		if _, err := q.customer(q.id, "customer"); err != nil {
			return nil, missing("customer", q.id, "customer")
		}
		return listMethodsOf(q, q.id)
	}},
}

func (c *customer) render() Object {
	if c.Deleted {
		return Object{"id": c.ID, "object": "customer", "deleted": true}
	}
	var address any
	if len(c.Address) > 0 {
		a := Object{}
		for _, k := range []string{"city", "country", "line1", "line2", "postal_code", "state"} {
			a[k] = orNull(c.Address[k])
		}
		address = a
	}
	return Object{
		"id": c.ID, "object": "customer", "address": address, "balance": 0, "created": c.Created, "currency": nil,
		"default_source": nil, "delinquent": false, "description": orNull(c.Description), "email": orNull(c.Email),
		"invoice_prefix": c.InvoicePrefix,
		"invoice_settings": Object{
			"custom_fields": nil, "default_payment_method": orNull(c.DefaultMethod), "footer": nil,
			"rendering_options": nil,
		},
		"livemode": false, "metadata": metadataOf(c.Metadata), "name": orNull(c.Name),
		"next_invoice_sequence": c.Invoices + 1,
		"phone":                 orNull(c.Phone), "preferred_locales": []any{}, "shipping": nil, "tax_exempt": "none",
		"test_clock": nil,
	}
}

// customer finds a live customer that a parameter names.
func (q *Request) customer(id, param string) (*customer, error) {
	c := q.ledger.Customers.Get(id)
	if c == nil || c.Deleted {
		return nil, unknownReference("customer", id, param)
	}
	return c, nil
}

func createCustomer(q *Request) (Object, error) {
	c := &customer{ID: NewID("cus"), Created: q.ledger.Now(), InvoicePrefix: strings.ToUpper(random(8))}
	if err := q.fillCustomer(c); err != nil {
		return nil, err
	}
	if alias := q.str("payment_method"); alias != "" {
		if _, err := q.attach(alias, c); err != nil {
			return nil, err
		}
	}
	q.ledger.Customers.Put(c.ID, c)
	q.EmitAbout("customer.created", c.ID)
	return c.render(), nil
}

// fillCustomer takes over what was given; an empty value clears.
func (q *Request) fillCustomer(c *customer) error {
	metadata := q.metadata(c.Metadata)
	method, methodGiven := q.params["invoice_settings.default_payment_method"]
	if method != "" {
		if m := q.ledger.PaymentMethods.Get(method); m == nil || m.Customer != c.ID {
			q.fail(unknownReference("PaymentMethod", method, "invoice_settings[default_payment_method]"))
		}
	}
	if email := q.str("email"); email != "" && !strings.Contains(email, "@") {
		q.fail(invalid("email", "email_invalid", "Invalid email address: %s", email))
	}
	if q.err != nil {
		return q.err
	}
	c.Metadata = metadata
	if methodGiven {
		c.DefaultMethod = method
	}
	for path, to := range map[string]*string{
		"name": &c.Name, "email": &c.Email, "phone": &c.Phone, "description": &c.Description,
	} {
		if v, given := q.params[path]; given {
			*to = v
		}
	}
	for path, v := range q.params {
		if key, under := strings.CutPrefix(path, "address."); under {
			if c.Address == nil {
				c.Address = map[string]string{}
			}
			c.Address[key] = v
		}
	}
	return nil
}

func retrieveCustomer(q *Request) (Object, error) {
	if c := q.ledger.Customers.Get(q.id); c != nil {
		return c.render(), nil
	}
	return nil, missing("customer", q.id, "id")
}

func updateCustomer(q *Request) (Object, error) {
	c := q.ledger.Customers.Get(q.id)
	if c == nil || c.Deleted {
		return nil, missing("customer", q.id, "id")
	}
	before := c.render()
	if err := q.fillCustomer(c); err != nil {
		return nil, err
	}
	after := c.render()
	if changes := changed(before, after); len(changes) > 0 {
		q.emit("customer.updated", after, changes)
	}
	return c.render(), nil
}

// deleteCustomer also cancels the customer's subscriptions at once, as the real thing does.
func deleteCustomer(q *Request) (Object, error) {
	c := q.ledger.Customers.Get(q.id)
	if c == nil || c.Deleted {
		return nil, missing("customer", q.id, "id")
	}
	for _, s := range q.ledger.Subscriptions.Newest(func(s *subscription) bool {
		return s.Customer == c.ID &&
			!s.Over()
	}) {
		q.cancelNow(s, "cancellation_requested")
	}
	for _, m := range q.ledger.PaymentMethods.Newest(func(m *paymentMethod) bool { return m.Customer == c.ID }) {
		m.Customer = ""
	}
	q.EmitAbout("customer.deleted", c.ID)
	*c = customer{ID: c.ID, Created: c.Created, Deleted: true}
	return c.render(), nil
}

func listCustomers(q *Request) (Object, error) {
	email := q.str("email")
	all := q.ledger.Customers.Newest(func(c *customer) bool { return !c.Deleted && (email == "" || c.Email == email) })
	return page(q, "/v1/customers", all, func(c *customer) string { return c.ID },
		func(c *customer) int64 { return c.Created }, (*customer).render)
}
