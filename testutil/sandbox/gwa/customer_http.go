package gwa

import "strings"

// deletedView answers a removal.
type deletedView struct {
	Deleted bool   `json:"deleted"`
	ID      string `json:"id"`
}

func (g *Gateway) postCustomer(r request) (v customerView, err *apiError) {
	var in customerInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	c, err := g.createCustomer(in, r.now)
	if err != nil {
		return v, err
	}
	return c.view(), nil
}

func (g *Gateway) getCustomer(r request) (v customerView, err *apiError) {
	c, ok := g.Customers.Find(r.id())
	if !ok {
		return v, notFound()
	}
	return c.view(), nil
}

func (g *Gateway) putCustomer(r request) (v customerView, err *apiError) {
	c, ok := g.Customers.Find(r.id())
	if !ok || c.Deleted {
		return v, notFound()
	}
	var in customerInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	changed := *c
	if err := in.apply(&changed); err != nil {
		return v, err
	}
	*c = changed
	return c.view(), nil
}

func (g *Gateway) deleteCustomer(r request) (v deletedView, err *apiError) {
	c, ok := g.Customers.Find(r.id())
	if !ok || c.Deleted {
		return v, notFound()
	}
	c.Deleted = true
	return deletedView{true, c.ID}, nil
}

func (g *Gateway) listCustomers(r request) (listView[customerView], *apiError) {
	q := r.URL.Query()
	taxDigits := strings.NewReplacer(".", "", "-", "", "/", "").Replace(q.Get("cpfCnpj"))
	all := g.Customers.Newest(func(c *Customer) bool {
		return included(q, c.Deleted) && (taxDigits == "" || taxDigits == c.CPFCNPJ) &&
			strings.Contains(strings.ToLower(c.Name), strings.ToLower(q.Get("name"))) &&
			match(q, "email", c.Email) && match(q, "externalReference", c.ExternalReference)
	})
	return page(q, all, (*Customer).view)
}
