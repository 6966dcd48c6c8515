package ledger

import (
	"marquee/platform/collection"
	"marquee/platform/query"
)

// UnappliedPayments is the collection of money that gave nobody anything
// (open-shapes, section 5, number 3). Amounts are cents.
var UnappliedPayments = collection.New(collection.Definition{
	Name: "unapplied-payments", Singular: "Unapplied payment", Table: "payments.unapplied_payments",
	From: `(SELECT u.*, NULL::platform.object_id AS document_created_by_id, u.created_at AS register_date, u.updated_at AS register_update_date
		FROM payments.unapplied_payments u) t`,
	DefaultSort: `{"register_date":-1}`,
	Fields: []collection.Field{
		{Name: "kind", Kind: query.String, Write: collection.Kept, Rule: collection.Rule{Enum: []string{"late", "duplicate", "foreign", "unrefundable", "unknown"}},
			Doc: "late: for a row that has ended; duplicate: a second payment; foreign: of a recurrence that no row owns; unrefundable: a refund failed; unknown: an answer not known, or money that nobody can place"},
		{Name: "gateway", Kind: query.String, Write: collection.Kept, Doc: "gwa or gwb", Rule: collection.Rule{Enum: []string{"gwa", "gwb"}}},
		{Name: "gateway_payment_id", Kind: query.String, Nullable: true, Write: collection.Kept, Doc: "Gateway A: pay_…; gateway B: the invoice in_…, else the payment intent pi_…"},
		{Name: "amount", Column: "amount_cents", Kind: query.Int, Nullable: true, Write: collection.Kept, Doc: "Cents; null only of kind unknown"},
		{Name: "customer_id", Kind: query.OID, Nullable: true, Write: collection.Kept},
		{Name: "subscription_id", Kind: query.OID, Nullable: true, Write: collection.Kept, Doc: "Whose the payment is; of one that extended, the subscription that it extended"},
		{Name: "order_id", Kind: query.OID, Nullable: true, Write: collection.Kept},
		{Name: "paid_at", Kind: query.Date, Nullable: true, Write: collection.Kept},
		{Name: "state", Kind: query.String, Write: collection.Kept, Rule: collection.Rule{Enum: []string{"open", "refunding", "refunded", "extended", "kept"}}},
		{Name: "note", Kind: query.String, Nullable: true, Write: collection.Kept, Doc: "What happened, or why it was kept"},
	},
})
