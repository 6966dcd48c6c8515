package attacks

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/testutil/apitest"
)

// A member that comes again, in another letter case or in the same, passes the schema by
// its first spelling and is read by its last. Every body field of every route is sent so
// by TestBadInput; here is what it would buy.
func TestMisspeltMembersPassValidation(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 10, "max_per_person": 2})
	_, customer := b.NewCustomer()
	_, admin := b.NewAdmin()
	before := b.Count("SELECT count(*) FROM tickets.orders") + b.Count("SELECT count(*) FROM promos.promo_codes") +
		b.Count("SELECT count(*) FROM tickets.events")
	event := `"event_id":"` + b.event.String() + `"`
	for what, attack := range map[string]struct {
		client             *apitest.Client
		path, body, member string
	}{
		"a negative number of tickets": {
			client: customer, path: "/store/purchase/gwb/pix", body: `{` + event + `,"quantity":1,"QUANTITY":-3}`,
			member: "QUANTITY",
		},
		"more than one person may": {
			client: customer, path: "/store/purchase/gwb/pix", body: `{` + event + `,"quantity":1,"quantity":9}`,
			member: "quantity",
		},
		"in one spelling, not ours": {
			client: customer, path: "/store/purchase/gwb/pix", body: `{` + event + `,"Quantity":-3}`,
			member: "quantity",
		},
		"written with an escape": {
			client: customer, path: "/store/purchase/gwb/pix", body: `{` + event + `,"quantity":1,"\u0051uantity":-3}`,
			member: "Quantity",
		},
		"folded beyond ASCII": {
			client: customer, path: "/store/purchase/gwb/pix", body: `{` + event + `,"quantity":1,"event_\u0131d":"x"}`,
			member: "event_\u0131d",
		},
		"another buyer": {
			client: b.Guest, path: "/store/purchase/checkout/gwb/pix",
			body: `{` + event +
				`,"quantity":1,"buyer":{"full_name":"Bruno Lima","email":"a@example.com","EMAIL":"b@example.com","tax_id":"52998224725"}}`,
			member: "EMAIL",
		},
		"a price below nothing, in a list": {
			client: admin, path: "/events",
			body:   `[{"title":"A","event_date":"2099-01-02T03:04:05Z","ticket_value":60,"Ticket_Value":-60}]`,
			member: "Ticket_Value",
		},
		"in the second of a list": {
			client: admin, path: "/promo-codes", body: `[{"title":"A"},{"title":"A","TITLE":"B"}]`, member: "TITLE",
		},
	} {
		path := attack.path
		if path == "/promo-codes" {
			path = "/admin" + path
		}
		a := attack.client.Send(http.MethodPost, path, "application/json", []byte(attack.body))
		require.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s: %s", what, a.Body)
		require.Equal(t, "VALIDATION_ERROR", a.Code(), what)
		require.Contains(t, string(a.Body), attack.member, "%s names the member: %s", what, a.Body)
	}
	after := b.Count("SELECT count(*) FROM tickets.orders") + b.Count("SELECT count(*) FROM promos.promo_codes") +
		b.Count("SELECT count(*) FROM tickets.events")
	require.Equal(t, before, after, "nothing is made")

	// What gateways send is theirs to spell.
	odd := `{"id":"evt_odd","ID":"evt_other","event":"UNHEARD_OF","event":"UNHEARD_OF","Payment":{}}`
	webhook(b.Guest, "gwa", "asaas-access-token", paymentstest.GWAToken, odd).Expect(http.StatusOK)
}
