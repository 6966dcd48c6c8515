package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
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
	"marquee/testutil/sandbox"
)

// cardPurchase is a way to pay by card, with what a client sends and gets.
type cardPurchase struct {
	path   string
	card   platformtest.Object
	status int
}

// cardPurchases are all of them. The card of gateway A comes whole.
var cardPurchases = []cardPurchase{
	{"/gwa/subscribe", wholeCard, http.StatusCreated},
	{"/gwb/subscribe", cardToken, http.StatusCreated},
	{"/store/purchase/gwa/card", wholeCard, http.StatusOK},
	{"/store/purchase/gwb/card", cardToken, http.StatusOK},
}

var (
	cardToken = platformtest.Object{"payment_method_id": paymentstest.TokenApproved}
	wholeCard = platformtest.Object{
		"credit_card": platformtest.Object{
			"holderName": "ANA SOUZA", "number": paymentstest.CardApproved, "expiryMonth": "05", "expiryYear": "2099",
			"ccv": "318",
		},
		"credit_card_holder_info": platformtest.Object{
			"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
			"addressNumber": "150", "phone": "1138830000",
		},
	}
)

// mostTripsOfAPurchase is the goal: what a purchase by card may speak to the database, also with an Idempotency-Key.
const mostTripsOfAPurchase = 8

// TestRoundTripsOfCardPurchases holds how often a purchase by card speaks to the database, at both gateways, with an
// Idempotency-Key and without, by customers whom the gateway knows. It is the least of some tries, as of the busiest
// routes.
func TestRoundTripsOfCardPurchases(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	proxy, url, err := wire.Listen(direct)
	require.NoError(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	o := platformtest.Options{Gateways: true}
	o.Config = []func(*app.Config){func(c *app.Config) { c.Database.URL = url }}
	o.Parts.OpenPool = func(ctx context.Context, url string, o postgres.Options) (*pgxpool.Pool, error) {
		if o.ApplicationName == "marquee watch" { // by the clock, whoever asks for what
			url = direct
		}
		return postgres.NewPool(ctx, url, o)
	}
	p := platformtest.NewOf(t, o)
	subscriptionstest.Plan(t, p.DB, subscriptionstest.PlanID, 4990)
	event := p.Make(p.Admin(), "/events", platformtest.Object{
		"title": "Premiere", "event_date": "2099-01-01T20:00:00.000Z", "capacity": 100_000, "ticket_value": 50,
		"is_sale_box_office": true,
	})["_id"]
	p.Gateways.Sandbox.SetWebhooks(sandbox.Webhooks{}) // they would be counted as well
	send := func(buy cardPurchase, token, key string) {
		body := platformtest.Object{"event_id": event, "quantity": 2}
		if strings.HasSuffix(buy.path, "/subscribe") {
			body = platformtest.Object{"plan_id": subscriptionstest.PlanID}
		}
		maps.Copy(body, buy.card)
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		requireStatus(t, p.Guest.URL(), busiest.Request{
			Method: http.MethodPost, Path: "/api/v1" + buy.path, Body: string(raw), ContentType: "application/json",
			Token: token, Header: map[string]string{"Idempotency-Key": key},
		}, buy.status)
	}
	var out strings.Builder
	for i, buy := range cardPurchases {
		for _, key := range []string{"", "with a key"} {
			var least int64
			for n := 1; n <= 6; n++ {
				customer, _ := p.NewCustomer()
				token := p.Token(customer.Username)
				send(cardPurchases[2+i%2], token, "") // the gateway knows who pays
				before := proxy.Count()
				send(buy, token, strings.ReplaceAll(key, " ", "-"))
				if trips := proxy.Count().Sub(before).Trips; n == 1 || trips < least {
					least = trips
				}
			}
			assert.LessOrEqual(t, least, int64(mostTripsOfAPurchase), buy.path)
			fmt.Fprintf(&out, "POST %-24s %-10s %2d round trips\n", buy.path, key, least)
		}
	}
	golden.Equal(t, "testdata/purchase_round_trips.golden", out.String())
}
