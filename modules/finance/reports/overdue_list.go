package reports

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// overdueRows are the overdue as finance.overdue has them, with what else decides what is done about them.
const overdueRows = `(SELECT o.subscription_id AS id, o.customer_id, o.plan_id, o.plan_name, o.gateway,
		o.payment_method, o.subscription_status AS status, o.amount_cents, o.payment_failures, o.last_payment_at,
		o.next_billing_date, o.days_overdue, s.expires_at, s.has_chargeback, s.cancel_at_period_end,
		s.gateway_deleted_at, s.gateway_end_open_since, s.document_created_by_id, s.register_date,
		s.register_update_date
	FROM finance.overdue o JOIN subscriptions.subscriptions s ON s.id = o.subscription_id) t
	LEFT JOIN finance.customers_personal c ON c.customer_id = t.customer_id`

// What is known of the notices of the present run of failures, and of the debits that are to be taken again.
const (
	sentNotices = `subscriptions.dunning_mails m
		WHERE m.subscription_id = t.id AND m.sent_at > coalesce(t.last_payment_at, '-infinity')`
	openNotices = `subscriptions.dunning_mails m
		WHERE m.subscription_id = t.id AND m.sent_at IS NULL AND m.dropped_at IS NULL`
	noticeAt  = "(SELECT min(m.due_at) FROM " + openNotices + ")"
	openRetry = `(SELECT min(r.retry_date)::timestamp AT TIME ZONE (SELECT z.report_tz FROM finance.settings z)
		FROM subscriptions.debit_retries r WHERE r.subscription_id = t.id AND r.state = `
	orderedAt = openRetry + "'ordered')"
	retryAt   = openRetry + "'planned')"
)

// dunningStep is what happens next about an overdue subscription, where when holds, at the instant at.
type dunningStep struct{ name, when, at string }

// staffDecide is the step of those about whom nothing happens by itself any more.
const staffDecide = "staff_decision"

// dunningSteps are the steps, the first that applies: what keeps the platform from asking for the money stands first,
// as it keeps it from writing (room dunning of the subscriptions); then the bank is asked, and then people are.
func dunningSteps(endsWithPeriod []string) []dunningStep {
	return []dunningStep{
		{"dispute_decision", "t.has_chargeback", "NULL::timestamptz"},
		{"period_end", stopped(endsWithPeriod), "t.expires_at"},
		{"bank_answer", orderedAt + " IS NOT NULL", orderedAt},
		{"debit_retry", retryAt + " <= coalesce(" + noticeAt + ", 'infinity')", retryAt},
		{"notice", "t.payment_failures > 0 AND " + noticeAt + " IS NOT NULL", noticeAt},
	}
}

// stopped is the condition that nothing is charged any more: it ends with its paid time, or has ended at the gateway.
// Of the gateways that let a recurrence run to the end of its period, what is due until then is asked for.
func stopped(endsWithPeriod []string) string {
	var names []string
	for _, name := range endsWithPeriod {
		names = append(names, "'"+strings.ReplaceAll(name, "'", "''")+"'")
	}
	ends := "t.cancel_at_period_end"
	if len(names) > 0 {
		ends += " AND t.gateway NOT IN (" + strings.Join(names, ", ") + ")"
	}
	return ends + " OR t.gateway_end_open_since IS NOT NULL" +
		" OR t.gateway_deleted_at IS NOT NULL AND t.expires_at IS NOT NULL"
}

// overdueList is the collection of overdue subscriptions (docs/contract/figures.md, Overdue), each with its step of
// dunning. endsWithPeriod are the gateways that let a recurrence run to the end of its period.
func overdueList(endsWithPeriod []string) *resource.Resource {
	steps := dunningSteps(endsWithPeriod)
	var next, at strings.Builder
	var names []string
	for _, s := range steps {
		fmt.Fprintf(&next, " WHEN %s THEN '%s'", s.when, s.name)
		fmt.Fprintf(&at, " WHEN %s THEN %s", s.when, s.at)
		names = append(names, s.name)
	}
	asked := "(t.payment_failures > 0 AND NOT t.has_chargeback AND (" + stopped(endsWithPeriod) + ") IS NOT TRUE)"
	sent := "(SELECT count(*) FROM " + sentNotices + ")"
	planned := "(CASE WHEN " + asked + " THEN (SELECT count(*) FROM " + openNotices + ") ELSE 0 END)"
	read := func(name string, kind query.Kind, doc string) resource.Field {
		return resource.Field{Name: name, Kind: kind, Write: resource.ReadOnly, Doc: doc}
	}
	expr := func(f resource.Field, sql string) resource.Field { f.Expr = sql; return f }
	enum := func(f resource.Field, values ...string) resource.Field { f.Rule.Enum = values; return f }
	nullable := func(f resource.Field) resource.Field { f.Nullable, f.NullsEnd = true, true; return f }
	return resource.New(resource.Definition{
		Name: "overdue subscriptions", Singular: "Overdue subscription", Schema: "ListedOverdue", Table: "finance.dues",
		From: overdueRows, DefaultSort: `{"days_overdue":-1}`,
		Fields: []resource.Field{
			read("customer_id", query.OID, "Stays when the account is deleted"),
			expr(read("full_name", query.String, "Empty once the account is deleted"), "coalesce(c.full_name, '')"),
			expr(read("username", query.String, ""), "coalesce(c.username, '')"),
			expr(read("email", query.String, ""), "coalesce(c.email, '')"),
			read("plan_id", query.String, ""),
			read("plan_name", query.String, ""),
			enum(read("gateway", query.String, "gwa or gwb"), "gwa", "gwb"),
			enum(read("payment_method", query.String, ""), "credit_card", "pix", "boleto"),
			enum(read("status", query.String, ""), "active", "pending", "suspended"),
			expr(read("amount", query.Int, "Cents a month"), "t.amount_cents"),
			read("days_overdue", query.Int, "Calendar days of REPORT_TZ since the first due date that was missed"),
			read("payment_failures", query.Int, "Failures in a row"),
			nullable(read("last_payment_at", query.Date, "")),
			nullable(read("next_billing_date", query.Date, "")),
			enum(expr(read("dunning_step", query.String,
				"Where dunning stands: nobody was written to, once, again with more to come, or for the last time"),
				"(CASE WHEN "+sent+" = 0 THEN 'not_notified' WHEN "+planned+" = 0 THEN 'last_notice' WHEN "+sent+
					" = 1 THEN 'notified' ELSE 'reminded' END)"),
				"not_notified", "notified", "reminded", "last_notice"),
			expr(read("notices_sent", query.Int, "Mails about the failures since the last payment"), sent),
			expr(read("notices_planned", query.Int, "Mails that follow unless it is paid"), planned),
			nullable(expr(read("last_notice_at", query.Date, ""), "(SELECT max(m.sent_at) FROM "+sentNotices+")")),
			enum(expr(read("next_step", query.String,
				"What happens next: a mail; the bank is asked again for a debit, or is to answer; it ends with its paid time. "+
					"dispute_decision: nothing is asked for while its money is disputed; "+
					"staff_decision: nothing happens by itself here any more"),
				"(CASE"+next.String()+" ELSE '"+staffDecide+"' END)"), append(names, staffDecide)...),
			nullable(expr(read("next_step_at", query.Date, "When that is; null where no day is set"),
				"(CASE"+at.String()+" END)")),
		},
	})
}

// ListOverdue answers GET /admin/finance/overdue-subscriptions, as of the service's clock.
func (h Handlers) ListOverdue(ctx context.Context, _ *resource.GetInput) (*resource.Response, error) {
	params, err := h.overdue.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, err
	}
	list, err := h.overdue.Prepare(params)
	if err != nil {
		return nil, err
	}
	err = h.snapshot(ctx, resource.StatementTimeout, func(ctx context.Context, tx pgx.Tx) error {
		return list.Run(ctx, tx)
	})
	if err != nil {
		return nil, resource.Report(ctx, h.deps.Log, err)
	}
	return list.Envelope(ctx), nil
}

// OverdueDoc documents ListOverdue.
func (h Handlers) OverdueDoc() []httpapi.Option { return h.overdue.ListDoc() }
