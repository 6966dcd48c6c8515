package tickets_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/tickets"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/sandbox/stage"
)

// purchases are the bodies of all purchase routes.
func purchases(event objectid.ID) map[string]object {
	all := map[string]object{}
	for path, body := range map[string]func() object{
		"gwa/card": func() object { return cardA(event, 1, paymentstest.CardApproved) },
		"gwa/pix":  func() object { return pix(event, 1) },
		"gwb/card": func() object { return cardB(event, 1, paymentstest.TokenApproved) },
		"gwb/pix":  func() object { return pix(event, 1) },
	} {
		all["/store/purchase/"+path] = body()
		all["/store/purchase/checkout/"+path] = guest(body(), "bruno@example.com", guestCPF)
	}
	return all
}

func TestEveryPurchaseRouteRepeatsItsAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	all := purchases(event)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		body := all[path]
		before := len(b.gateways.Charges(t)) + b.count("SELECT count(*) FROM tickets.orders")
		me := b.me.With("Idempotency-Key", "one key for all routes")
		me.Post(path, body).Expect(422)
		me = b.me.With("Idempotency-Key", "one-key-for-all-routes")
		first := me.Post(path, body).Expect(200)
		after := len(b.gateways.Charges(t)) + b.count("SELECT count(*) FROM tickets.orders")
		require.Greater(t, after, before)
		again := me.Post(path, body).Expect(200)
		require.Equal(t, string(first.Body), string(again.Body), path)
		require.Equal(t, after, len(b.gateways.Charges(t))+b.count("SELECT count(*) FROM tickets.orders"), path)
		body["quantity"] = 2
		require.Equal(t, idempotency.CodeReused, me.Post(path, body).Expect(409).Code(), path)
	}
	require.Equal(t, 8, b.issued(event))
}

// TestTwentyEqualRequestsChargeOnce: with one key, one of them charges. Without
// the guard each does.
func TestTwentyEqualRequestsChargeOnce(t *testing.T) {
	t.Parallel()
	const requests = 20
	send := func(b *bundle, event objectid.ID) (different int) {
		me := b.me.With("Idempotency-Key", "8e03978e-40d5-43e8-bc93-6894a57f9324")
		responses := make([]*apitest.Response, requests)
		var wg sync.WaitGroup
		for i := range responses {
			wg.Go(func() {
				responses[i] = me.Post("/store/purchase/gwb/card",
					cardB(event, 1, paymentstest.TokenApproved))
			})
		}
		wg.Wait()
		bodies := map[string]bool{}
		for _, a := range responses {
			if a.Status != 200 {
				require.Equal(t, idempotency.CodeInProgress, a.Expect(409).Code())
				continue
			}
			bodies[string(a.Body)] = true
		}
		bodies[string(me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200).
			Body)] = true
		return len(bodies)
	}
	b := setup(t)
	event := b.event(nil)
	require.Equal(t, 1, send(b, event), "one answer for everybody")
	require.Len(t, b.gateways.Charges(t), 1)
	require.Equal(t, 1, b.issued(event))

	b = setup(t, func(c *tickets.Config) { c.NoHoldLimits = true }) // which would keep some out
	event = b.event(nil)
	b.serve(nil)
	require.Greater(t, send(b, event), 1)
	require.Len(t, b.gateways.Charges(t), requests+1)
}

// TestAPurchaseThatWasCutOffChargesOnce: the gateway took the money, its answer
// was lost, and so was ours. The repetition waits until it is known what became of
// the payment, and then tells it.
func TestAPurchaseThatWasCutOffChargesOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	st := b.gateways.Sandbox.GWA.Stage()
	me := b.me.With("Idempotency-Key", "pix-1")
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v3/payments", Kind: stage.FaultResetAfter, Times: manyTimes,
	}))
	first := me.Post("/store/purchase/gwa/pix", pix(event, 2)).Expect(200)
	require.Equal(t, "PENDING", payment(first.Map())["status"])
	st.Faults.Clear()
	require.Equal(t, string(first.Body), string(me.Post("/store/purchase/gwa/pix", pix(event, 2)).Expect(200).Body),
		"the answer is the key's")
	// As if the answer had not been kept.
	_, err := b.db.Exec(t.Context(), "UPDATE platform.idempotency_keys SET answer = NULL, running_until = $1",
		b.clock.Now())
	require.NoError(t, err)
	a := me.Post("/store/purchase/gwa/pix", pix(event, 2)).Expect(409)
	require.Equal(t, idempotency.CodeInProgress, a.Code(), "the gateway has not been asked yet")
	require.Equal(t, 2, b.issued(event), "no second order")
	b.clock.Advance(2 * time.Minute)
	b.sweep()
	m := me.Post("/store/purchase/gwa/pix", pix(event, 2)).Expect(200).Map()
	require.Equal(t, order(first.Map())["_id"], order(m)["_id"])
	require.NotEmpty(t, m["pix"].(object)["payload"], "the code that was found")
	require.Equal(t, 2, b.issued(event))
}

// TestARestartAfterTheChargeIsTold: the process died between the charge and the
// answer.
func TestARestartAfterTheChargeIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	for _, path := range []string{
		"/store/purchase/gwb/card", "/store/purchase/checkout/gwa/card", "/store/purchase/gwa/pix",
	} {
		body := purchases(event)[path]
		me := b.me.With("Idempotency-Key", "k")
		first := me.Post(path, body).Expect(200)
		// As if the answer had not been kept.
		_, err := b.db.Exec(t.Context(), "UPDATE platform.idempotency_keys SET answer = NULL, running_until = $1",
			b.clock.Now().Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, idempotency.CodeInProgress, me.Post(path, body).Expect(409).Code())
		b.clock.Advance(time.Minute)
		charges := len(b.gateways.Charges(t))
		result := me.Post(path, body).Expect(200)
		require.Len(t, b.gateways.Charges(t), charges)
		require.Equal(t, order(first.Map()), order(result.Map()), path)
		require.Equal(t, payment(first.Map()), payment(result.Map()))
		require.Equal(t, first.Map()["pix"], result.Map()["pix"])
		require.Equal(t, first.Map()["tickets"], result.Map()["tickets"])
		require.Equal(t, string(result.Body), string(me.Post(path, body).Expect(200).Body))
		_, err = b.db.Exec(t.Context(), "DELETE FROM platform.idempotency_keys")
		require.NoError(t, err)
	}
}

func TestADeclineIsRepeatedWithoutAskingTheBankAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	me := b.me.With("Idempotency-Key", "k")
	for range 3 {
		me.Post("/store/purchase/gwa/card", cardA(event, 1, paymentstest.CardDeclined)).Expect(400)
	}
	require.Equal(t, 3, b.count("SELECT count(*) FROM tickets.declines"), "one for address, card and buyer each")
	require.Equal(t, 1, b.count("SELECT count(*) FROM tickets.orders"))
	var stored string
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT to_jsonb(k)::text FROM platform.idempotency_keys k").
		Scan(&stored))
	require.NotContains(t, stored, paymentstest.CardDeclined)
	require.NotContains(t, stored, fmt.Sprintf("%x", paymentstest.CardDeclined))
}
