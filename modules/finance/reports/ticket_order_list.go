package reports

import (
	"marquee/platform/query"
	"marquee/platform/resource"
)

// TicketOrders is the collection of ticket orders, of the store and the box office (docs/contract/tickets.md, The
// store). Money in reais, as in GET /admin/ticket-orders/{id}.
var TicketOrders = resource.New(resource.Definition{
	Name: "ticket orders", Singular: "Order", Schema: "ListedOrder", Table: "tickets.orders",
	From:            `tickets.orders t JOIN tickets.events e ON e.id = t.event_id LEFT JOIN tickets.customers c ON c.id = t.customer_id`,
	CreatedByColumn: "sold_by_id", CreatedColumn: "created_at", UpdatedColumn: "updated_at",
	DefaultSort: `{"created_at":-1}`,
	Fields: []resource.Field{
		{Name: "event_id", Kind: query.OID, Write: resource.ReadOnly},
		{Name: "event_title", Expr: "e.title", Kind: query.String, Write: resource.ReadOnly},
		{
			Name: "customer_id", Kind: query.OID, Write: resource.ReadOnly,
			Doc: "Stays when the account is deleted; nobody's account of the box office",
		},
		{
			Name: "customer_name", Expr: "coalesce(c.name, '')", Kind: query.String, Write: resource.ReadOnly,
			Doc: "Empty where it is not known any more",
		},
		{Name: "customer_email", Expr: "coalesce(c.email, '')", Kind: query.String, Write: resource.ReadOnly},
		{Name: "quantity", Kind: query.Int, Write: resource.ReadOnly},
		{Name: "unit_price", Column: "unit_price_cents", Kind: query.Cents, Write: resource.ReadOnly, Doc: "Reais"},
		{Name: "total", Column: "total_cents", Kind: query.Cents, Write: resource.ReadOnly, Doc: "Reais"},
		{
			Name: "refunded", Kind: query.Cents, Write: resource.ReadOnly, Doc: "Reais: what of it was given back",
			Expr: `(SELECT coalesce(sum(r.amount_cents), 0)::bigint FROM payments.refunds r WHERE r.purpose = 'order' AND r.local_id = t.id
				AND r.status = 'done' AND r.payment_ref = coalesce(t.gateway_payment_id, t.id))`,
		},
		{
			Name: "gateway", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"gwa", "gwb"}}, Doc: "Null for a free event and of the box office",
		},
		{
			Name: "payment_method", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"credit_card", "pix", "cash", "card_machine", "courtesy"}},
			Doc:  "Null for a free event",
		},
		{Name: "payment_status", Kind: query.String, Write: resource.ReadOnly, Doc: "The gateway's own word"},
		{
			Name: "state", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"reserved", "paid", "released", "refund_due", "refunded", "lost"}},
			Doc:  "reserved: its places wait for the money; released: they are free again; refund_due: it goes back; lost: to a dispute",
		},
		{Name: "without_login", Kind: query.Bool, Write: resource.ReadOnly},
		{
			Name: "sold_by", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "Of the box office: who sold it, by the username of that time",
		},
		{Name: "paid_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
		{
			Name: "disputed_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly,
			Doc: "Since when a dispute closes the door to its tickets",
		},
		{Name: "created_at", Kind: query.Date, Write: resource.ReadOnly},
	},
})
