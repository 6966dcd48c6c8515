package finance_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/modules/finance/financetest"
	"marquee/modules/finance/reports"
	"marquee/platform/clock"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// TestGolden: what Go reads equals the figures worked out by hand, as the triggers
// left the data set, and after folding.
func TestGolden(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	financetest.Golden(t, db)
	s := service(t, db, clock.NewFake(financetest.Now))
	check := func(t *testing.T) {
		goldenOverview(t, s)
		goldenRevenue(t, s)
		goldenChurn(t, s)
		goldenMovements(t, s)
		goldenViews(t, db)
		requireNoDifference(t, db, financetest.Now)
	}
	t.Run("unfolded", check)
	n, err := s.Fold(t.Context())
	require.NoError(t, err)
	require.NotZero(t, n)
	t.Run("folded", check)
}

func goldenOverview(t *testing.T, s *finance.Service) {
	t.Helper()
	o, err := s.Overview(t.Context())
	require.NoError(t, err)
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(raw, &got))
	for _, f := range financetest.Table(t, "Overview") {
		if f["figure"] == "amount_at_risk" {
			continue // told by the list of the overdue
		}
		require.InDelta(t, f.Float(t, "value"), got[f["figure"]], 0, f["figure"])
	}
	methods := map[string]reports.MRRShare{}
	for _, r := range financetest.Table(t, "By payment method") {
		methods[r["method"]] = reports.MRRShare{Count: r.Int(t, "count"), MRR: r.Int(t, "mrr")}
	}
	require.Equal(t, methods, o.ByPaymentMethod)
	plans := map[string]reports.PlanMRR{}
	for _, r := range financetest.Table(t, "By plan") {
		plans[r["plan_id"]] = reports.PlanMRR{Count: r.Int(t, "count"), MRR: r.Int(t, "mrr"), Name: r["name"]}
	}
	require.Equal(t, plans, o.ByPlan)
}

func revenueRow(t *testing.T, r financetest.Row, date string) reports.RevenueRow {
	t.Helper()
	return reports.RevenueRow{
		Date: r[date], Gross: r.Int(t, "gross"), Refunds: r.Int(t, "refunds"), Chargebacks: r.Int(t, "chargebacks"),
		Net: r.Int(t, "net"), NewSubscriptions: r.Int(t, "new_subscriptions"),
		Cancellations: r.Int(t, "cancellations"), GWA: r.Int(t, "gwa"), GWB: r.Int(t, "gwb"),
	}
}

func day(t *testing.T, s string) *time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, s)
	require.NoError(t, err)
	return &d
}

func goldenRevenue(t *testing.T, s *finance.Service) {
	t.Helper()
	var want []reports.RevenueRow
	for _, r := range financetest.Table(t, "Revenue by month") {
		want = append(want, revenueRow(t, r, "month"))
	}
	whole, err := s.Revenue(t.Context(), reports.RevenuePeriod{
		Grain: reports.Monthly, Start: day(t, "2026-01-31"), End: day(t, "2026-08-31"),
	})
	require.NoError(t, err)
	require.Equal(t, want, whole.Data)
	sum := financetest.Table(t, "Revenue totals")[0]
	require.Equal(t, reports.RevenueTotals{
		Gross: sum.Int(t, "gross"), Refunds: sum.Int(t, "refunds"), Chargebacks: sum.Int(t, "chargebacks"),
		Net: sum.Int(t, "net"), NewSubscriptions: sum.Int(t, "new_subscriptions"),
		Cancellations: sum.Int(t, "cancellations"),
	}, whole.Totals)

	byDefault, err := s.Revenue(t.Context(), reports.RevenuePeriod{Grain: reports.Monthly})
	require.NoError(t, err)
	require.Equal(t, want[1:], byDefault.Data, "seven months, this one included")

	days, err := s.Revenue(t.Context(), reports.RevenuePeriod{
		Grain: reports.Daily, Start: day(t, "2026-01-01"), End: day(t, "2026-08-20"),
	})
	require.NoError(t, err)
	require.Len(t, days.Data, 232)
	byDay := map[string]reports.RevenueRow{}
	for _, r := range days.Data {
		byDay[r.Date] = r
	}
	for _, r := range financetest.Table(t, "Revenue by day") {
		require.Equal(t, revenueRow(t, r, "day"), byDay[r["day"]], r["how"])
	}
	require.Equal(t, []int64{whole.Totals.Gross, whole.Totals.Net}, []int64{days.Totals.Gross, days.Totals.Net})
}

func goldenChurn(t *testing.T, s *finance.Service) {
	t.Helper()
	rows := financetest.Table(t, "Churn")
	for _, months := range []int{1, 6, 8, 24} {
		c, err := s.Churn(t.Context(), months)
		require.NoError(t, err)
		require.Len(t, c.Monthly, months)
		var reasons reports.ChurnReasons
		for i := range c.Monthly {
			n := i - len(c.Monthly) + len(rows)
			if n < 0 {
				require.Equal(t, reports.ChurnMonth{Month: c.Monthly[i].Month}, c.Monthly[i])
				continue
			}
			r := rows[n]
			require.Equal(t, reports.ChurnMonth{
				Month: r["month"], ActiveStart: r.Int(t, "active_start"), New: r.Int(t, "new"),
				Cancelled: r.Int(t, "cancelled"),
				ActiveEnd: r.Int(t, "active_end"), ChurnRate: r.Float(t, "churn_rate"),
			}, c.Monthly[i])
			reasons = reports.ChurnReasons{
				PaymentFailure:    reasons.PaymentFailure + r.Int(t, "payment_failure"),
				CustomerCancelled: reasons.CustomerCancelled + r.Int(t, "customer_cancelled"),
				AdminCancelled:    reasons.AdminCancelled + r.Int(t, "admin_cancelled"),
				Chargeback:        reasons.Chargeback + r.Int(t, "chargeback"),
				Expired:           reasons.Expired + r.Int(t, "expired"),
			}
		}
		require.Equal(t, reasons, c.ByReason)
	}
}

func goldenMovements(t *testing.T, s *finance.Service) {
	t.Helper()
	rows := financetest.Table(t, "Movements")
	m, err := s.Movements(t.Context(), 9)
	require.NoError(t, err)
	require.Equal(t, reports.MovementMonth{Month: "2025-12"}, m.Monthly[0], "before the first")
	for i, r := range rows {
		require.Equal(t, reports.MovementMonth{
			Month: r["month"], Opening: r.Int(t, "opening"), New: r.Int(t, "new"), Expansion: r.Int(t, "expansion"),
			Reactivation: r.Int(t, "reactivation"), Contraction: r.Int(t, "contraction"), Churn: r.Int(t, "churn"),
			Closing: r.Int(t, "closing"),
		}, m.Monthly[i+1], r["how"])
	}
}

// goldenViews holds the views that no Go of this package reads against the tables.
func goldenViews(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	require.NoError(t, asOf(t, db, financetest.Now, func(tx postgres.DB) error {
		var overdue, cohorts, tenures, events, orders, promos, ledgers []string
		for _, r := range financetest.Table(t, "Overdue") {
			overdue = append(overdue, fmt.Sprintln(r["subscription"], r["status"], r["gateway"], r["method"],
				r["failures"], r["amount"], r["due_on"], r["days_overdue"]))
		}
		require.Equal(t, overdue,
			lines(t, tx,
				`SELECT subscription_id, subscription_status, gateway, payment_method, payment_failures, amount_cents, due_on, days_overdue
			FROM finance.overdue ORDER BY days_overdue DESC`))
		for _, r := range financetest.Table(t, "Cohorts") {
			for n := range 8 {
				if percent := r["m"+strconv.Itoa(n)]; percent != "-" {
					cohorts = append(cohorts, fmt.Sprintln(r["cohort"], n, r["customers"], percent))
				}
			}
		}
		require.Equal(t, cohorts,
			lines(t, tx,
				`SELECT to_char(cohort_month, 'YYYY-MM'), months_since, customers, retained FROM finance.cohorts ORDER BY 1, 2`))
		for _, r := range financetest.Table(t, "Tenure") {
			for _, name := range financetest.Names(t, r["customers"]) {
				tenures = append(tenures, fmt.Sprintln(name, r["access_days"], r["active"]))
			}
		}
		require.Equal(t, tenures,
			lines(t, tx, `SELECT customer_id, access_days, is_active FROM finance.tenure ORDER BY customer_id`))
		for _, r := range financetest.Table(t, "Events") {
			events = append(events, fmt.Sprintln(r["event"], r["type"], r["capacity"], r["issued"], r["sold"],
				r["promo"], r["pending"], r["available"], r["consumed"], r["expired"],
				r["orders"], r["paid_orders"], r["revenue"], r["occupancy_pct"]))
		}
		require.Equal(t, events,
			lines(t, tx,
				`SELECT event_id, event_type, capacity, tickets_live, tickets_sold, tickets_promo, tickets_pending, tickets_available, tickets_consumed,
			tickets_expired, orders_count, paid_orders, revenue_cents, occupancy_pct::text FROM finance.events ORDER BY event_id`))
		for _, r := range financetest.Table(t, "Orders") {
			orders = append(orders, fmt.Sprintln(r["status"], r["count"], r["total"]))
		}
		require.ElementsMatch(t, orders,
			lines(t, tx, `SELECT payment_status, count(*), sum(total_cents - refunded_cents)::bigint FROM finance.orders GROUP BY 1`))
		figures := financetest.Table(t, "Order figures")
		require.Equal(t, []string{
			fmt.Sprintln(figures[0]["value"], figures[1]["value"], figures[2]["value"], figures[3]["value"],
				figures[4]["value"]),
		},
			lines(t, tx,
				`SELECT count(*), count(*) FILTER (WHERE is_paid), sum(revenue_cents)::bigint,
				(sum(revenue_cents) / count(*) FILTER (WHERE is_paid))::bigint, sum(quantity) FILTER (WHERE is_paid) FROM finance.orders`))
		for _, r := range financetest.Table(t, "Promo codes") {
			promos = append(promos, fmt.Sprintln(r["promo"], r["code"], r["type"], r["active"], r["redemptions"],
				r["paid_redemptions"], r["tickets_generated"]))
		}
		for _, r := range financetest.Table(t, "Ledgers") {
			ledgers = append(ledgers,
				fmt.Sprintln(r["gateway"], r["method"], r["subscriptions"], r["payments"], r["amount"]))
		}
		require.ElementsMatch(t, ledgers,
			lines(t, tx, `SELECT s.gateway, s.payment_method, count(*), sum(p.n)::bigint, sum(p.cents)::bigint
			FROM finance.subscriptions s CROSS JOIN LATERAL (
				SELECT count(*) AS n, coalesce(sum(amount_cents), 0) AS cents FROM finance.payments x WHERE x.subscription_id = s.subscription_id AND x.payment_method = s.payment_method) p
			GROUP BY 1, 2`))
		require.Equal(t, []string{"13 10 6 12 5\n"},
			lines(t, tx, `SELECT (SELECT count(*) FROM finance.failed_attempts), (SELECT count(*) FROM finance.refunds),
			(SELECT count(*) FROM finance.disputes), (SELECT count(*) FROM finance.orders), (SELECT count(*) FROM finance.payments WHERE purpose = 'order')`))
		var counter []string
		for _, r := range financetest.Table(t, "Box office") {
			counter = append(counter, fmt.Sprintln(r["event"], r["day"], r["method"], r["staff"], r["sales"], r["tickets_sold"],
				r["tickets_refunded"], r["sold"], r["refunded"]))
		}
		require.Equal(t, counter,
			lines(t, tx, `SELECT event_id, day, method, staff_id, count(*) FILTER (WHERE kind = 'sale'), coalesce(sum(tickets) FILTER (WHERE kind = 'sale'), 0)::bigint,
				coalesce(sum(tickets) FILTER (WHERE kind = 'refund'), 0)::bigint, coalesce(sum(amount_cents) FILTER (WHERE kind = 'sale'), 0)::bigint,
				coalesce(sum(amount_cents) FILTER (WHERE kind = 'refund'), 0)::bigint
			FROM finance.box_office GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`))
		require.Equal(t, promos,
			lines(t, tx,
				`SELECT promo_code_id, code, code_type, is_active, redemptions, paid_redemptions, tickets_generated
			FROM finance.promo_codes JOIN finance.promo_codes_personal USING (promo_code_id) ORDER BY promo_code_id`))
		return nil
	}))
}

// lines reads rows as words, ids by their names in the data set.
func lines(t *testing.T, tx postgres.DB, sql string, args ...any) []string {
	t.Helper()
	rows, err := tx.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		values, err := row.Values()
		for i, v := range values {
			switch v := v.(type) {
			case string:
				if len(v) == 24 {
					values[i] = financetest.Name(v)
				}
			case time.Time:
				values[i] = v.Format(time.DateOnly)
			}
		}
		return fmt.Sprintln(values...), err
	})
	require.NoError(t, err)
	return all
}
