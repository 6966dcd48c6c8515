package account

// Durations of a coupon: the next invoice alone, or all of them.
const (
	couponOnce    = "once"
	couponForever = "forever"
)

// coupon takes an amount off a subscription's invoices.
type coupon struct {
	ID             string            `json:"id"`
	Created        int64             `json:"created"`
	AmountOff      int64             `json:"amount_off"`
	Currency       string            `json:"currency"`
	Duration       string            `json:"duration"`
	Name           string            `json:"name"`
	MaxRedemptions int64             `json:"max_redemptions"` // 0: no limit
	Redeemed       int64             `json:"redeemed"`
	Metadata       map[string]string `json:"metadata"`
}

// discount is a coupon on a subscription.
type discount struct {
	ID     string `json:"id"`
	Coupon string `json:"coupon"`
}

var couponRoutes = []route{
	{"POST /v1/coupons", "id amount_off currency duration name max_redemptions metadata metadata.*", createCoupon},
	{"GET /v1/coupons/{id}", "", func(q *Request) (Object, error) {
		if c := q.ledger.Coupons.Get(q.id); c != nil {
			return c.render(), nil
		}
		return nil, missing("coupon", q.id, "coupon")
	}},
}

func (c *coupon) usedUp() bool { return c.MaxRedemptions > 0 && c.Redeemed >= c.MaxRedemptions }

func (c *coupon) render() Object {
	var most any
	if c.MaxRedemptions > 0 {
		most = c.MaxRedemptions
	}
	return Object{
		"id": c.ID, "object": "coupon", "amount_off": c.AmountOff, "created": c.Created, "currency": c.Currency,
		"duration":           c.Duration,
		"duration_in_months": nil, "livemode": false, "max_redemptions": most, "metadata": metadataOf(c.Metadata),
		"name":        orNull(c.Name),
		"percent_off": nil, "redeem_by": nil, "times_redeemed": c.Redeemed, "valid": !c.usedUp(),
	}
}

func createCoupon(q *Request) (Object, error) {
	c := &coupon{
		ID: q.str("id"), Created: q.ledger.Now(), AmountOff: q.integer("amount_off", 0), Currency: q.need("currency"),
		Duration: q.oneOf("duration", couponOnce, couponOnce, couponForever), Name: q.str("name"),
		MaxRedemptions: q.integer("max_redemptions", 0), Metadata: q.metadata(nil),
	}
	if c.ID == "" {
		c.ID = NewID("coupon")
	}
	q.need("amount_off")
	if c.AmountOff < 1 {
		q.fail(invalid("amount_off", "parameter_invalid_integer", "This value must be greater than or equal to 1."))
	}
	if q.ledger.Coupons.Get(c.ID) != nil {
		q.fail(invalid("id", "resource_already_exists", "Coupon already exists."))
	}
	if q.err != nil {
		return nil, q.err
	}
	q.ledger.Coupons.Put(c.ID, c)
	q.emit("coupon.created", c.render(), nil)
	return c.render(), nil
}

// readDiscount reads the one coupon that a new subscription may name.
func (q *Request) readDiscount(s *subscription) {
	id := q.str("discounts.0.coupon")
	if id == "" || q.err != nil {
		return
	}
	c, param := q.ledger.Coupons.Get(id), bracketed("discounts.0.coupon")
	switch {
	case q.params.has("discounts.1"):
		q.fail(invalid("discounts", "", "The sandbox knows one discount a subscription."))
	case c == nil:
		q.fail(unknownReference("coupon", id, param))
	case c.usedUp():
		q.fail(invalid(param, "coupon_expired", "Coupon %s is used up and cannot be applied.", id))
	case c.Currency != s.Currency:
		q.fail(invalid(param, "", "The coupon's currency (%s) is not that of the subscription (%s).", c.Currency,
			s.Currency))
	default:
		s.Discount = &discount{ID: NewID("di"), Coupon: id}
	}
}

// redeem counts the use of a new subscription's coupon.
func (o *Op) redeem(s *subscription) {
	if s.Discount != nil {
		o.ledger.Coupons.Get(s.Discount.Coupon).Redeemed++
	}
}

// off is what the subscription's coupon takes off so much, which it never exceeds.
func (l *Ledger) off(s *subscription, amount int64) int64 {
	if s.Discount == nil {
		return 0
	}
	return min(amount, l.Coupons.Get(s.Discount.Coupon).AmountOff)
}

// discountInvoice takes the coupon off a new invoice; one for once is used by it.
func (l *Ledger) discountInvoice(s *subscription, inv *invoice) {
	if s.Discount == nil {
		return
	}
	inv.Discount, inv.AmountOff = s.Discount.ID, l.off(s, inv.AmountDue)
	inv.AmountDue -= inv.AmountOff
	left := inv.AmountOff
	for i := range inv.Lines {
		inv.Lines[i].Off = min(left, inv.Lines[i].Amount)
		left -= inv.Lines[i].Off
	}
	if l.Coupons.Get(s.Discount.Coupon).Duration == couponOnce {
		s.Discount = nil
	}
}

func (s *subscription) discounts() []any {
	if s.Discount == nil {
		return []any{}
	}
	return []any{s.Discount.ID}
}

func (inv *invoice) discounts() []any {
	if inv.Discount == "" {
		return []any{}
	}
	return []any{inv.Discount}
}

// discountAmounts tells how much of an amount the invoice's discount took.
func (inv *invoice) discountAmounts(off int64) []any {
	if inv.Discount == "" {
		return []any{}
	}
	return []any{Object{"amount": off, "discount": inv.Discount}}
}
