package exports

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/reports"
	"marquee/platform/export"
)

// summaryTable is the first sheet of the finance export: the period, the overview
// as of now, and what the daily revenue of the period adds up to. "of" names the
// plan or payment method that a figure is broken down to.
func (s *Exports) summaryTable(ctx context.Context, tx pgx.Tx, r request) (table, error) {
	t := table{name: "summary", columns: []column{
		{"figure", export.Text, ""}, {"of", export.Text, ""}, {"value", export.Integer, ""},
	}}
	if err := s.addPeriod(ctx, tx, &t, r); err != nil {
		return t, err
	}
	o, err := s.deps.Reports.OverviewTx(ctx, tx)
	if err != nil {
		return t, err
	}
	t.addOverview(o)
	return t, nil
}

func (t *table) add(figure, of string, v export.Value) {
	t.rows = append(t.rows, []export.Value{export.TextOf(figure), {Valid: of != "", Text: of}, v})
}

// addPeriod adds the period and its totals, which are those of
// GET /admin/finance/revenue with period=daily and the same days.
func (s *Exports) addPeriod(ctx context.Context, tx pgx.Tx, t *table, r request) error {
	var zone string
	var first, last, now time.Time
	var gross, gwa, gwb, refunds, chargebacks, net, joined, cancelled int64
	err := tx.QueryRow(ctx, `SELECT c.report_tz, c.now, $1::date, $2::date, r.* FROM finance.clock c, (
			SELECT coalesce(sum(gross_cents), 0)::bigint, coalesce(sum(gross_gwa_cents), 0)::bigint,
				coalesce(sum(gross_gwb_cents), 0)::bigint, coalesce(sum(refunds_cents), 0)::bigint,
				coalesce(sum(chargebacks_cents), 0)::bigint, coalesce(sum(net_cents), 0)::bigint,
				coalesce(sum(new_subscriptions), 0)::bigint, coalesce(sum(cancellations), 0)::bigint
			FROM finance.revenue_daily WHERE day BETWEEN $1::date AND $2::date) r`, r.First, r.Last).
		Scan(&zone, &now, &first, &last, &gross, &gwa, &gwb, &refunds, &chargebacks, &net, &joined, &cancelled)
	if err != nil {
		return fmt.Errorf("add up the period: %w", err)
	}
	t.add("start", "", export.DayOf(first))
	t.add("end", "", export.DayOf(last))
	t.add("time_zone", "", export.TextOf(zone))
	t.add("generated_at", "", export.TimeOf(now))
	t.add("gross", "", export.MoneyOf(gross))
	t.add("gross", "gwa", export.MoneyOf(gwa))
	t.add("gross", "gwb", export.MoneyOf(gwb))
	t.add("refunds", "", export.MoneyOf(refunds))
	t.add("chargebacks", "", export.MoneyOf(chargebacks))
	t.add("net", "", export.MoneyOf(net))
	t.add("new_subscriptions", "", export.IntOf(joined))
	t.add("cancellations", "", export.IntOf(cancelled))
	return nil
}

// addOverview adds the figures of GET /admin/finance/overview.
func (t *table) addOverview(o reports.Overview) {
	t.add("mrr", "", export.MoneyOf(o.MRR))
	t.add("mrr", "gwa", export.MoneyOf(o.MRRGWA))
	t.add("mrr", "gwb", export.MoneyOf(o.MRRGWB))
	t.add("trial_mrr", "", export.MoneyOf(o.TrialMRR))
	t.add("arr", "", export.MoneyOf(o.ARR))
	t.add("total_customers", "", export.IntOf(o.TotalCustomers))
	t.add("active_subscriptions", "", export.IntOf(o.ActiveSubscriptions))
	t.add("overdue_count", "", export.IntOf(o.OverdueCount))
	t.add("churn_rate_30d", "", export.PercentOf(o.ChurnRate30d))
	t.add("total_refunded", "", export.MoneyOf(o.TotalRefunded))
	t.add("total_chargebacks", "", export.MoneyOf(o.TotalChargebacks))
	t.add("net_revenue_30d", "", export.MoneyOf(o.NetRevenue30d))
	t.add("cash_net_30d", "", export.MoneyOf(o.CashNet30d))
	t.add("average_ticket", "", export.MoneyOf(o.AverageTicket))
	t.add("payment_success_rate", "", export.PercentOf(o.PaymentSuccessRate))
	for _, method := range slices.Sorted(maps.Keys(o.ByPaymentMethod)) {
		t.add("by_payment_method.count", method, export.IntOf(o.ByPaymentMethod[method].Count))
		t.add("by_payment_method.mrr", method, export.MoneyOf(o.ByPaymentMethod[method].MRR))
	}
	for _, plan := range slices.Sorted(maps.Keys(o.ByPlan)) {
		t.add("by_plan.count", plan, export.IntOf(o.ByPlan[plan].Count))
		t.add("by_plan.mrr", plan, export.MoneyOf(o.ByPlan[plan].MRR))
	}
}
