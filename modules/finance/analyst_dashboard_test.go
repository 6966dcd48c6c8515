package finance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/finance/financetest"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// analystPanel is a panel of deploy/grafana/analysts/finance.json.
type analystPanel struct {
	ID         int
	Title      string
	Type       string
	Datasource struct{ Type, UID string }
	GridPos    struct{ X, Y, W, H int }
	Targets    []struct {
		Format string
		RawSQL string
	}
}

func analystPanels(t *testing.T) []analystPanel {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/analysts/finance.json")
	require.NoError(t, err)
	var d struct{ Panels []analystPanel }
	require.NoError(t, json.Unmarshal(text, &d))
	return d.Panels
}

// timeFilter is Grafana's macro $__timeFilter(column), which its data source for PostgreSQL replaces by
// column BETWEEN 'from' AND 'to', both instants in UTC.
var timeFilter = regexp.MustCompile(`\$__timeFilter\((\w+)\)`)

// goldenPanels are what the panels say of the golden data set: a line of each, numbers without trailing zeros.
func goldenPanels(t *testing.T) map[string][]string {
	t.Helper()
	rows := func(heading string) []financetest.Row { return financetest.Table(t, heading) }
	figure := func(heading, name string) string {
		for _, r := range rows(heading) {
			if r["figure"] == name {
				return r["value"]
			}
		}
		t.Fatalf("golden.md has no %s", name)
		return ""
	}
	all := map[string][]string{
		"MRR now": {panelLine(
			cents(t, figure("Overview", "mrr")), cents(t, figure("Overview", "arr")),
			cents(t, figure("Overview", "net_revenue_30d")), cents(t, figure("Overview", "cash_net_30d")))},
		"Subscriptions now": {panelLine(
			figure("Overview", "active_subscriptions"), figure("Overview", "overdue_count"),
			cents(t, figure("Overview", "amount_at_risk")), figure("Overview", "churn_rate_30d"))},
		"Unapplied payments": {panelLine("gwa", "late", "2", "30.5", "2026-08-19")},
	}
	reasons := map[string]int64{}
	for _, r := range rows("Churn") {
		all["Churn"] = append(all["Churn"], panelLine(r["month"]+"-01", trimmed(t, r["churn_rate"])))
		for _, reason := range []string{"payment_failure", "customer_cancelled", "admin_cancelled", "chargeback", "expired"} {
			reasons[reason] += r.Int(t, reason)
		}
	}
	for reason, n := range reasons {
		all["Why customers left"] = append(all["Why customers left"], panelLine(reason, strconv.FormatInt(n, 10)))
	}
	for _, r := range rows("Movements") {
		all["How MRR moved"] = append(all["How MRR moved"], panelLine(r["month"]+"-01", cents(t, r["new"]), cents(t, r["expansion"]),
			cents(t, r["reactivation"]), cents(t, "-"+r["contraction"]), cents(t, "-"+r["churn"])))
	}
	for _, r := range rows("Revenue by month") {
		all["Revenue by gateway"] = append(all["Revenue by gateway"], panelLine(r["month"]+"-01", cents(t, r["gwa"]), cents(t, r["gwb"])))
		all["Gross, refunds, chargebacks, net"] = append(all["Gross, refunds, chargebacks, net"],
			panelLine(r["month"]+"-01", cents(t, r["gross"]), cents(t, r["refunds"]), cents(t, r["chargebacks"]), cents(t, r["net"])))
		if r["refunds"] != "0" {
			all["Refunds"] = append(all["Refunds"], panelLine(r["month"]+"-01", "subscription", cents(t, r["refunds"])))
		}
	}
	for _, r := range rows("Revenue by method") {
		for _, method := range []string{"credit_card", "pix", "boleto"} {
			if r[method] != "0" {
				all["Revenue by method"] = append(all["Revenue by method"], panelLine(r["month"]+"-01", method, cents(t, r[method])))
			}
		}
	}
	for _, r := range rows("Cohorts") {
		all["Cohorts"] = append(all["Cohorts"], panelLine(r["cohort"], r["customers"]))
	}
	for _, r := range rows("Overdue") {
		all["Overdue"] = append(all["Overdue"], panelLine(financetest.ID(r["subscription"]).String()))
	}
	return all
}

// panelLine is a row as words.
func panelLine(values ...string) string { return strings.Join(values, " ") }

// cents are an amount of golden.md in reais, without zeros at the end.
func cents(t *testing.T, s string) string {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(t, err)
	return strconv.FormatFloat(float64(n)/100, 'f', -1, 64)
}

func trimmed(t *testing.T, s string) string {
	t.Helper()
	n, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// panelLines are the rows of a panel's SQL, as the analysts' role reads them when the golden figures hold.
func panelLines(t *testing.T, db *pgxpool.Pool, sql string) (all []string) {
	t.Helper()
	require.NoError(t, asOf(t, db, financetest.Now, func(tx postgres.DB) error {
		if _, err := tx.Exec(t.Context(), "SET LOCAL ROLE marquee_analyst"); err != nil {
			return err
		}
		rows, err := tx.Query(t.Context(), sql)
		require.NoError(t, err, sql)
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			values, err := row.Values()
			words := make([]string, len(values))
			for i, v := range values {
				switch v := v.(type) {
				case pgtype.Numeric:
					n, err := v.Float64Value()
					require.NoError(t, err)
					words[i] = strconv.FormatFloat(n.Float64, 'f', -1, 64)
				case time.Time:
					words[i] = v.Format(time.DateOnly)
				default:
					words[i] = fmt.Sprint(v)
				}
			}
			return panelLine(words...), err
		})
		require.NoError(t, err, sql)
		return nil
	}))
	return all
}

// hasLine reports whether a row begins with those words.
func hasLine(rows []string, line string) bool {
	return slices.ContainsFunc(rows, func(row string) bool { return row == line || strings.HasPrefix(row, line+" ") })
}

// total adds up a column of counts.
func total(t *testing.T, rows []string, column int) (sum int64) {
	t.Helper()
	for _, row := range rows {
		n, err := strconv.ParseInt(strings.Fields(row)[column], 10, 64)
		require.NoError(t, err)
		sum += n
	}
	return sum
}

// TestAnalystsDashboard: the analysts' role runs the SQL of each panel over the golden months, and it says what the
// API says.
func TestAnalystsDashboard(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	financetest.Golden(t, db)
	_, err := db.Exec(t.Context(), `INSERT INTO payments.unapplied_payments (kind, gateway, subject, gateway_payment_id, amount_cents, state, created_at, updated_at)
		SELECT 'late', 'gwa', 'pay_' || n, 'pay_' || n, 1525, CASE n WHEN 3 THEN 'kept' ELSE 'open' END, '2026-08-20T02:00:00Z', now() FROM generate_series(1, 3) n`)
	require.NoError(t, err)
	panels := analystPanels(t)
	require.GreaterOrEqual(t, len(panels), 10)
	want := goldenPanels(t)
	covered, ids := map[[2]int]bool{}, map[int]bool{}
	for _, p := range panels {
		require.False(t, ids[p.ID], p.Title)
		ids[p.ID] = true
		require.Equal(t, "grafana-postgresql-datasource ${datasource}", p.Datasource.Type+" "+p.Datasource.UID, p.Title)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				require.False(t, covered[at], "%s covers another", p.Title)
				covered[at] = true
			}
		}
		require.Len(t, p.Targets, 1)
		sql := timeFilter.ReplaceAllString(p.Targets[0].RawSQL,
			"$1 BETWEEN '2025-12-31T00:00:00Z' AND '2026-08-20T15:00:00Z'")
		require.NotContains(t, sql, "$__", "a macro that this test does not know")
		require.NotContains(t, sql, "_personal")
		got := panelLines(t, db, sql)
		require.NotEmpty(t, got, p.Title)
		if lines, known := want[p.Title]; known {
			for _, line := range lines {
				require.True(t, hasLine(got, line), "%s has no %q among\n%s", p.Title, line, strings.Join(got, "\n"))
			}
			delete(want, p.Title)
			continue
		}
		switch p.Title {
		case "Failed payments and those recovered":
			require.Equal(t, int64(13), total(t, got, 1), "the failed attempts of golden.md")
		case "Tickets by method":
			f := figures(t, "Order figures")
			require.InDelta(t, f["paid_orders"], float64(total(t, got, 1)), 0)
			require.InDelta(t, f["tickets_of_paid_orders"], float64(total(t, got, 2)), 0)
		default:
			t.Errorf("%s is compared with nothing", p.Title)
		}
	}
	require.Empty(t, want, "panels that the dashboard lacks")
}
