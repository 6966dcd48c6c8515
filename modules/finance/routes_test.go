package finance_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// unknown is an id that no row has.
const unknown = "0123456789abcdef01234567"

// routes are those of this package's reports, each with parameters that it takes.
var routes = []string{
	"/admin/finance/overdue", "/admin/finance/definitions",
	"/admin/events-dashboard/overview", "/admin/events-dashboard/events", "/admin/events-dashboard/events/" + unknown,
	"/admin/events-dashboard/promo-codes", "/admin/events-dashboard/orders",
	"/admin/customers/360?_id=" + unknown,
}

// TestReportsAreForAdmins: nobody and customers see no figure.
func TestReportsAreForAdmins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range routes {
		require.Equal(t, "Not authenticated", b.nobody.Get(path).Expect(http.StatusUnauthorized).Detail(), path)
		require.Equal(t, "Access Denied: Could not validate token.", b.nobody.As("forged").Get(path).Expect(http.StatusForbidden).Detail(), path)
		require.Equal(t, "FORBIDDEN", b.me.Get(path).Expect(http.StatusForbidden).Code(), path)
	}
}

// TestReportsRefuse walks what the parameters may not be: 422 names the parameter.
func TestReportsRefuse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, field := range map[string]string{
		"/admin/finance/overdue?page=-1":                          "page",
		"/admin/finance/overdue?page=x":                           "page",
		"/admin/finance/overdue?page=99999999999999999999":        "page",
		"/admin/finance/overdue?limit=0":                          "limit",
		"/admin/finance/overdue?limit=101":                        "limit",
		"/admin/finance/overdue?limit=1.5":                        "limit",
		"/admin/events-dashboard/events?page=-1":                  "page",
		"/admin/events-dashboard/events?limit=0":                  "limit",
		"/admin/events-dashboard/events?limit=501":                "limit",
		"/admin/events-dashboard/events?event_type=party":         "event_type",
		"/admin/events-dashboard/events?active_only=maybe":        "active_only",
		"/admin/events-dashboard/events/12":                       "event_id",
		"/admin/events-dashboard/events/0123456789abcdef0123456z": "event_id",
		"/admin/customers/360":                                    "_id",
		"/admin/customers/360?_id=":                               "_id",
		"/admin/customers/360?_id=12":                             "_id",
		"/admin/customers/360?email=nobody":                       "email",
		"/admin/customers/360?email=Ana+%3Cana@example.com%3E":    "email",
		"/admin/customers/360?tax_id=123":                         "tax_id",
		"/admin/customers/360?tax_id=5299822472x":                 "tax_id",
		"/admin/customers/360?_id=" + unknown + "&tax_id=1":       "tax_id",
	} {
		answer := b.admin.Get(path)
		require.Equal(t, http.StatusUnprocessableEntity, answer.Status, "%s: %s", path, answer.Body)
		require.Equal(t, "VALIDATION_ERROR", answer.Code(), path)
		require.Equal(t, field, answer.Field(), "%s: %s", path, answer.Body)
		issues, _ := answer.Map()["detail"].([]any)
		require.NotEmpty(t, issues, path)
		require.Contains(t, issues[0].(doc)["loc"], field, path)
	}
}

// TestReportsOfUnknownThings are 404.
func TestReportsOfUnknownThings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{
		"/admin/events-dashboard/events/" + unknown,
		"/admin/customers/360?_id=" + unknown,
		"/admin/customers/360?email=nobody@example.com",
		"/admin/customers/360?tax_id=529.982.247-25",
		"/admin/customers/360?_id=" + customerID.String() + "&email=nobody@example.com",
		"/admin/customers/360?_id=" + adminID.String(), // an admin is no customer
	} {
		require.Equal(t, "NOT_FOUND", b.admin.Get(path).Expect(http.StatusNotFound).Code(), path)
	}
}

// TestReportsOfNothing: without data every figure is 0 and every list empty.
func TestReportsOfNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, at("2026-07-15T12:00:00Z"))
	require.Equal(t, doc{"total_overdue": 0.0, "total_amount_at_risk": 0.0, "customers": []any{}}, b.get("/admin/finance/overdue"))
	require.Equal(t, doc{
		"total_events": 0.0, "active_events": 0.0, "upcoming_events": 0.0, "past_events": 0.0, "total_tickets_issued": 0.0, "total_tickets_sold": 0.0,
		"total_tickets_promo": 0.0, "total_revenue": 0.0, "total_orders": 0.0, "events_by_type": doc{},
	}, b.get("/admin/events-dashboard/overview"))
	require.Equal(t, doc{"total": 0.0, "events": []any{}}, b.get("/admin/events-dashboard/events"))
	none := doc{"total": 0.0, "active": 0.0, "tickets_generated": 0.0}
	require.Equal(t, doc{
		"total_promo_codes": 0.0, "active_promo_codes": 0.0, "total_tickets_from_promos": 0.0, "by_type": doc{"promo": none, "ticket": none}, "top_codes": []any{},
	}, b.get("/admin/events-dashboard/promo-codes"))
	require.Equal(t, doc{
		"total_orders": 0.0, "total_revenue": 0.0, "by_status": doc{}, "by_gateway": doc{}, "by_payment_method": doc{}, "avg_order_value": 0.0, "avg_tickets_per_order": 0.0,
	}, b.get("/admin/events-dashboard/orders"))
}
