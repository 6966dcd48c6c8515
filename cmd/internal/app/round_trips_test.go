package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/bench/busiest"
	"marquee/cmd/bench/wire"
	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/postgres"
	"marquee/testutil/golden"
	"marquee/testutil/pgtest"
)

// TestRoundTripsOfTheBusiestRoutes holds how often a request of the routes that are asked most
// speaks to the database, and how many statements it has executed, with the beginnings and
// ends of transactions: what a list shows is not read one by one. It is the least of some
// tries, since a connection that is new, or was long idle, costs more.
func TestRoundTripsOfTheBusiestRoutes(t *testing.T) {
	t.Parallel()
	requireRoundTrips(t, platformtest.Options{})
}

// TestReplicasCostNoRoundTrip: with a replica as without one, those to both together are as many.
func TestReplicasCostNoRoundTrip(t *testing.T) {
	t.Parallel()
	requireRoundTrips(t, platformtest.Options{
		Config: []func(*app.Config){func(c *app.Config) { c.Database.ReplicaURL = c.Database.URL }},
	})
}

func requireRoundTrips(t *testing.T, o platformtest.Options) {
	t.Helper()
	direct := pgtest.URL(t)
	proxy, url, err := wire.Listen(direct)
	require.NoError(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	o.Config = append([]func(*app.Config){func(c *app.Config) { c.Database.URL = url }}, o.Config...)
	o.Parts.OpenPool = func(ctx context.Context, url string, o postgres.Options) (*pgxpool.Pool, error) {
		if o.ApplicationName == "marquee watch" { // by the clock, whoever asks for what
			url = direct
		}
		return postgres.NewPool(ctx, url, o)
	}
	p := platformtest.NewOf(t, o)
	f := busiestFixture(t, p)
	var out strings.Builder
	for _, route := range busiest.Routes(f) {
		var least wire.Count
		for n := 1; n <= 8; n++ {
			before := proxy.Count()
			requireOK(t, p.Guest.URL(), route.Request(n))
			if c := proxy.Count().Sub(before); n == 1 || c.Trips < least.Trips ||
				c.Trips == least.Trips && c.Statements < least.Statements {
				least = c
			}
		}
		fmt.Fprintf(&out, "%-34s %2d round trips, %2d statements\n", route.Name, least.Trips, least.Statements)
	}
	golden.Equal(t, "testdata/round_trips.golden", out.String())
}

// busiestFixture has more of everything than one row, so that a statement a row would be seen.
func busiestFixture(t *testing.T, p *platformtest.Platform) (f busiest.Fixture) {
	t.Helper()
	admin := p.Admin()
	for n := range 12 {
		video := p.Make(admin, "/videos", platformtest.Object{
			"title": fmt.Sprintf("Film %d", n), "slug": fmt.Sprintf("film-%d", n), "duration": 90,
			"video_id": "https://videos.example.com/1", "release_date": "2024-01-01T00:00:00.000Z",
		})
		event := p.Make(admin, "/events", platformtest.Object{
			"title": fmt.Sprintf("Premiere %d", n), "event_date": "2099-01-01T20:00:00.000Z", "capacity": 1000,
			"is_sale_box_office": true,
		})
		p.Make(admin, "/categories", platformtest.Object{
			"name": fmt.Sprintf("Category %d", n), "slug": fmt.Sprintf("category-%d", n),
		})
		f.Video, f.Event = video["_id"].(string), event["_id"].(string)
	}
	login, _ := p.NewCustomer()
	f.Username, f.Password = login.Username, platformtest.Password
	customer, client := p.NewCustomer()
	id := subscriptionstest.Active(t, p.DB, customer.ID)
	sample, err := os.ReadFile("../../../modules/payments/testdata/webhooks/gwb.invoice.paid.renewal.dahlia.json")
	require.NoError(t, err)
	f.Gateway, err = busiest.NewGateway(sample, paymentstest.GWBSecret)
	require.NoError(t, err)
	f.Renewed = []busiest.Subscription{
		{ID: id.String(), CustomerID: customer.ID.String(), GatewayID: "sub_" + id.String(), Cents: 4990},
	}
	session := p.SignIn(p.Guest, customer.Username, platformtest.Password).Expect(http.StatusOK).Map()
	f.Access, f.Refresh = session["access_token"].(string), session["refresh_token"].(string)
	for range 3 {
		order := client.Post("/store/purchase/gwb/card", platformtest.Object{"event_id": f.Event, "quantity": 2}).
			Expect(http.StatusOK).Map()["order"].(platformtest.Object)
		f.Ticket = order["ticket_ids"].([]any)[0].(string)
	}
	return f
}

func requireOK(t *testing.T, base string, r busiest.Request) {
	t.Helper()
	requireStatus(t, base, r, http.StatusOK)
}

// requireStatus sends a request past the checks of answers, which would read more than it.
func requireStatus(t *testing.T, base string, r busiest.Request, status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.Method, base+r.Path, strings.NewReader(r.Body))
	require.NoError(t, err)
	if r.ContentType != "" {
		req.Header.Set("Content-Type", r.ContentType)
	}
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	for name, value := range r.Header {
		if value == "" {
			continue
		}
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, status, res.StatusCode, "%s %s: %s", r.Method, r.Path, body)
}
