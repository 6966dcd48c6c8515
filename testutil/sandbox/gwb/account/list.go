package account

import "strings"

// pageParams are the parameters of every list.
const pageParams = " limit starting_after ending_before created created.gt created.gte created.lt created.lte "

// page answers a list, newest first, as {object: "list", data, has_more, url}.
func page[T any](q *Request, url string, all []*T, id func(*T) string, created func(*T) int64,
	render func(*T) Object,
) (Object, error) {
	limit := q.integer("limit", 10)
	lower, upper := q.createdRange()
	if q.err != nil {
		return nil, q.err
	}
	if limit < 1 || limit > 100 {
		return nil, invalid("limit", "parameter_invalid_integer", "This value must be between 1 and 100.")
	}
	within := all[:0:0]
	for _, v := range all {
		if at := created(v); at >= lower && at <= upper {
			within = append(within, v)
		}
	}
	after, before := q.str("starting_after"), q.str("ending_before")
	from, to := 0, len(within)
	for i, v := range within {
		if id(v) == after {
			from = i + 1
		}
		if id(v) == before {
			to = i
			from = max(0, to-int(limit))
		}
	}
	if after != "" && from == 0 {
		return nil, invalid("starting_after", "resource_missing", "No such object: '%s'", after)
	}
	rows, more := []any{}, false
	for _, v := range within[from:to] {
		if len(rows) == int(limit) {
			more = true
			break
		}
		rows = append(rows, render(v))
	}
	return Object{"object": "list", "data": rows, "has_more": more || before != "" && from > 0, "url": url}, nil
}

// createdRange reads created, created[gt|gte|lt|lte] as inclusive bounds.
func (q *Request) createdRange() (lower, upper int64) {
	const forever = 1 << 62
	if at := q.integer("created", 0); at != 0 {
		return at, at
	}
	lower = max(q.integer("created.gte", 0), q.integer("created.gt", -1)+1)
	upper = min(q.integer("created.lte", forever), q.integer("created.lt", forever)-1)
	return lower, upper
}

// wholeList is a list inside an object.
func wholeList(url string, rows []any) Object {
	return Object{"object": "list", "data": rows, "has_more": false, "total_count": len(rows), "url": url}
}

const expandDepth = 4

func checkDepth(paths []string) *APIError {
	for _, p := range paths {
		if strings.Count(p, ".")+1 > expandDepth {
			return invalid("expand", "property_expansion_max_depth",
				"You cannot expand more than %d levels of a property. Property: %s", expandDepth, p)
		}
	}
	return nil
}

func (l *Ledger) expandAll(o Object, paths []string) error {
	for _, p := range paths {
		if err := l.expand(o, strings.Split(p, "."), p); err != nil {
			return err
		}
	}
	return nil
}

// expand replaces the id at the path by its object, and adds the parts that are only there when asked for.
func (l *Ledger) expand(o Object, path []string, whole string) error {
	name := path[0]
	if name == "data" {
		rows, _ := o["data"].([]any)
		for _, row := range rows {
			if child, ok := row.(Object); ok && len(path) > 1 {
				if err := l.expand(child, path[1:], whole); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if _, present := o[name]; !present {
		part := l.onDemand(o, name)
		if part == nil {
			return invalid("expand", "", "This property cannot be expanded (%s).", whole)
		}
		o[name] = part()
	}
	if id, isID := o[name].(string); isID {
		resolved := l.resolve(name, id)
		if resolved == nil {
			return invalid("expand", "", "This property cannot be expanded (%s).", whole)
		}
		o[name] = resolved
	}
	child, isObject := o[name].(Object)
	if !isObject || len(path) == 1 {
		return nil // null stays null
	}
	return l.expand(child, path[1:], whole)
}

// onDemand are the includable parts: absent from an object until expanded.
func (l *Ledger) onDemand(o Object, name string) func() any {
	id, _ := o["id"].(string)
	switch {
	case o["object"] == "invoice" && name == "payments":
		return func() any { return l.paymentsOf(l.Invoices.Get(id)) }
	case o["object"] == "invoice" && name == "confirmation_secret":
		return func() any { return l.confirmationSecret(l.Invoices.Get(id)) }
	case o["object"] == "charge" && name == "refunds":
		return func() any { return l.refundsOf(id) }
	}
	return nil
}

// resolve renders the object that an expandable field points to, nil when the field is not expandable.
func (l *Ledger) resolve(field, id string) Object {
	switch field {
	case "customer", "default_payment_method", "latest_invoice", "payment_intent", "charge", "latest_charge", "invoice",
		"subscription", "product", "price", "payment_method":
		return l.Render(id, Dahlia)
	}
	return nil
}

// Render shows any object by its id; the kind is told by the id's prefix, or for products with ids of their own by
// looking.
func (l *Ledger) Render(id string, s Shape) Object {
	d := &l.data
	if v := d.Products.Get(id); v != nil {
		return v.render()
	}
	prefix, _, _ := strings.Cut(id, "_")
	switch prefix {
	case "cus":
		return listed(d.Customers.Get(id), (*customer).render)
	case "pm":
		return listed(d.PaymentMethods.Get(id), (*paymentMethod).render)
	case "seti":
		return listed(d.SetupIntents.Get(id), (*SetupIntent).render)
	case "price":
		return listed(d.Prices.Get(id), (*price).render)
	case "sub":
		return listed(d.Subscriptions.Get(id), func(v *subscription) Object { return l.renderSubscription(v, s) })
	case "in":
		return listed(d.Invoices.Get(id), func(v *invoice) Object { return l.renderInvoice(v, s) })
	case "pi":
		return listed(d.Intents.Get(id), func(v *PaymentIntent) Object { return l.renderIntent(v, s) })
	case "ch":
		return listed(d.Charges.Get(id), func(v *charge) Object { return l.renderCharge(v, s) })
	case "re":
		return listed(d.Refunds.Get(id), (*refund).render)
	case "du":
		return listed(d.Disputes.Get(id), func(v *dispute) Object { return l.renderDispute(v) })
	}
	return nil
}

func listed[T any](v *T, render func(*T) Object) Object {
	if v == nil {
		return nil
	}
	return render(v)
}
