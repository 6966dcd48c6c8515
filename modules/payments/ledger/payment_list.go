package ledger

import (
	"marquee/platform/query"
	"marquee/platform/resource"
)

// Payments is the collection of settled payments (docs/contract/payments.md, Refunds), of both gateways. Amounts are
// cents; what was given back of them is in Refunds.
var Payments = resource.New(resource.Definition{
	Name: "payments", Singular: "Payment", Table: "payments.payments", From: withoutCreator("payments.payments"),
	CreatedColumn: "created_at", UpdatedColumn: "updated_at",
	DefaultSort: `{"paid_at":-1}`,
	Fields: append([]resource.Field{
		{
			Name: "payment_method", Column: "method", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"credit_card", "pix", "boleto"}},
		},
		{Name: "status", Column: "native_status", Kind: query.String, Write: resource.ReadOnly, Doc: "The gateway's own word"},
		{
			Name: "gateway_payment_id", Kind: query.String, Write: resource.ReadOnly,
			Doc: "Gateway A: pay_…; gateway B: the invoice in_…, else the payment intent pi_…",
		},
		{Name: "paid_at", Column: "settled_at", Kind: query.Date, Write: resource.ReadOnly},
	}, moneyFields...),
})

// Disputes is the collection of disputes of payments (docs/contract/payments.md, Refunds), those that an admin entered
// among them. Amounts are cents.
var Disputes = resource.New(resource.Definition{
	Name: "disputes", Singular: "Dispute", Table: "payments.disputes", From: withoutCreator("payments.disputes"),
	CreatedColumn: "created_at", UpdatedColumn: "updated_at",
	DefaultSort: `{"opened_at":-1}`,
	Fields: append([]resource.Field{
		{
			Name: "state", Kind: query.String, Write: resource.ReadOnly,
			Rule: resource.Rule{Enum: []string{"inquiry", "open", "won", "lost", "dismissed", "withdrawn"}},
			Doc:  "inquiry: no money has moved; open: the money is taken; won: it came back; dismissed: an inquiry that came to nothing; withdrawn: entered by mistake",
		},
		{
			Name: "kind", Kind: query.String, Write: resource.ReadOnly, Rule: resource.Rule{Enum: []string{"chargeback", "med"}},
			Doc: "med: the payer's bank took a PIX back",
		},
		{
			Name: "payment_id", Column: "payment_ref", Kind: query.String, Write: resource.ReadOnly,
			Doc: "Gateway A: pay_…; gateway B: the payment intent pi_…, else the charge",
		},
		{Name: "gateway_dispute_id", Kind: query.String, Write: resource.ReadOnly, Doc: "CHARGEBACK-… of one that an admin entered"},
		{
			Name: "status", Column: "native_status", Kind: query.String, Write: resource.ReadOnly,
			Doc: "The gateway's own word; reported_by_admin of one that an admin entered",
		},
		{Name: "reason", Kind: query.String, Nullable: true, Write: resource.ReadOnly},
		{Name: "opened_at", Kind: query.Date, Write: resource.ReadOnly},
		{Name: "closed_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
		{
			Name: "evidence_due_at", Kind: query.Date, Nullable: true, NullsEnd: true, Write: resource.ReadOnly,
			Doc: "Until when the gateway takes an answer; null where it tells none (gateway A) or takes none",
		},
		{Name: "evidence_sent", Kind: query.Bool, Write: resource.ReadOnly, Doc: "The gateway says that it was answered"},
	}, moneyFields...),
})

// withoutCreator reads a table that gateways fill: nobody here has created its rows.
func withoutCreator(table string) string {
	return "(SELECT *, NULL::platform.object_id AS document_created_by_id FROM " + table + ") t"
}

// moneyFields are what each row of the ledger has: whose money it is, and how much.
var moneyFields = []resource.Field{
	{
		Name: "gateway", Kind: query.String, Write: resource.ReadOnly, Doc: "gwa or gwb",
		Rule: resource.Rule{Enum: []string{"gwa", "gwb"}},
	},
	{Name: "amount", Column: "amount_cents", Kind: query.Int, Write: resource.ReadOnly, Doc: "Cents"},
	{
		Name: "purpose", Kind: query.String, Write: resource.ReadOnly,
		Rule: resource.Rule{Enum: []string{"subscription", "order", "customer"}},
	},
	{
		Name: "local_id", Kind: query.OID, Write: resource.ReadOnly,
		Doc: "Of the subscription, the order or, of neither, the customer",
	},
	{Name: "customer_id", Kind: query.OID, Write: resource.ReadOnly},
}
