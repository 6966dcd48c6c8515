package tickets_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// TestTwoHundredBehindOneAddress: in a cinema's network everybody has the same address.
// 200 buyers come at once, 50 at a time, sign in or not, and pay by PIX or card at both
// gateways. Whom a limit keeps waiting comes again when somebody has paid, and in the end
// everybody has their ticket.
func TestTwoHundredBehindOneAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	event := b.event(object{"capacity": 400})
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	at := make(chan struct{}, 50)
	for n := range 200 {
		all.Go(func() {
			at <- struct{}{}
			defer func() { <-at }()
			buy := buyerInTheRoom(b, event, n)
			for tries := 0; ; tries++ {
				a := buy()
				mu.Lock()
				statuses[a.Status]++
				mu.Unlock()
				if a.Status == http.StatusTooManyRequests && tries < 1000 {
					b.settle() // who waits sees others pay
					continue
				}
				payOrder(b, a.Expect(200).Map())
				return
			}
		})
	}
	all.Wait()
	b.work() // an event whose time was over before it was applied waits for a job
	b.settle()
	t.Logf("answers by status: %v", statuses)
	require.Equal(t, 200, statuses[http.StatusOK])
	const given = "SELECT count(*) FROM tickets.tickets WHERE event_id = $1 AND status = 'available'"
	b.eventually("all have their ticket", func() bool { return b.count(given, event) == 200 })
	require.Equal(t, 200, b.count(given, event))
	require.Equal(t, 200, b.issued(event))
	require.Equal(t, 0, b.count("SELECT places_unpaid + places_unpaid_guests FROM tickets.events WHERE id = $1", event))
	require.Equal(t, 0, b.count("SELECT count(address_mac) FROM tickets.orders"), "who has paid came from nowhere")
}

// buyerInTheRoom is one of the 200: every second one a guest, every second pair by card.
func buyerInTheRoom(b *bundle, event objectid.ID, n int) func() *apitest.Response {
	gateway := []string{"gwa", "gwb"}[n/4%2]
	body, way := pix(event, 1), "pix"
	if n/2%2 == 1 {
		way = "card"
		body = cardA(event, 1, paymentstest.CardApproved)
		if gateway == "gwb" {
			body = cardB(event, 1, paymentstest.TokenApproved)
		}
	}
	if n%2 == 1 {
		body = guest(body, fmt.Sprintf("buyer%d@example.com", n), cnpj(n))
		return func() *apitest.Response { return b.nobody.Post("/store/purchase/checkout/"+gateway+"/"+way, body) }
	}
	_, me := b.another()
	return func() *apitest.Response { return me.Post("/store/purchase/"+gateway+"/"+way, body) }
}

// payOrder pays the PIX of an answer to a purchase, if it has one.
func payOrder(b *bundle, o object) {
	b.t.Helper()
	code, ok := o["pix"].(object)
	if !ok {
		return
	}
	var err error
	if order(o)["gateway"] == "gwa" {
		_, err = b.gateways.Sandbox.GWA.PayPIX(code["payload"].(string))
	} else {
		err = b.gateways.Sandbox.GWB.PayPIX(order(o)["gateway_payment_id"].(string))
	}
	require.NoError(b.t, err)
}

// cnpj makes a CNPJ with valid check digits from a number.
func cnpj(n int) string {
	digits := fmt.Sprintf("%08d0001", n)
	for _, weights := range [][]int{{5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2}, {6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2}} {
		sum := 0
		for i, d := range digits {
			sum += int(d-'0') * weights[i]
		}
		check := 11 - sum%11
		if check > 9 {
			check = 0
		}
		digits += strconv.Itoa(check)
	}
	return digits
}

// TestPlacesGivenBackAreNotHeldAnyMore: the limits count what is held, not what was.
func TestPlacesGivenBackAreNotHeldAnyMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"max_per_person": 10})
	b.me.Post("/store/purchase/gwb/pix", pix(event, 10)).Expect(200)
	b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(409)
	b.clock.Advance(31 * time.Minute)
	b.sweep()
	require.Equal(t, 0, b.issued(event))
	require.Equal(t, 0, b.count("SELECT count(tax_id_mac) + count(email_mac) + count(address_mac) FROM tickets.orders"),
		"nor is known who had them")
	b.me.Post("/store/purchase/gwb/pix", pix(event, 10)).Expect(200)
	b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenDeclined)).Expect(409)
}

// TestADeclinedCardHoldsNothing: nor does it count against who tries another one.
func TestADeclinedCardHoldsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	for range 3 {
		b.me.Post("/store/purchase/gwb/card", cardB(event, 10, paymentstest.TokenDeclined)).Expect(400)
	}
	b.me.Post("/store/purchase/gwb/card", cardB(event, 10, paymentstest.TokenApproved)).Expect(200)
	b.me.Post("/store/purchase/gwb/card", cardB(event, 10, paymentstest.TokenApproved)).Expect(200)
}

// TestWhoHeldPlacesIsForgotten: when the event is over, and with the account.
func TestWhoHeldPlacesIsForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"max_per_person": 4})
	leaver, leaving := b.another()
	places := func(c accounts.Customer) int {
		return b.count("SELECT count(tax_id_mac) + count(email_mac) FROM tickets.orders WHERE customer_id = $1", c.ID)
	}
	b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200)
	leaving.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200)
	require.Equal(t, 2, places(b.customer))
	require.Equal(t, 2, places(leaver))
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, b.service.ErasePersonalDataTx(t.Context(), tx, leaver.ID))
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, 0, places(leaver))
	b.clock.Advance(31 * 24 * time.Hour)
	b.sweep()
	require.Equal(t, 0, places(b.customer))
}

// TestAFreeEventWithoutALimitKnowsNobody: nothing is stored that no limit asks for.
func TestAFreeEventWithoutALimitKnowsNobody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"ticket_value": nil})
	b.me.Post("/store/purchase/gwb/pix", pix(event, 10)).Expect(200)
	b.me.Post("/store/purchase/gwb/pix", pix(event, 10)).Expect(200)
	require.Equal(t, 0, b.count("SELECT count(tax_id_mac) + count(email_mac) + count(address_mac) FROM tickets.orders"))
}

// TestTheLimitOfAnEventIsAField of the collection and of the store.
func TestTheLimitOfAnEventIsAField(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	limit := func() any { return b.nobody.Get("/store/events/" + event.String()).Expect(200).Map()["max_per_person"] }
	require.Nil(t, limit())
	b.admin.Put("/events", []object{{"_id": event, "max_per_person": 2}}).Expect(200)
	require.EqualValues(t, 2, limit())
	b.me.Post("/store/purchase/gwb/pix", pix(event, 3)).Expect(409)
	require.Equal(t, "max_per_person", b.admin.Put("/events", []object{{
		"_id": event, "max_per_person": 0,
	}}).Expect(422).Field())
	b.admin.Put("/events", []object{{"_id": event, "max_per_person": nil}}).Expect(200)
	b.me.Post("/store/purchase/gwb/pix", pix(event, 3)).Expect(200)
}
