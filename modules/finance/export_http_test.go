package finance_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/finance"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/modules/tickets/ticketstest"
)

var exportRoutes = []string{"/admin/finance/export", "/admin/events-dashboard/events/export", "/admin/customers/export"}

func TestExportsAreForAdmins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := accountstest.Customer(t, b.db)
	me := accountstest.Token(t, b.db, customer.Username)
	for _, route := range exportRoutes {
		b.nobody.Get(route).Expect(http.StatusUnauthorized)
		b.nobody.As(me).Get(route).Expect(http.StatusForbidden)
		b.nobody.Get(route + "?token=" + me).Expect(http.StatusForbidden)
		b.nobody.Get(route + "?token=nonsense").Expect(http.StatusForbidden)
		b.nobody.Get(route + "?format=json&token=" + b.token).Expect(http.StatusOK)
	}
}

func TestExportsNameTheirFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	types := map[string]string{
		"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "csv": "application/zip",
		"json": "application/json; charset=utf-8",
	}
	extensions := map[string]string{"xlsx": "xlsx", "csv": "zip", "json": "json"}
	for route, name := range map[string]string{
		"/admin/finance/export":                                 "finance_2026-08-17_2026-11-15",
		"/admin/events-dashboard/events/export":                 "events_dashboard_20261115_1200",
		"/admin/customers/export":                               "customers_2026-11-15",
		"/admin/finance/export?start=2026-01-31&end=2026-02-01": "finance_2026-01-31_2026-02-01",
	} {
		for format, contentType := range types {
			address, err := url.Parse(route)
			require.NoError(t, err)
			q := address.Query()
			q.Set("format", format)
			res := b.admin.Get(address.Path + "?" + q.Encode()).Expect(http.StatusOK)
			require.Equal(t, contentType, res.Header.Get("Content-Type"))
			require.Equal(t, disposition(name+"."+extensions[format]), res.Header.Get("Content-Disposition"))
			require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		}
		require.Equal(t, types["xlsx"], b.admin.Get(route).Expect(http.StatusOK).Header.Get("Content-Type"),
			"the default")
	}
}

func TestExportsRefuseBadParameters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for address, field := range map[string]string{
		"/admin/finance/export?format=pdf":                                             "format",
		"/admin/finance/export?start=yesterday":                                        "start",
		"/admin/finance/export?start=2026-02-30":                                       "start",
		"/admin/finance/export?end=2026-1-1":                                           "end",
		"/admin/finance/export?end=2026-11":                                            "end",
		"/admin/finance/export?start=2026-03-02&end=2026-03-01":                        "start",
		"/admin/finance/export?start=2027-01-01":                                       "start",
		"/admin/finance/export?async=maybe":                                            "async",
		"/admin/finance/export?bom=maybe":                                              "bom",
		"/admin/events-dashboard/events/export?format=ods":                             "format",
		"/admin/events-dashboard/events/export?event_type=concert":                     "event_type",
		"/admin/events-dashboard/events/export?active_only=perhaps":                    "active_only",
		"/admin/customers/export?query=%7B":                                            "query",
		"/admin/customers/export?query=%5B1%5D":                                        "query",
		"/admin/customers/export?query=" + url.QueryEscape(`{"email":{"$where":"1"}}`): "query",
		"/admin/customers/export?async=1&query=%7B":                                    "query",
		"/admin/exports/nonsense":                                                      "id",
	} {
		res := b.admin.Get(address).Expect(http.StatusUnprocessableEntity)
		require.Equal(t, field, res.Field(), address)
		require.Equal(t, "VALIDATION_ERROR", res.Code(), address)
	}
}

func TestCustomersExportFiltersAsTheListDoes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ana := accountstest.Customer(t, b.db,
		func(u *accounts.NewUser) { u.FullName, u.Phone = "=cmd|' /C calc'!A1", "+5511912345678" })
	bia := accountstest.Customer(t, b.db)
	gone := accountstest.Customer(t, b.db)
	subscriptionstest.Active(t, b.db, ana.ID)
	_, err := b.db.Exec(t.Context(), `UPDATE accounts.users SET deleted_at = now() WHERE id = $1`, gone.ID)
	require.NoError(t, err)

	usernames := func(filter string) []string {
		t.Helper()
		var file struct {
			Customers []struct {
				Username string `json:"username"`
			} `json:"customers"`
		}
		b.admin.Get("/admin/customers/export?format=json&query=" + url.QueryEscape(filter)).Expect(http.StatusOK).
			JSON(&file)
		names := []string{}
		for _, c := range file.Customers {
			names = append(names, c.Username)
		}
		return names
	}
	both := []string{ana.Username, bia.Username}
	for filter, want := range map[string][]string{
		"": both, "{}": both, "null": both,
		`{"_id":{"$oid":"` + ana.ID.String() + `"}}`:                   {ana.Username},
		`{"subscription_status":"active"}`:                             {ana.Username},
		`{"plan_id":null}`:                                             {bia.Username},
		`{"email":{"$regex":"^` + bia.Username + `@","$options":"i"}}`: {bia.Username},
		`{"password_hash":{"$exists":true}}`:                           {}, // as if no document had it
		`{"tokens_valid_after":{"$ne":null}}`:                          {},
		`{"is_root":false}`:                                            {},
		`{"promo_code_used":{"$exists":false}}`:                        both,
		`{"created_at":{"$gt":"2999-01-01"}}`:                          {},
	} {
		require.Equal(t, want, usernames(filter), filter)
	}

	rows := csvFiles(t, b.admin.Get("/admin/customers/export?format=csv").Expect(http.StatusOK).Body)["customers.csv"]
	require.Len(t, rows, 3)
	got := map[string]string{}
	for i, name := range rows[0] {
		got[name] = rows[1][i]
	}
	require.Equal(t, "'=cmd|' /C calc'!A1", got["full_name"])
	require.Equal(t, "+5511912345678", got["phone"], "a phone number is no formula")
	require.Equal(t, subscriptionstest.PlanID, got["plan_id"])
	require.Equal(t, "49.90", got["monthly_price"])
	require.NotContains(t, rows[0], "password_hash")
}

func TestEventsExport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lecture := ticketstest.EventAt(t, b.db, 4, noon.AddDate(0, 1, 0))
	hidden := ticketstest.EventAt(t, b.db, -1, noon)
	_, err := b.db.Exec(t.Context(), `UPDATE tickets.events SET event_type = 'lecture', title = '@home' WHERE id = $1`,
		lecture)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), `UPDATE tickets.events SET is_active = false WHERE id = $1`, hidden)
	require.NoError(t, err)
	customer := accountstest.Customer(t, b.db)
	_, err = b.db.Exec(t.Context(), `INSERT INTO tickets.customers VALUES ($1, 'Ana', 'ana@example.com')`, customer.ID)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(),
		`INSERT INTO tickets.tickets (event_id, customer_id, title, status, reason) VALUES ($1, $2, 'Seat', 'available', 'gift')`, lecture, customer.ID)
	require.NoError(t, err)

	read := func(query string) (events, tickets []map[string]any) {
		t.Helper()
		var file struct{ Events, Tickets []map[string]any }
		b.admin.Get("/admin/events-dashboard/events/export?format=json" + query).Expect(http.StatusOK).JSON(&file)
		return file.Events, file.Tickets
	}
	events, tickets := read("")
	require.Len(t, events, 2)
	require.Equal(t, lecture.String(), events[0]["event_id"], "the latest date first")
	require.Equal(t, "@home", events[0]["title"], "json is not touched")
	require.EqualValues(t, 25, events[0]["occupancy_pct"])
	require.EqualValues(t, 1, events[0]["tickets_issued"])
	require.EqualValues(t, 0, events[1]["capacity"], "unlimited")
	require.Len(t, tickets, 1)
	require.Equal(t, customer.Email, tickets[0]["customer_email"])
	require.Nil(t, tickets[0]["unit_price"])

	events, _ = read("&event_type=lecture")
	require.Len(t, events, 1)
	events, tickets = read("&event_type=screening")
	require.Empty(t, events)
	require.Empty(t, tickets)
	events, _ = read("&active_only=true")
	require.Len(t, events, 1)

	files := csvFiles(t, b.admin.Get("/admin/events-dashboard/events/export?format=csv").Expect(http.StatusOK).Body)
	require.Equal(t, "'@home", files["Events.csv"][1][1])
	require.Len(t, files["Tickets.csv"], 2)
}

// A file that is taken away is noted; what was filtered by is not, since it may
// name people.
func TestExportsAreAudited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.admin.Get("/admin/customers/export?format=csv&query=" + url.QueryEscape(`{"email":"ana@example.com"}`)).
		Expect(http.StatusOK)
	b.admin.Get("/admin/customers/export?format=pdf").Expect(http.StatusUnprocessableEntity)
	var action, path string
	var after json.RawMessage
	require.NoError(t,
		b.db.QueryRow(t.Context(),
			`SELECT action, path, after FROM accounts.audit_log WHERE resource = 'exports' AND actor_id = $1`,
			b.who.ID).Scan(&action, &path, &after))
	require.Equal(t, "customer_export", action)
	require.Equal(t, "/api/v1/admin/customers/export", path)
	require.JSONEq(t, `{"kind":"customers","format":"csv","filename":"customers_2026-11-15.zip","filtered":"true"}`,
		string(after))
}

func TestALongExportIsWrittenByAJob(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *finance.Deps) { d.Exports.SyncRows = 3 })
	b.customers(3)
	b.admin.Get("/admin/customers/export?format=json").Expect(http.StatusOK)
	accountstest.Customer(t, b.db)
	res := b.admin.Get("/admin/customers/export?format=json").Expect(http.StatusAccepted)
	require.Equal(t, "queued", res.Map()["status"])
	require.Equal(t, res.Header.Get("Location"), res.Map()["status_url"])
	require.Empty(t, res.Header.Get("Content-Disposition"))
}
