package tickets_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// way is one way to pay for tickets.
type way struct {
	path, call string
	body       func(event objectid.ID) object
	word       string // payment_status while the answer is not known
	card       bool
}

var ways = map[string]way{
	"gwa card": {
		path: "/store/purchase/gwa/card", call: "/v3/payments",
		body: func(id objectid.ID) object { return cardA(id, 2, paymentstest.CardApproved) }, word: "PENDING",
		card: true,
	},
	"gwb card": {
		path: "/store/purchase/gwb/card", call: "/v1/payment_intents",
		body: func(id objectid.ID) object { return cardB(id, 2, paymentstest.TokenApproved) }, word: "processing",
		card: true,
	},
	"gwa pix": {
		path: "/store/purchase/gwa/pix", call: "/v3/payments",
		body: func(id objectid.ID) object { return pix(id, 2) }, word: "PENDING", card: false,
	},
	"gwb pix": {
		path: "/store/purchase/gwb/pix", call: "/v1/payment_intents",
		body: func(id objectid.ID) object { return pix(id, 2) }, word: "requires_action", card: false,
	},
}

// TestOddAnswersToAPurchase: an answer that is none gives no tickets, takes none away
// and is no error of the buyer's. The checks find out what the call did.
func TestOddAnswersToAPurchase(t *testing.T) {
	t.Parallel()
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			st := b.gateways.Sandbox.GWA.Stage()
			if w.call == "/v1/payment_intents" {
				st = b.gateways.Sandbox.GWB.Stage()
			}
			for _, status := range []int{http.StatusOK, http.StatusNotFound, http.StatusInternalServerError} {
				for _, odd := range stage.OddResponses {
					if odd == stage.OddError && status != http.StatusInternalServerError || odd == stage.OddHuge {
						continue // a refusal in the gateway's own form is one; what is too long is the adapters' to test
					}
					oddPurchase(t, b, w, st, stage.Fault{
						Method: http.MethodPost, Path: w.call, Kind: stage.FaultOddAfter, Status: status, Answer: odd,
						Times: manyTimes,
					})
				}
			}
			oddPurchase(t, b, w, st, stage.Fault{
				Method: http.MethodPost, Path: w.call, Kind: stage.FaultStatus, Status: http.StatusInternalServerError,
				Times: manyTimes,
			})
		})
	}
}

// oddPurchase buys two tickets while the gateway answers oddly.
func oddPurchase(t *testing.T, b *bundle, w way, st *stage.Stage, f stage.Fault) {
	t.Helper()
	event, made := b.event(nil), f.Kind == stage.FaultOddAfter
	what := fmt.Sprintf("%s %d %s", f.Kind, f.Status, f.Answer)
	require.NoError(t, st.Faults.Plan(f))
	a := b.me.Post(w.path, w.body(event))
	require.Equal(t, http.StatusOK, a.Status, "%s: %s", what, a.Body)
	m := a.Map()
	require.Equal(t, "PENDING", payment(m)["status"], what)
	require.Nil(t, payment(m)["id"], what)
	require.Nil(t, m["pix"], what)
	require.Equal(t, w.word, order(m)["payment_status"], what)
	require.Equal(t, 2, b.issued(event), "%s: the places are held", what)
	require.Equal(t, "pending", b.ticketStatus(ticketsOf(m)[0]), what)

	// While the gateway goes on so, nothing is known.
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Kind: stage.FaultOdd, Status: http.StatusOK, Answer: stage.OddObject, Times: manyTimes,
	}))
	b.clock.Advance(10 * time.Minute)
	b.sweep()
	require.Equal(t, "pending", b.ticketStatus(ticketsOf(m)[0]), what)
	st.Faults.Clear()

	for range 5 { // growing pauses, until empty checks prove something
		b.clock.Advance(20 * time.Minute)
		b.sweep()
	}
	state, _ := b.orderRow(order(m)["_id"].(string))
	switch {
	case made && w.card:
		require.Equal(t, "paid", state, what)
		require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[0]), what)
	default: // nobody has seen the code, or nothing was made
		require.Equal(t, "released", state, what)
		require.Zero(t, b.issued(event), what)
	}
	require.Zero(t, b.count("SELECT count(*) FROM payments.intents WHERE state = 'open'"), what)
}

// TestNoCheckWhileTheCallIsUnderWay: its empty answer would prove nothing.
func TestNoCheckWhileTheCallIsUnderWay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	st := b.gateways.Sandbox.GWB.Stage()
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/payment_intents", Kind: stage.FaultStatus, Times: manyTimes,
	}))
	m := b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200).Map()
	st.Faults.Clear()
	// As if the process had died in the call: nobody has told how it ended.
	_, err := b.db.Exec(t.Context(),
		"UPDATE payments.intents SET leased_until = call_ends_at, next_look_at = call_ends_at")
	require.NoError(t, err)
	for range 4 {
		b.clock.Advance(20 * time.Second)
		b.sweep()
		require.NoError(t, b.service.Reconcile().Recover(t.Context(), objectid.ID(order(m)["_id"].(string))))
	}
	require.Zero(t, b.count("SELECT looks FROM payments.intents"), "90 s are the call's")
	for range 2 {
		require.Equal(t, 1, b.issued(event))
		b.clock.Advance(time.Minute)
		b.sweep()
	}
	require.Zero(t, b.issued(event), "two empty checks at gateway B")
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents WHERE state = 'missing'"))
}
