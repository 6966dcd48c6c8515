package exports

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/reports"
	"marquee/platform/export"
	"marquee/platform/fault"
)

// defaultDays is how far back the finance export begins (docs/contract/figures.md, Exports).
const defaultDays = 90

// financeRequest checks the period of a finance export: days in REPORT_TZ, both
// included.
func (s *Exports) financeRequest(format export.Format, start, end string) (request, error) {
	today := s.deps.Clock.Now().In(s.deps.Zone).Format(time.DateOnly)
	last, err := dayOf("end", cmp.Or(end, today))
	if err != nil {
		return request{}, err
	}
	first := last.AddDate(0, 0, -defaultDays)
	if start != "" {
		first, err = dayOf("start", start)
	}
	if err != nil {
		return request{}, err
	}
	if first.After(last) {
		return request{}, fault.InvalidAt("has to be no later than end", "query", "start")
	}
	r := request{
		Kind: financeExport, Format: format, First: first.Format(time.DateOnly), Last: last.Format(time.DateOnly),
	}
	r.filename = filenameOf("finance_"+r.First+"_"+r.Last, format)
	return r, nil
}

// dayOf reads YYYY-MM-DD.
func dayOf(name, text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < reports.FirstYear {
		return time.Time{}, fault.InvalidAt("has to be a day such as 2026-03-15", "query", name)
	}
	return day, nil
}

// inPeriod is the condition that an instant falls into the days $1 to $2 of the
// report time zone. Its bounds are computed once, so that an index on the instant
// serves.
func inPeriod(instant string) string {
	return instant + ` >= $1::date::timestamp AT TIME ZONE (SELECT report_tz FROM finance.settings)
		AND ` + instant + ` < ($2::date + 1)::timestamp AT TIME ZONE (SELECT report_tz FROM finance.settings)`
}

// person are the columns that name a customer; empty once the customer is deleted.
var person = []column{
	{"customer_id", export.Text, "x.customer_id"},
	{"username", export.Text, "p.username"},
	{"email", export.Text, "p.email"},
	{"full_name", export.Text, "p.full_name"},
}

const joinPerson = " LEFT JOIN finance.customers_personal p ON p.customer_id = x.customer_id"

// financeTables are the sheets of GET /admin/finance/export: the summary and the
// overdue as of now, the others of the period.
func (s *Exports) financeTables(ctx context.Context, tx pgx.Tx, r request) ([]table, error) {
	summary, err := s.summaryTable(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	period := []any{r.First, r.Last}
	return []table{
		summary, subscriptionsTable(period), overdueTable(), cancellationsTable(period),
		refundsTable(period), movementsTable(period),
	}, nil
}

// subscriptionsTable is the subscriptions that began in the period.
func subscriptionsTable(period []any) table {
	return table{
		name: "subscriptions", from: "finance.subscriptions x" + joinPerson + " WHERE " + inPeriod("x.created_at"),
		order: "x.created_at, x.subscription_id", args: period,
		columns: columns([]column{{"subscription_id", export.Text, "x.subscription_id"}}, person, []column{
			{"plan_id", export.Text, "x.plan_id"},
			{"plan_name", export.Text, "x.plan_name"},
			{"gateway", export.Text, "x.gateway"},
			{"payment_method", export.Text, "x.payment_method"},
			{"status", export.Text, "x.status"},
			{"is_active", export.Bool, "x.is_active"},
			{"is_trial", export.Bool, "x.is_trial"},
			{"monthly_price", export.Money, "x.price_cents"},
			{"period_months", export.Integer, "x.period_months"},
			{"created_at", export.Timestamp, "x.created_at"},
			{"started_at", export.Timestamp, "x.started_at"},
			{"last_payment_at", export.Timestamp, "x.last_payment_at"},
			{"next_billing_date", export.Timestamp, "x.next_billing_date"},
			{"expires_at", export.Timestamp, "x.expires_at"},
			{"ended_at", export.Timestamp, "x.ended_at"},
			{"payment_failures", export.Integer, "x.payment_failures"},
			{"total_refunded", export.Money, "x.total_refunded_cents"},
			{"has_chargeback", export.Bool, "x.has_chargeback"},
		}),
	}
}

// overdueTable is the overdue as of now, the longest first, as GET /admin/finance/overdue lists them.
func overdueTable() table {
	return table{
		name: "overdue", from: "finance.overdue x" + joinPerson, order: "x.days_overdue DESC, x.subscription_id",
		columns: columns(person, []column{
			{"subscription_id", export.Text, "x.subscription_id"},
			{"plan_id", export.Text, "x.plan_id"},
			{"plan_name", export.Text, "x.plan_name"},
			{"gateway", export.Text, "x.gateway"},
			{"payment_method", export.Text, "x.payment_method"},
			{"payment_failures", export.Integer, "x.payment_failures"},
			{"last_payment_at", export.Timestamp, "x.last_payment_at"},
			{"next_billing_date", export.Timestamp, "x.next_billing_date"},
			{"days_overdue", export.Integer, "x.days_overdue"},
			{"subscription_status", export.Text, "x.subscription_status"},
			{"amount", export.Money, "x.amount_cents"},
		}),
	}
}

// cancellationsTable is the exits of the period, as churn counts them: counted is false where
// the subscription came back on the same day.
func cancellationsTable(period []any) table {
	return table{
		name: "cancellations",
		from: exitsInPeriod + joinPerson +
			" LEFT JOIN finance.subscriptions s ON s.subscription_id = x.subscription_id", order: "x.at, x.movement_id",
		args: period,
		columns: columns([]column{{"at", export.Timestamp, "x.at"}, {"day", export.Date, "x.day"}}, person, []column{
			{"subscription_id", export.Text, "x.subscription_id"},
			{"plan_id", export.Text, "s.plan_id"},
			{"plan_name", export.Text, "s.plan_name"},
			{"gateway", export.Text, "s.gateway"},
			{"payment_method", export.Text, "s.payment_method"},
			{"monthly_price", export.Money, "s.price_cents"},
			{"reason", export.Text, "x.reason"},
			{"returned_at", export.Timestamp, "x.returned_at"},
			{"counted", export.Bool, "x.counts_in_day"},
		}),
	}
}

// refundsTable is the refunds of subscription payments that were done in the period.
func refundsTable(period []any) table {
	return table{
		name: "refunds", order: "x.refunded_at, x.refund_id", args: period,
		from: "finance.refunds x LEFT JOIN finance.refunds_personal f ON f.refund_id = x.refund_id" + joinPerson +
			" WHERE x.purpose = 'subscription' AND x.is_done AND " + inPeriod("x.refunded_at"),
		columns: columns([]column{
			{"refunded_at", export.Timestamp, "x.refunded_at"},
			{"refund_id", export.Text, "x.refund_id"},
		}, person, []column{
			{"subscription_id", export.Text, "x.subscription_id"},
			{"gateway", export.Text, "x.gateway"},
			{"payment", export.Text, "x.payment_ref"},
			{"amount", export.Money, "x.amount_cents"},
			{"source", export.Text, "x.source"},
			{"reason", export.Text, "f.reason"},
			{"admin", export.Text, "f.admin"},
			{"requested_at", export.Timestamp, "x.requested_at"},
		}),
	}
}

// movementsTable is how MRR moved in the months of the period, each month whole, as
// GET /admin/finance/movements says it.
func movementsTable(period []any) table {
	return table{
		name: "movements", order: "x.month", args: period,
		from: "finance.mrr_movements x WHERE x.month BETWEEN date_trunc('month', $1::date::timestamp)::date AND $2::date",
		columns: []column{
			{"month", export.Date, "x.month"},
			{"opening", export.Money, "x.opening_cents"},
			{"new", export.Money, "x.new_cents"},
			{"expansion", export.Money, "x.expansion_cents"},
			{"reactivation", export.Money, "x.reactivation_cents"},
			{"contraction", export.Money, "x.contraction_cents"},
			{"churn", export.Money, "x.churn_cents"},
			{"closing", export.Money, "x.closing_cents"},
		},
	}
}

// exitsInPeriod are the exits of the days $1 to $2. finance.exits looks at whole
// lives of customers; so those who moved at all in the days are found first, by
// the index on the instant of a move, or by an end of access that nobody has
// written down yet.
var exitsInPeriod = `(
	SELECT e.movement_id, e.customer_id, e.subscription_id, e.at, e.day, e.reason, e.returned_at, e.counts_in_day
	FROM (
		SELECT t.customer_id FROM subscriptions.transitions t
		LEFT JOIN finance.access_ends a ON a.transition_id = t.id
		WHERE t.from_status = 'active' AND a.transition_id IS NULL AND ` + inPeriod("t.at") + `
		UNION
		SELECT t.customer_id FROM finance.access_ends a JOIN subscriptions.transitions t ON t.id = a.transition_id WHERE ` + inPeriod("a.ended_at") + `
		UNION
		SELECT s.customer_id FROM subscriptions.subscriptions s WHERE s.status = 'active' AND s.expires_at <= finance.now()
	) c
	CROSS JOIN LATERAL (SELECT * FROM finance.exits w WHERE w.customer_id = c.customer_id) e
	WHERE e.day BETWEEN $1::date AND $2::date) x`

func columns(groups ...[]column) []column {
	var all []column
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}
