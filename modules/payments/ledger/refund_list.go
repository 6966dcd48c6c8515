package ledger

import (
	"fmt"
	"slices"
	"strings"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/state"
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
		{
			Name: "next_step", Kind: query.String, Write: resource.ReadOnly, Expr: nextStep(),
			Rule: resource.Rule{Enum: state.RefundSteps()}, Doc: "What happens next, or what staff have to do",
		},
		{
			Name: "next_check_at", Kind: query.Date, Nullable: true, NullsEnd: true, Write: resource.ReadOnly,
			Expr: "(SELECT min(i.next_look_at) FROM payments.intents i WHERE i.subject_id = t.id AND i.kind = 'refund' AND i.state = 'open')",
			Doc:  "When the gateway is asked next what became of it; null where it is not asked",
		},
	}, refundMoneyFields()...),
})

// nextStep is the table of what is next as an expression. What failed and was asked for again since, or waits on the
// list of unapplied payments, says so first.
func nextStep() string {
	var b strings.Builder
	fmt.Fprintf(&b, `CASE WHEN t.status = 'failed' AND t.failure IS DISTINCT FROM %s AND EXISTS (SELECT 1 FROM payments.refunds later
		WHERE later.gateway = t.gateway AND later.payment_ref = t.payment_ref AND later.requested_at > t.requested_at AND later.status <> 'failed') THEN %s`,
		literal(state.Refunds.ReasonOf(state.RefundAsDispute)), literal(string(state.RefundOvertaken)))
	fmt.Fprintf(&b, ` WHEN t.status = 'failed' AND EXISTS (SELECT 1 FROM payments.unapplied_payments u
		WHERE u.gateway = t.gateway AND u.state = 'open' AND u.gateway_payment_id = ANY (ARRAY(SELECT t.payment_ref
			UNION ALL SELECT p.gateway_payment_id FROM payments.payments p
				WHERE p.gateway = t.gateway AND p.payment_intent_id = t.payment_ref))) THEN %s`,
		literal(string(state.RefundCaseDecision)))
	for _, row := range state.NextOfRefunds {
		fmt.Fprintf(&b, " WHEN t.status = %s", literal(string(row.Status)))
		if row.Reason != "" {
			fmt.Fprintf(&b, " AND starts_with(coalesce(t.failure, ''), %s)", literal(row.Reason))
		}
		if row.FromBalance {
			var names []string
			for _, name := range gateway.Names() {
				if name.Traits().RefundsFromBalance {
					names = append(names, literal(string(name)))
				}
			}
			fmt.Fprintf(&b, " AND t.gateway IN (%s)", strings.Join(names, ", "))
		}
		fmt.Fprintf(&b, " THEN %s", literal(string(row.Step)))
	}
	return b.String() + " END"
}

// literal quotes a constant of the program.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// refundMoneyFields are moneyFields, but that what was handed back at the box office has no gateway.
func refundMoneyFields() []resource.Field {
	fields := slices.Clone(moneyFields)
	fields[0].Nullable, fields[0].Doc = true, "gwa or gwb; null of what was handed back at the box office"
	return fields
}
