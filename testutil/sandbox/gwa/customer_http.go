package gwa

import "marquee/testutil/sandbox/gwa/account"

import "strings"

// deletedView answers a removal.
type deletedView struct {
	Deleted bool   `json:"deleted"`
	ID      string `json:"id"`
}

func postCustomer(r request) (v account.CustomerView, err *account.APIError) {
	var in account.CustomerInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	c, err := r.g.ledger.CreateCustomer(in, r.now)
	if err != nil {
		return v, err
	}
	return c.View(), nil
}

func getCustomer(r request) (v account.CustomerView, err *account.APIError) {
	c, ok := r.g.ledger.Customers.Find(r.id())
	if !ok {
		return v, account.NotFound()
	}
	return c.View(), nil
}

func putCustomer(r request) (v account.CustomerView, err *account.APIError) {
	c, ok := r.g.ledger.Customers.Find(r.id())
	if !ok || c.Deleted {
		return v, account.NotFound()
	}
	var in account.CustomerInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	changed := *c
	if err := in.Apply(&changed); err != nil {
		return v, err
	}
	*c = changed
	return c.View(), nil
}

func deleteCustomer(r request) (v deletedView, err *account.APIError) {
	c, ok := r.g.ledger.Customers.Find(r.id())
	if !ok || c.Deleted {
		return v, account.NotFound()
	}
	c.Deleted = true
	return deletedView{true, c.ID}, nil
}

func listCustomers(r request) (listView[account.CustomerView], *account.APIError) {
	q := r.URL.Query()
	taxDigits := strings.NewReplacer(".", "", "-", "", "/", "").Replace(q.Get("cpfCnpj"))
	all := r.g.ledger.Customers.Newest(func(c *account.Customer) bool {
		return included(q, c.Deleted) && (taxDigits == "" || taxDigits == c.CPFCNPJ) &&
			strings.Contains(strings.ToLower(c.Name), strings.ToLower(q.Get("name"))) &&
			match(q, "email", c.Email) && match(q, "externalReference", c.ExternalReference)
	})
	return page(q, all, (*account.Customer).View)
}
