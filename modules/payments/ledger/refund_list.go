package ledger

import (
	"slices"

	"marquee/platform/query"
	"marquee/platform/resource"
)

// Refunds is the collection of what was given back, or is to be (docs/contract/payments.md, Refunds), as the ledger has
// it. Amounts are cents.
var Refunds = resource.New(resource.Definition{
	Name: "refunds", Singular: "Refund", Table: "payments.refunds",
	CreatedByColumn: "admin_id", CreatedColumn: "created_at", UpdatedColumn: "updated_at",
	DefaultSort: `{"requested_at":-1}`,
	Fields: append([]resource.Field{
		{
			Name: "status", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"requested", "pending", "done", "failed"}},
			Doc:  "requested: the gateway is asked; pending: it is at it; done: the money is given back; failed: it is not",
		},
		{
			Name: "kind", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"refund", "med", "by_hand"}},
			Doc:  "med: the payer's bank took a part of a PIX back; by_hand: staff handed it back at the box office",
		},
		{
			Name: "source", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"admin", "platform", "gateway"}},
			Doc:  "admin: asked for here by an admin; platform: by itself, or because a customer withdrew; gateway: learned from it",
		},
		{
			Name: "payment_id", Column: "payment_ref", Kind: query.String, Write: resource.ReadOnly,
			Doc: "Gateway A: pay_…; gateway B: the payment intent pi_…, else the charge; by hand: the order",
		},
		{
			Name: "gateway_refund_id", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "Gateway B: re_…, once known; gateway A gives none",
		},
		{Name: "reason", Kind: query.String, Nullable: true, Write: resource.ReadOnly},
		{Name: "failure", Kind: query.String, Nullable: true, Write: resource.ReadOnly, Doc: "Why it failed"},
		{Name: "requested_at", Kind: query.Date, Write: resource.ReadOnly},
		{Name: "refunded_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
	}, refundMoneyFields()...),
})

// refundMoneyFields are moneyFields, but that what was handed back at the box office has no gateway.
func refundMoneyFields() []resource.Field {
	fields := slices.Clone(moneyFields)
	fields[0].Nullable, fields[0].Doc = true, "gwa or gwb; null of what was handed back at the box office"
	return fields
}
