package finance_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/modules/finance/financetest"
	"marquee/platform/clock"
)

// goldenAPI is the golden data set behind HTTP, at its instant.
func goldenAPI(t *testing.T) *bundle {
	t.Helper()
	b := setup(t, func(d *finance.Deps) { d.Clock = clock.NewFake(financetest.Now) })
	financetest.Golden(t, b.db)
	return b
}

// picked are some fields of objects, as lines.
func picked(objects any, fields ...string) []string {
	lines := []string{}
	for _, object := range objects.([]any) {
		var words []any
		for _, field := range fields {
			value := object.(doc)[field]
			if id, isText := value.(string); isText && len(id) == 24 && field != "at" {
				value = financetest.Name(id)
			}
			words = append(words, value)
		}
		lines = append(lines, fmt.Sprintln(words...))
	}
	return lines
}

// cells are some columns of a table of golden.md, as lines.
func cells(rows []financetest.Row, columns ...string) []string {
	lines := []string{}
	for _, r := range rows {
		var words []any
		for _, column := range columns {
			words = append(words, r[column])
		}
		lines = append(lines, fmt.Sprintln(words...))
	}
	return lines
}

// inReais is an amount of golden.md as the events dashboard tells it.
func inReais(t *testing.T, r financetest.Row, column string) float64 {
	t.Helper()
	return float64(r.Int(t, column)) / 100
}

// figures are the rows of a table of one figure each.
func figures(t *testing.T, table string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for _, r := range financetest.Table(t, table) {
		all[r["figure"]] = r.Float(t, "value")
	}
	return all
}

// TestGoldenOverHTTP: every report of the API, and every exported file in each
// format, equals what golden.md works out by hand.
func TestGoldenOverHTTP(t *testing.T) {
	t.Parallel()
	b := goldenAPI(t)
	for name, holds := range map[string]func(*testing.T, *bundle){
		"overview": httpOverview, "revenue": httpRevenue, "revenue by method": httpRevenueByMethod, "churn": httpChurn, "movements": httpMovements, "movement rows": httpMovementRows, "overdue": httpOverdue,
		"definitions": httpDefinitions, "events": httpEvents, "orders": httpOrders, "promo codes": httpPromoCodes,
		"subscriptions": httpSubscriptions, "insights": httpInsights, "tenure": httpTenure, "360": httpCustomers,
		"export xlsx": httpExports("xlsx"), "export csv": httpExports("csv"), "export json": httpExports("json"),
	} {
		t.Run(name, func(t *testing.T) { holds(t, b) })
	}
}

func httpOverview(t *testing.T, b *bundle) {
	want := doc{"by_payment_method": httpMethods(t), "by_plan": httpPlans(t)}
	for figure, value := range figures(t, "Overview") {
		want[figure] = value
	}
	delete(want, "amount_at_risk") // told by the list of the overdue
	require.Equal(t, want, b.get("/admin/finance/overview"))
}

func httpMethods(t *testing.T) doc {
	t.Helper()
	methods := doc{}
	for _, r := range financetest.Table(t, "By payment method") {
		methods[r["method"]] = doc{"count": r.Float(t, "count"), "mrr": r.Float(t, "mrr")}
	}
	return methods
}

func httpPlans(t *testing.T) doc {
	t.Helper()
	plans := doc{}
	for _, r := range financetest.Table(t, "By plan") {
		plans[r["plan_id"]] = doc{"count": r.Float(t, "count"), "mrr": r.Float(t, "mrr"), "name": r["name"]}
	}
	return plans
}

var seriesFields = []string{"gross", "refunds", "chargebacks", "net", "new_subscriptions", "cancellations"}

func httpRevenue(t *testing.T, b *bundle) {
	row := func(r financetest.Row, date string) any {
		want := doc{"date": r[date]}
		for _, field := range append([]string{"gwa", "gwb"}, seriesFields...) {
			want[field] = r.Float(t, field)
		}
		return want
	}
	var want []any
	for _, r := range financetest.Table(t, "Revenue by month") {
		want = append(want, row(r, "month"))
	}
	totals := doc{}
	for _, field := range seriesFields {
		totals[field] = financetest.Table(t, "Revenue totals")[0].Float(t, field)
	}
	require.Equal(t, doc{
		"period": "monthly", "data": want, "totals": totals,
	}, b.get("/admin/finance/revenue?start=2026-01"))
	require.Equal(t, want[1:], b.get("/admin/finance/revenue")["data"], "six months back by default")

	whole := b.get("/admin/finance/revenue?period=daily&start=2026-01-01")
	byDay := map[any]any{}
	for _, r := range whole["data"].([]any) {
		byDay[r.(doc)["date"]] = r
	}
	for _, r := range financetest.Table(t, "Revenue by day") {
		require.Equal(t, row(r, "day"), byDay[r["day"]], r["how"])
		one := b.get("/admin/finance/revenue?period=daily&start=" + r["day"] + "&end=" + r["day"])
		require.Equal(t, []any{row(r, "day")}, one["data"], r["how"])
	}
	for _, r := range financetest.Table(t, "Period") {
		if r["of"] == "-" {
			require.InDelta(t, r.Float(t, "value"), whole["totals"].(doc)[r["figure"]], 0, r["figure"])
		}
	}
}

func httpChurn(t *testing.T, b *bundle) {
	var months []any
	reasons := doc{
		"payment_failure": 0.0, "customer_cancelled": 0.0, "admin_cancelled": 0.0, "chargeback": 0.0, "expired": 0.0,
	}
	for _, r := range financetest.Table(t, "Churn") {
		month := doc{"month": r["month"]}
		for _, field := range []string{"active_start", "new", "cancelled", "active_end", "churn_rate"} {
			month[field] = r.Float(t, field)
		}
		months = append(months, month)
		for reason := range reasons {
			reasons[reason] = reasons[reason].(float64) + r.Float(t, reason)
		}
	}
	require.Equal(t, doc{"monthly": months, "by_reason": reasons}, b.get("/admin/finance/churn?months=8"))
	require.Equal(t, months[2:], b.get("/admin/finance/churn")["monthly"], "six months by default")
}

func httpMovements(t *testing.T, b *bundle) {
	var months []any
	for _, r := range financetest.Table(t, "Movements") {
		month := doc{"month": r["month"]}
		for _, field := range movementFields {
			month[field] = r.Float(t, field)
		}
		months = append(months, month)
	}
	require.Equal(t, doc{"monthly": months}, b.get("/admin/finance/movements?months=8"))
	require.Equal(t, doc{"monthly": months[2:]}, b.get("/admin/finance/movements"), "six months by default")
}

// httpMovementRows: what stands behind each figure of the movements adds up to it, to the cent, and is what golden.md lists.
func httpMovementRows(t *testing.T, b *bundle) {
	want := map[string][]string{}
	for _, r := range financetest.Table(t, "Movement rows") {
		of, reason := r["month"]+" "+r["kind"], r["reason"]
		if reason == "-" {
			reason = "<nil>"
		}
		for _, name := range strings.Fields(r["subscriptions"]) {
			want[of] = append(want[of], fmt.Sprintln(name, r["kind"], r["amount"], reason))
		}
	}
	net, rows := 0.0, 0.0
	for _, r := range financetest.Table(t, "Movements") {
		path := "/admin/finance/movements/rows?limit=100&start=" + r["month"] + "&end=" + r["month"]
		month := b.get(path)
		require.InDelta(t, r.Float(t, "closing")-r.Float(t, "opening"), month["total_amount"], 0, r["month"])
		net, rows = net+month["total_amount"].(float64), rows+month["total"].(float64)
		for kind, sign := range map[string]float64{
			"new": 1, "expansion": 1, "reactivation": 1, "contraction": -1, "churn": -1,
		} {
			got := b.get(path + "&kind=" + kind)
			require.InDelta(t, sign*r.Float(t, kind), got["total_amount"], 0, "%s %s", kind, r["how"])
			require.Len(t, got["movements"], int(got["total"].(float64)), "%s of %s", kind, r["month"])
			if listed := want[r["month"]+" "+kind]; listed != nil || kind != "new" {
				require.ElementsMatch(t, listed, picked(got["movements"], "subscription_id", "kind", "amount", "reason"), r["how"])
			}
		}
	}
	for _, r := range financetest.Table(t, "Churn") {
		path := "/admin/finance/movements/rows?limit=1&start=" + r["month"] + "&end=" + r["month"]
		require.InDelta(t, r.Float(t, "new"), b.get(path + "&kind=gained")["total"], 0, "new of %s", r["month"])
		require.InDelta(t, r.Float(t, "cancelled"), b.get(path + "&kind=churn")["total"], 0, "cancelled of %s", r["month"])
	}
	whole := b.get("/admin/finance/movements/rows?start=2026-01&limit=1&page=3")
	require.InDelta(t, net, whole["total_amount"], 0, "of all pages")
	require.InDelta(t, rows, whole["total"], 0)
	require.Len(t, whole["movements"], 1)
	require.Empty(t, b.get("/admin/finance/movements/rows?page=99")["movements"])
	seen := map[string]bool{}
	for page := range 4 {
		for _, line := range picked(b.get(fmt.Sprintf("/admin/finance/movements/rows?start=2026-05&end=2026-08&limit=20&page=%d", page))["movements"],
			"at", "subscription_id", "kind") {
			require.NotContains(t, seen, line, "pages do not overlap")
			seen[line] = true
		}
	}
	last := b.get("/admin/finance/movements/rows?start=2026-08&kind=churn&limit=1")["movements"].([]any)[0].(doc)
	require.Equal(t, doc{
		"at": "2026-08-19T12:00:00.000Z", "kind": "churn", "customer_id": financetest.ID("C56").String(), "username": "c56",
		"email": "c56@example.com", "full_name": "Customer C56", "subscription_id": financetest.ID("S56").String(),
		"plan_id": "premium", "plan_name": "Premium", "gateway": "gwa", "payment_method": "pix", "reason": "expired",
		"before": 4990.0, "after": 0.0, "amount": -4990.0,
	}, last, "ended by its date while its row is not closed yet")
}

var movementFields = []string{"opening", "new", "expansion", "reactivation", "contraction", "churn", "closing"}

func httpOverdue(t *testing.T, b *bundle) {
	rows := financetest.Table(t, "Overdue")
	want := []string{}
	for _, r := range rows {
		customer := "C" + r["subscription"][1:]
		want = append(want, fmt.Sprintln(customer, "c"+customer[1:], "c"+customer[1:]+"@example.com",
			"Customer "+customer,
			r["status"], r["gateway"], r["method"], r["failures"], r["amount"], r["days_overdue"]))
	}
	fields := []string{
		"customer_id", "username", "email", "full_name", "subscription_status", "gateway", "payment_method",
		"payment_failures", "amount", "days_overdue",
	}
	all := b.get("/admin/finance/overdue")
	require.Equal(t, want, picked(all["customers"], fields...))
	require.InDelta(t, figures(t, "Overview")["overdue_count"], all["total_overdue"], 0)
	require.InDelta(t, figures(t, "Overview")["amount_at_risk"], all["total_amount_at_risk"], 0)
	require.Equal(t, "2026-05-08T12:00:00.000Z", all["customers"].([]any)[0].(doc)["last_payment_at"])
	require.Nil(t, all["customers"].([]any)[0].(doc)["next_billing_date"])
	second := b.get("/admin/finance/overdue?page=1&limit=4")
	require.Equal(t, want[4:], picked(second["customers"], fields...))
	require.InDelta(t, figures(t, "Overview")["amount_at_risk"], second["total_amount_at_risk"], 0, "of all pages")
	require.Empty(t, b.get("/admin/finance/overdue?page=9")["customers"])
}

func httpDefinitions(t *testing.T, b *bundle) {
	res := b.get("/admin/finance/definitions")
	require.Equal(t, "America/Sao_Paulo", res["time_zone"])
	definitions := maps.Collect(func(yield func(string, doc) bool) {
		for _, d := range res["definitions"].([]any) {
			if !yield(d.(doc)["figure"].(string), d.(doc)) {
				return
			}
		}
	})
	for _, figure := range []string{
		"active subscriptions", "MRR", "ARR", "average ticket", "overdue", "days_overdue", "exits", "gross (series)",
		"net (series)", "occupancy_pct",
	} {
		require.Contains(t, definitions, figure)
		require.NotEmpty(t, definitions[figure]["formula"], figure)
	}
}

func httpEvents(t *testing.T, b *bundle) {
	rows := financetest.Table(t, "Events")
	overview := doc{"events_by_type": doc{}}
	for figure, value := range figures(t, "Event figures") {
		overview[figure] = value
	}
	overview["total_revenue"] = overview["total_revenue"].(float64) / 100
	want := map[any]doc{}
	for _, r := range rows {
		overview["events_by_type"].(doc)[r["type"]] = 1.0
		want[r["event"]] = doc{
			"event_type": r["type"], "capacity": r.Float(t, "capacity"), "tickets_issued": r.Float(t, "issued"),
			"tickets_sold": r.Float(t, "sold"), "tickets_promo": r.Float(t, "promo"),
			"ticket_status": doc{
				"available": r.Float(t, "available"), "consumed": r.Float(t, "consumed"),
				"expired": r.Float(t, "expired"),
			},
			"revenue": inReais(t, r, "revenue"), "orders_count": r.Float(t, "orders"),
			"occupancy_pct": r.Float(t, "occupancy_pct"),
		}
	}
	require.Equal(t, overview, b.get("/admin/events-dashboard/overview"))

	list := b.get("/admin/events-dashboard/events")
	require.InDelta(t, 3, list["total"], 0)
	require.Equal(t, []string{"E1\n", "E3\n", "E2\n"}, picked(list["events"], "event_id"), "the latest date first")
	for _, e := range list["events"].([]any) {
		row := e.(doc)
		name := financetest.Name(row["event_id"].(string))
		for field, value := range want[name] {
			require.Equal(t, value, row[field], "%s %s", name, field)
		}
		one := b.get("/admin/events-dashboard/events/" + row["event_id"].(string))
		httpBoxOffice(t, b, name)
		for field, value := range row {
			require.Equal(t, value, one[field], "%s %s", name, field)
		}
		require.Len(t, one["orders"], int(row["orders_count"].(float64)))
		httpSales(t, name, one)
	}
	require.Equal(t, []string{"E1\n"},
		picked(b.get("/admin/events-dashboard/events?active_only=true&event_type=movie_premiere")["events"],
			"event_id"))
	require.Equal(t, []string{"E2\n"},
		picked(b.get("/admin/events-dashboard/events?page=2&limit=1")["events"], "event_id"))
}

// httpSales holds what is told of one event alone.
func httpSales(t *testing.T, name string, one doc) {
	t.Helper()
	sales := []any{}
	for _, r := range financetest.Table(t, "Sales") {
		if r["event"] != name {
			continue
		}
		var method any = r["method"]
		if method == "-" {
			method = nil
		}
		sales = append(sales, doc{
			"day": r["day"], "payment_method": method, "orders": r.Float(t, "orders"), "tickets": r.Float(t, "tickets"),
			"total": inReais(t, r, "total"),
		})
	}
	require.Equal(t, sales, one["sales"], name)
	for _, r := range financetest.Table(t, "Holders") {
		if r["event"] == name {
			require.Equal(t, []any{r.Float(t, "cancelled"), r.Float(t, "moved")},
				[]any{one["mailed_if_cancelled"], one["mailed_if_moved"]}, name)
		}
	}
}

// httpBoxOffice holds what the counter of an event took.
func httpBoxOffice(t *testing.T, b *bundle, name string) {
	t.Helper()
	keys := []string{"sales", "tickets_sold", "tickets_refunded"}
	money := []string{"sold", "refunded", "net"}
	add := func(sum doc, r financetest.Row) {
		for _, k := range keys {
			before, _ := sum[k].(float64)
			sum[k] = before + r.Float(t, k)
		}
		for _, k := range money {
			before, _ := sum[k].(float64)
			sum[k] = before + inReais(t, r, k)
		}
	}
	nothing := func() doc {
		return doc{"sales": 0.0, "tickets_sold": 0.0, "tickets_refunded": 0.0, "sold": 0.0, "refunded": 0.0, "net": 0.0}
	}
	days, totals := []any{}, nothing()
	for _, r := range financetest.Table(t, "Box office") {
		if r["event"] != name {
			continue
		}
		row := doc{"method": r["method"], "staff_id": financetest.ID(r["staff"]).String(), "staff": strings.ToLower(r["staff"])}
		add(row, r)
		add(totals, r)
		if len(days) == 0 || days[0].(doc)["day"] != r["day"] {
			day := nothing()
			day["day"], day["rows"] = r["day"], []any{}
			days = append([]any{day}, days...) // the latest first
		}
		day := days[0].(doc)
		day["rows"] = append(day["rows"].([]any), row)
		add(day, r)
	}
	path := "/events/" + financetest.ID(name).String() + "/box-office"
	got := b.get(path)
	require.Equal(t, doc{
		"event_id": financetest.ID(name).String(), "title": "Event " + name, "days": days, "totals": totals,
	}, got, name)
	if len(days) > 1 {
		last := days[0].(doc)["day"].(string)
		require.Equal(t, days[:1], b.get(path + "?start=" + last)["days"])
		require.Equal(t, days[1:], b.get(path + "?end=" + days[1].(doc)["day"].(string))["days"])
	}
}

func httpOrders(t *testing.T, b *bundle) {
	shares := func(table, key string) doc {
		all := doc{}
		for _, r := range financetest.Table(t, table) {
			all[r[key]] = doc{"count": r.Float(t, "count"), "total_amount": inReais(t, r, "total")}
		}
		return all
	}
	f := figures(t, "Order figures")
	require.Equal(t, doc{
		"total_orders": f["orders"], "total_revenue": f["revenue"] / 100, "avg_order_value": f["average_order"] / 100,
		"avg_tickets_per_order": 1.63, "by_status": shares("Orders", "status"),
		"by_gateway":        shares("Orders by gateway", "gateway"),
		"by_payment_method": shares("Orders by payment method", "method"),
	}, b.get("/admin/events-dashboard/orders"))
}

func httpPromoCodes(t *testing.T, b *bundle) {
	want, total, active, tickets := doc{}, 0.0, 0.0, 0.0
	for _, r := range financetest.Table(t, "Promo code figures") {
		want[r["type"]] = doc{
			"total": r.Float(t, "total"), "active": r.Float(t, "active"),
			"tickets_generated": r.Float(t, "tickets_generated"),
		}
		total, active, tickets = total+r.Float(t, "total"), active+r.Float(t, "active"),
			tickets+r.Float(t, "tickets_generated")
	}
	got := b.get("/admin/events-dashboard/promo-codes")
	require.Equal(t, want, got["by_type"])
	require.Equal(t, []any{
		total, active, tickets,
	}, []any{got["total_promo_codes"], got["active_promo_codes"], got["total_tickets_from_promos"]})
	require.ElementsMatch(t, cells(financetest.Table(t, "Promo codes"), "code", "type", "active", "tickets_generated"),
		picked(got["top_codes"], "code", "code_type", "is_active", "tickets_generated"))
	require.Equal(t, "TICKET", got["top_codes"].([]any)[0].(doc)["code"], "most tickets first")
	one := b.get("/admin/events-dashboard/promo-codes/" + financetest.ID("P2").String())
	require.Equal(t, []any{
		doc{"day": "2026-08-01", "redemptions": 1.0, "paid": 0.0, "tickets": 2.0},
		doc{"day": "2026-08-02", "redemptions": 1.0, "paid": 0.0, "tickets": 2.0},
	}, one["by_day"])
	one = b.get("/admin/events-dashboard/promo-codes/" + financetest.ID("P1").String())
	require.Equal(t, []any{doc{"day": "2026-07-20", "redemptions": 1.0, "paid": 1.0, "tickets": 0.0}}, one["by_day"])
	require.Len(t, one["family"], 1)
}

func httpSubscriptions(t *testing.T, b *bundle) {
	f, o := figures(t, "Subscription figures"), figures(t, "Overview")
	got := b.get("/admin/subscriptions/dashboard")
	require.Equal(t, []string{
		"S54\n", "S44\n", "S45\n", "S55\n", "S49\n", "S65\n", "S47\n", "S68\n", "S61\n", "S56\n",
	}, picked(got["recent"], "_id"), "the newest first")
	delete(got, "recent")
	require.Equal(t, doc{
		"totals": doc{
			"active": f["active"], "pending": f["pending"], "suspended": f["suspended"], "cancelled": f["cancelled"],
			"expired": f["expired"],
		},
		"by_gateway": doc{
			"gwa": doc{"count": f["gwa_count"], "mrr": o["mrr_gwa"]},
			"gwb": doc{"count": f["gwb_count"], "mrr": o["mrr_gwb"]},
		},
		"by_payment_method": httpMethods(t), "by_plan": httpPlans(t), "mrr": o["mrr"], "new_30d": f["new_30d"],
		"cancelled_30d": f["cancelled_30d"], "pending_pix": f["pending_pix"],
	}, got)
}

// httpCohorts are the table Cohorts as percentages.
func httpCohorts(t *testing.T) []any {
	t.Helper()
	var all []any
	for _, r := range financetest.Table(t, "Cohorts") {
		retained := []any{}
		for n := range 8 {
			if column := fmt.Sprintf("m%d", n); r[column] != "-" {
				retained = append(retained, hundredths(100*r.Float(t, column)/r.Float(t, "customers")))
			}
		}
		all = append(all, doc{"month": r["cohort"], "customers": r.Float(t, "customers"), "retained": retained})
	}
	return all
}

func httpInsights(t *testing.T, b *bundle) {
	var failed []any
	for _, r := range financetest.Table(t, "Failed payments") {
		failed = append(failed, doc{
			"month": r["month"], "count": r.Float(t, "count"), "recovered": r.Float(t, "recovered"),
		})
	}
	got := b.get("/admin/subscriptions/insights?months=8")
	require.Equal(t, b.get("/admin/finance/overdue")["customers"], got["at_risk"])
	delete(got, "at_risk")
	want := doc{"cohorts": httpCohorts(t), "failed_payments": failed}
	for figure, value := range figures(t, "Subscription insights") {
		want[figure] = value
	}
	require.Equal(t, want, got)
	require.Equal(t, failed[2:], b.get("/admin/subscriptions/insights")["failed_payments"], "six months by default")
}

func httpTenure(t *testing.T, b *bundle) {
	f := figures(t, "Tenure figures")
	var buckets []any
	for _, r := range financetest.Table(t, "Tenure buckets") {
		bucket := doc{
			"from_days": r.Float(t, "from_days"), "to_days": nil, "customers": r.Float(t, "customers"),
			"active": r.Float(t, "active"), "cancelled": r.Float(t, "cancelled"),
		}
		if r["to_days"] != "-" {
			bucket["to_days"] = r.Float(t, "to_days")
		}
		buckets = append(buckets, bucket)
	}
	require.Equal(t, doc{
		"average_days": f["average_days"], "median_days": f["median_days"], "buckets": buckets,
		"cohorts": httpCohorts(t),
	}, b.get("/admin/customers/tenure"))
}

func httpCustomers(t *testing.T, b *bundle) {
	for _, r := range financetest.Table(t, "Customers") {
		want := doc{}
		for _, field := range []string{"paid", "refunded", "chargebacks", "net", "orders", "tickets"} {
			want[field] = r.Float(t, field)
		}
		got := b.get("/admin/customers/360?_id=" + financetest.ID(r["customer"]).String())
		require.Equal(t, want, got["totals"], r["customer"])
		var paid float64
		for _, p := range got["payments"].([]any) {
			paid += p.(doc)["amount"].(float64)
		}
		require.InDelta(t, want["paid"], paid, 0, r["customer"])
	}
}
