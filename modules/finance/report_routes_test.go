package finance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
)

// unknown is an id that no row has.
const unknown = "0123456789abcdef01234567"

// routes are those of this package's reports, each with parameters that it takes.
var routes = []string{
	"/admin/finance/overview", "/admin/finance/revenue", "/admin/finance/overdue", "/admin/finance/churn",
	"/admin/finance/movements", "/admin/finance/movements/rows?kind=churn", "/admin/finance/definitions", "/admin/events-dashboard/overview", "/admin/events-dashboard/events",
	"/admin/events-dashboard/events/" + unknown, "/admin/events-dashboard/promo-codes",
	"/admin/events-dashboard/promo-codes/" + unknown,
	"/admin/events-dashboard/orders", "/admin/ticket-orders/" + unknown, "/admin/subscriptions/dashboard", "/admin/subscriptions/insights",
	"/admin/customers/360?_id=" + unknown, "/admin/customers/" + unknown + "/timeline", "/admin/customers/tenure",
}

// TestReportsAreForAdmins: nobody and customers see no figure.
func TestReportsAreForAdmins(t *testing.T) {
	t.Parallel()
	b := setupAt(t, time.Now())
	me := b.nobody.As(accountstest.Token(t, b.db, accountstest.Customer(t, b.db).Username))
	for _, path := range routes {
		require.Equal(t, "Not authenticated", b.nobody.Get(path).Expect(http.StatusUnauthorized).Detail(), path)
		require.Equal(t, "Access Denied: Could not validate token.",
			b.nobody.As("forged").Get(path).Expect(http.StatusForbidden).Detail(), path)
		require.Equal(t, "FORBIDDEN", me.Get(path).Expect(http.StatusForbidden).Code(), path)
	}
}

// TestReportsRefuse walks what the parameters may not be: 422 names the parameter.
func TestReportsRefuse(t *testing.T) {
	t.Parallel()
	b := setupAt(t, time.Now())
	for path, field := range map[string]string{
		"/admin/finance/revenue?period=weekly":                                "period",
		"/admin/finance/revenue?period=MONTHLY":                               "period",
		"/admin/finance/revenue?start=yesterday":                              "start",
		"/admin/finance/revenue?start=2026-13":                                "start",
		"/admin/finance/revenue?start=2026-02-30":                             "start",
		"/admin/finance/revenue?start=2026":                                   "start",
		"/admin/finance/revenue?start=0000-01":                                "start",
		"/admin/finance/revenue?start=2026-1-1":                               "start",
		"/admin/finance/revenue?start=2026-01-01T00:00:00Z":                   "start",
		"/admin/finance/revenue?end=tomorrow":                                 "end",
		"/admin/finance/revenue?end=2026-06-31":                               "end",
		"/admin/finance/revenue?start=2026-03-02&end=2026-03-01":              "end",
		"/admin/finance/revenue?start=2026-04&end=2026-03":                    "end",
		"/admin/finance/revenue?start=9000-01":                                "start",
		"/admin/finance/revenue?start=1900-01":                                "start",
		"/admin/finance/revenue?period=daily&start=2023-01-01&end=2025-09-27": "start",
		"/admin/finance/overdue?page=-1":                                      "page",
		"/admin/finance/overdue?page=x":                                       "page",
		"/admin/finance/overdue?page=99999999999999999999":                    "page",
		"/admin/finance/overdue?limit=0":                                      "limit",
		"/admin/finance/overdue?limit=101":                                    "limit",
		"/admin/finance/overdue?limit=1.5":                                    "limit",
		"/admin/finance/churn?months=0":                                       "months",
		"/admin/finance/churn?months=25":                                      "months",
		"/admin/finance/churn?months=six":                                     "months",
		"/admin/finance/movements?months=0":                                   "months",
		"/admin/finance/movements?months=25":                                  "months",
		"/admin/finance/movements/rows?kind=net":                              "kind",
		"/admin/finance/movements/rows?start=2026-13":                         "start",
		"/admin/finance/movements/rows?start=2026-04&end=2026-03":             "end",
		"/admin/finance/movements/rows?limit=101":                             "limit",
		"/admin/finance/movements/rows?page=-1":                               "page",
		"/admin/events-dashboard/events?page=-1":                              "page",
		"/admin/events-dashboard/events?limit=0":                              "limit",
		"/admin/events-dashboard/events?limit=501":                            "limit",
		"/admin/events-dashboard/events?event_type=party":                     "event_type",
		"/admin/events-dashboard/events?active_only=maybe":                    "active_only",
		"/admin/events-dashboard/events/12":                                   "event_id",
		"/admin/events-dashboard/promo-codes/12":                              "id",
		"/admin/ticket-orders/12":                                             "id",
		"/admin/events-dashboard/events/0123456789abcdef0123456z":             "event_id",
		"/admin/subscriptions/insights?months=0":                              "months",
		"/admin/subscriptions/insights?months=25":                             "months",
		"/admin/customers/360":                                                "_id",
		"/admin/customers/360?_id=":                                           "_id",
		"/admin/customers/360?_id=12":                                         "_id",
		"/admin/customers/360?email=nobody":                                   "email",
		"/admin/customers/360?email=Ana+%3Cana@example.com%3E":                "email",
		"/admin/customers/360?tax_id=123":                                     "tax_id",
		"/admin/customers/360?tax_id=5299822472x":                             "tax_id",
		"/admin/customers/360?_id=" + unknown + "&tax_id=1":                   "tax_id",
		"/admin/customers/12/timeline":                                        "id",
		"/admin/customers/" + unknown + "/timeline?type=everything":           "type",
		"/admin/customers/" + unknown + "/timeline?skip=-1":                   "skip",
	} {
		res := b.admin.Get(path)
		require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s: %s", path, res.Body)
		require.Equal(t, "VALIDATION_ERROR", res.Code(), path)
		require.Equal(t, field, res.Field(), "%s: %s", path, res.Body)
		issues, _ := res.Map()["detail"].([]any)
		require.NotEmpty(t, issues, path)
		require.Contains(t, issues[0].(doc)["loc"], field, path)
	}
}

// TestReportsOfUnknownThings are 404.
func TestReportsOfUnknownThings(t *testing.T) {
	t.Parallel()
	b := setupAt(t, time.Now())
	for _, path := range []string{
		"/admin/events-dashboard/events/" + unknown, "/admin/events-dashboard/promo-codes/" + unknown,
		"/admin/ticket-orders/" + unknown,
		"/admin/customers/360?_id=" + unknown, "/admin/customers/" + unknown + "/timeline",
		"/admin/customers/360?email=nobody@example.com",
		"/admin/customers/360?tax_id=111.444.777-35",
		"/admin/customers/360?_id=" + customerID.String() + "&email=nobody@example.com",
		"/admin/customers/360?_id=" + adminID.String(), // an admin is no customer
	} {
		require.Equal(t, "NOT_FOUND", b.admin.Get(path).Expect(http.StatusNotFound).Code(), path)
	}
}

// TestReportsOfNothing: without data every figure is 0 and every list empty.
func TestReportsOfNothing(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-07-15T12:00:00Z"))
	require.Equal(t, doc{
		"mrr": 0.0, "mrr_gwa": 0.0, "mrr_gwb": 0.0, "trial_mrr": 0.0, "arr": 0.0, "total_customers": 1.0,
		"active_subscriptions": 0.0, "overdue_count": 0.0, "churn_rate_30d": 0.0, "total_refunded": 0.0,
		"total_chargebacks": 0.0, "net_revenue_30d": 0.0, "cash_net_30d": 0.0, "average_ticket": 0.0,
		"payment_success_rate": 0.0, "by_payment_method": doc{}, "by_plan": doc{},
	}, b.get("/admin/finance/overview"))
	require.Equal(t, doc{
		"total_overdue": 0.0, "total_amount_at_risk": 0.0, "customers": []any{},
	}, b.get("/admin/finance/overdue"))
	require.Equal(t, doc{
		"total_events": 0.0, "active_events": 0.0, "upcoming_events": 0.0, "past_events": 0.0,
		"total_tickets_issued": 0.0, "total_tickets_sold": 0.0, "total_tickets_promo": 0.0, "total_revenue": 0.0,
		"total_orders": 0.0, "events_by_type": doc{},
	}, b.get("/admin/events-dashboard/overview"))
	require.Equal(t, doc{"total": 0.0, "events": []any{}}, b.get("/admin/events-dashboard/events"))
	none := doc{"total": 0.0, "active": 0.0, "tickets_generated": 0.0}
	require.Equal(t, doc{
		"total_promo_codes": 0.0, "active_promo_codes": 0.0, "total_tickets_from_promos": 0.0,
		"by_type": doc{"promo": none, "ticket": none}, "top_codes": []any{},
	}, b.get("/admin/events-dashboard/promo-codes"))
	require.Equal(t, doc{
		"total_orders": 0.0, "total_revenue": 0.0, "by_status": doc{}, "by_gateway": doc{},
		"by_payment_method": doc{}, "avg_order_value": 0.0, "avg_tickets_per_order": 0.0,
	}, b.get("/admin/events-dashboard/orders"))

	series := b.get("/admin/finance/revenue")
	require.Equal(t, "monthly", series["period"])
	require.Len(t, series["data"], 7)
	empty := doc{
		"gross": 0.0, "refunds": 0.0, "chargebacks": 0.0, "net": 0.0, "new_subscriptions": 0.0, "cancellations": 0.0,
	}
	require.Equal(t, empty, series["totals"])
	first := doc{"date": "2026-01", "gwa": 0.0, "gwb": 0.0}
	for name, zero := range empty {
		first[name] = zero
	}
	require.Equal(t, first, series["data"].([]any)[0])

	months := b.get("/admin/finance/churn")
	require.Equal(t, doc{
		"payment_failure": 0.0, "customer_cancelled": 0.0, "admin_cancelled": 0.0, "chargeback": 0.0, "expired": 0.0,
	}, months["by_reason"])
	require.Len(t, months["monthly"], 6)
	require.Equal(t, doc{
		"month": "2026-02", "active_start": 0.0, "new": 0.0, "cancelled": 0.0, "active_end": 0.0, "churn_rate": 0.0,
	}, months["monthly"].([]any)[0])

	dashboard := b.get("/admin/subscriptions/dashboard")
	share := doc{"count": 0.0, "mrr": 0.0}
	require.Equal(t, doc{
		"totals":     doc{"active": 0.0, "pending": 0.0, "suspended": 0.0, "cancelled": 0.0, "expired": 0.0},
		"by_gateway": doc{"gwa": share, "gwb": share}, "by_payment_method": doc{}, "by_plan": doc{},
		"mrr": 0.0, "new_30d": 0.0, "cancelled_30d": 0.0, "pending_pix": 0.0, "recent": []any{},
	}, dashboard)
	insights := b.get("/admin/subscriptions/insights?months=2")
	require.Equal(t, doc{
		"cohorts": []any{}, "average_lifetime_days": 0.0, "ltv": 0.0, "reactivations": 0.0, "upgrades": 0.0,
		"failed_payments": []any{
			doc{"month": "2026-06", "count": 0.0, "recovered": 0.0},
			doc{"month": "2026-07", "count": 0.0, "recovered": 0.0},
		},
		"at_risk": []any{},
	}, insights)
	stay := b.get("/admin/customers/tenure")
	require.Equal(t, []any{}, stay["cohorts"])
	require.Equal(t, 0.0, stay["average_days"])
	require.Equal(t, 0.0, stay["median_days"])
	require.NotEmpty(t, stay["buckets"])
	for _, bucket := range stay["buckets"].([]any) {
		require.Equal(t, 0.0, bucket.(doc)["customers"])
	}
}

// TestRevenueRange counts the rows of a range and names them, in the calendar of
// REPORT_TZ: 02:59:59Z is the day before in São Paulo.
func TestRevenueRange(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-08-01T02:59:59Z"))
	for query, want := range map[string]struct {
		rows        int
		first, last string
	}{
		"":                                 {rows: 7, first: "2026-01", last: "2026-07"},
		"?period=monthly":                  {rows: 7, first: "2026-01", last: "2026-07"},
		"?period=daily":                    {rows: 212, first: "2026-01-01", last: "2026-07-31"},
		"?end=2026-03":                     {rows: 7, first: "2025-09", last: "2026-03"},
		"?start=2026-02&end=2026-02":       {rows: 1, first: "2026-02", last: "2026-02"},
		"?start=2026-02-28&end=2026-03-01": {rows: 2, first: "2026-02", last: "2026-03"},
		"?period=daily&start=2028-02&end=2028-02":       {rows: 29, first: "2028-02-01", last: "2028-02-29"},
		"?period=daily&start=2026-03-01&end=2026-03-01": {rows: 1, first: "2026-03-01", last: "2026-03-01"},
		"?period=daily&start=2018-11-01&end=2018-11-06": {
			rows: 6, first: "2018-11-01", last: "2018-11-06",
		}, // summer time began in São Paulo on the 4th
		"?period=daily&start=2023-01-01&end=2025-09-26":   {rows: 1000, first: "2023-01-01", last: "2025-09-26"},
		"?period=monthly&start=1943-05-17&end=2026-08-31": {rows: 1000, first: "1943-05", last: "2026-08"},
		"?start=2026-07-01": {rows: 1, first: "2026-07", last: "2026-07"},
	} {
		rows := b.get("/admin/finance/revenue" + query)["data"].([]any)
		require.Len(t, rows, want.rows, query)
		require.Equal(t, want.first, rows[0].(doc)["date"], query)
		require.Equal(t, want.last, rows[len(rows)-1].(doc)["date"], query)
	}
	b.clock.Advance(time.Second)
	rows := b.get("/admin/finance/revenue")["data"].([]any)
	require.Equal(t, "2026-08", rows[len(rows)-1].(doc)["date"])
}
