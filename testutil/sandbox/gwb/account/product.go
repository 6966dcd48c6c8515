package account

import (
	"slices"
	"strconv"
)

type product struct {
	ID          string            `json:"id"`
	Created     int64             `json:"created"`
	Updated     int64             `json:"updated"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Active      bool              `json:"active"`
	Metadata    map[string]string `json:"metadata"`
}

type price struct {
	ID        string            `json:"id"`
	Created   int64             `json:"created"`
	Product   string            `json:"product"`
	Currency  string            `json:"currency"`
	Amount    int64             `json:"amount"`
	Interval  string            `json:"interval"` // empty: one-off
	Count     int64             `json:"count"`
	LookupKey string            `json:"lookup_key"`
	Nickname  string            `json:"nickname"`
	Active    bool              `json:"active"`
	Metadata  map[string]string `json:"metadata"`
}

const productParams = " name description active metadata metadata.* default_price images statement_descriptor tax_code unit_label url "

var productRoutes = []route{
	{"POST /v1/products", "id type" + productParams, createProduct},
	{"GET /v1/products", "active ids" + pageParams, listProducts},
	{"GET /v1/products/{id}", "", func(q *Request) (Object, error) {
		if p := q.ledger.Products.Get(q.id); p != nil {
			return p.render(), nil
		}
		return nil, missing("product", q.id, "id")
	}},
	{"POST /v1/products/{id}", productParams, updateProduct},
}

var priceRoutes = []route{
	{
		"POST /v1/prices",
		"product currency unit_amount recurring.interval recurring.interval_count recurring.usage_type lookup_key transfer_lookup_key nickname active metadata metadata.* tax_behavior billing_scheme", createPrice,
	},
	{"GET /v1/prices", "active product lookup_keys type currency" + pageParams, listPrices},
	{"GET /v1/prices/{id}", "", func(q *Request) (Object, error) {
		if p := q.ledger.Prices.Get(q.id); p != nil {
			return p.render(), nil
		}
		return nil, missing("price", q.id, "price")
	}},
	{
		"POST /v1/prices/{id}", "active lookup_key transfer_lookup_key nickname metadata metadata.* tax_behavior",
		updatePrice,
	},
}

func (p *product) render() Object {
	return Object{
		"id": p.ID, "object": "product", "active": p.Active, "created": p.Created, "default_price": nil,
		"description": orNull(p.Description),
		"images":      []any{}, "livemode": false, "marketing_features": []any{}, "metadata": metadataOf(p.Metadata),
		"name":               p.Name,
		"package_dimensions": nil, "shippable": nil, "statement_descriptor": nil, "tax_code": nil, "type": "service",
		"unit_label": nil,
		"updated":    p.Updated, "url": nil,
	}
}

func (p *price) render() Object {
	o := Object{
		"id": p.ID, "object": "price", "active": p.Active, "billing_scheme": "per_unit", "created": p.Created,
		"currency":           p.Currency,
		"custom_unit_amount": nil, "livemode": false, "lookup_key": orNull(p.LookupKey),
		"metadata": metadataOf(p.Metadata),
		"nickname": orNull(p.Nickname), "product": p.Product, "recurring": nil, "tax_behavior": "unspecified",
		"tiers_mode":         nil,
		"transform_quantity": nil, "type": "one_time", "unit_amount": p.Amount,
		"unit_amount_decimal": strconv.FormatInt(p.Amount, 10),
	}
	if p.Interval != "" {
		o["type"] = "recurring"
		o["recurring"] = Object{
			"interval": p.Interval, "interval_count": p.Count, "meter": nil, "trial_period_days": nil,
			"usage_type": "licensed",
		}
	}
	return o
}

func createProduct(q *Request) (Object, error) {
	now := q.ledger.Now()
	p := &product{
		ID: q.str("id"), Created: now, Updated: now, Name: q.need("name"), Description: q.str("description"),
		Active: q.boolean("active", true), Metadata: q.metadata(nil),
	}
	if p.ID == "" {
		p.ID = NewID("prod")
	}
	if q.ledger.Products.Get(p.ID) != nil {
		q.fail(invalid("id", "resource_already_exists", "Product already exists."))
	}
	if q.err != nil {
		return nil, q.err
	}
	q.ledger.Products.Put(p.ID, p)
	q.EmitAbout("product.created", p.ID)
	return p.render(), nil
}

func updateProduct(q *Request) (Object, error) {
	p := q.ledger.Products.Get(q.id)
	if p == nil {
		return nil, missing("product", q.id, "id")
	}
	before, next := p.render(), *p
	next.Metadata, next.Active, next.Updated = q.metadata(p.Metadata), q.boolean("active", p.Active), q.ledger.Now()
	if name := q.str("name"); name != "" {
		next.Name = name
	}
	if text, given := q.params["description"]; given {
		next.Description = text
	}
	if q.err != nil {
		return nil, q.err
	}
	*p = next
	q.emit("product.updated", p.render(), changed(before, p.render()))
	return p.render(), nil
}

func listProducts(q *Request) (Object, error) {
	ids, active := q.params.list("ids"), q.str("active")
	all := q.ledger.Products.Newest(func(p *product) bool {
		return (len(ids) == 0 || slices.Contains(ids, p.ID)) && (active == "" || active == strconv.FormatBool(p.Active))
	})
	return page(q, "/v1/products", all, func(p *product) string { return p.ID },
		func(p *product) int64 { return p.Created }, (*product).render)
}

func createPrice(q *Request) (Object, error) {
	p := &price{
		ID: NewID("price"), Created: q.ledger.Now(), Product: q.need("product"), Currency: q.need("currency"),
		Amount:   q.integer("unit_amount", -1),
		Interval: q.oneOf("recurring.interval", "", "day", "week", "month", "year"),
		Count:    q.integer("recurring.interval_count", 1),
		Nickname: q.str("nickname"), Active: q.boolean("active", true), Metadata: q.metadata(nil),
	}
	if p.Amount < 0 {
		q.need("unit_amount")
		q.fail(invalid("unit_amount", "parameter_invalid_integer", "This value must be greater than or equal to 0."))
	}
	if q.params.has("recurring") && p.Interval == "" {
		q.need("recurring.interval")
	}
	if p.Product != "" && q.ledger.Products.Get(p.Product) == nil {
		q.fail(unknownReference("product", p.Product, "product"))
	}
	q.giveLookupKey(p)
	if q.err != nil {
		return nil, q.err
	}
	q.ledger.Prices.Put(p.ID, p)
	q.EmitAbout("price.created", p.ID)
	return p.render(), nil
}

// giveLookupKey keeps lookup keys unique among active prices; transfer_lookup_key takes it from its holder.
func (q *Request) giveLookupKey(p *price) {
	key, given := q.params["lookup_key"]
	transfer := q.boolean("transfer_lookup_key", false)
	if !given || q.err != nil {
		return
	}
	holders := q.ledger.Prices.Newest(func(o *price) bool {
		return key != "" && o.Active && o.LookupKey == key &&
			o.ID != p.ID
	})
	if len(holders) > 0 && !transfer {
		q.fail(invalid("lookup_key", "resource_already_exists", "A price (`%s`) already uses that lookup key.",
			holders[0].ID))
		return
	}
	for _, h := range holders {
		h.LookupKey = ""
	}
	p.LookupKey = key
}

func updatePrice(q *Request) (Object, error) {
	p := q.ledger.Prices.Get(q.id)
	if p == nil {
		return nil, missing("price", q.id, "price")
	}
	before, next := p.render(), *p
	next.Metadata, next.Active = q.metadata(p.Metadata), q.boolean("active", p.Active)
	if name, given := q.params["nickname"]; given {
		next.Nickname = name
	}
	q.giveLookupKey(&next)
	if q.err != nil {
		return nil, q.err
	}
	*p = next
	q.emit("price.updated", p.render(), changed(before, p.render()))
	return p.render(), nil
}

func listPrices(q *Request) (Object, error) {
	keys, active, product := q.params.list("lookup_keys"), q.str("active"), q.str("product")
	all := q.ledger.Prices.Newest(func(p *price) bool {
		return (len(keys) == 0 || slices.Contains(keys, p.LookupKey)) && (product == "" || p.Product == product) &&
			(active == "" || active == strconv.FormatBool(p.Active))
	})
	return page(q, "/v1/prices", all, func(p *price) string { return p.ID }, func(p *price) int64 { return p.Created },
		(*price).render)
}
