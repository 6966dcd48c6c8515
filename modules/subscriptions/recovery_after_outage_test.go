package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// TestAPixThatIsBeingClarified: nobody knows whether there is a code; the customer is
// told what is being found out, and may give it up.
func TestAPixThatIsBeingClarified(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ route, path string }{
		"manual":    {"/gwa/subscribe/pix", "/v3/payments"},
		"automatic": {"/gwa/subscribe/pix-automatico", "/v3/pix/automatic/authorizations"},
		"gateway B": {"/gwb/subscribe/pix", "/v1/payment_intents"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			gateway := b.gateways.Sandbox.GWA.Stage()
			if name == "gateway B" {
				gateway = b.gateways.Sandbox.GWB.Stage()
			}
			lose(t, gateway, stage.FaultResetAfter, tc.path)
			first := b.expect(t, 201, http.MethodPost, tc.route, object{"plan_id": plan})
			gateway.Faults.Clear()
			require.NoError(t, gateway.Faults.Plan(stage.Fault{Kind: stage.FaultStatus, Status: 500, Times: 1000}))
			id := b.current(t)
			require.Equal(t, id, idOf(first))
			require.Equal(t, "pending", doc(first)["status"])
			result := info(first)
			require.Equal(t, "unknown", result["payment_status"])
			require.Nil(t, result["pix"].(object)["payload"])
			require.Contains(t, result["message"],
				result["clarifying"].(object)["next_look_at"].(string)[:len("2006-01-02T15:04:05")])
			require.Contains(t, result["message"], "GET /customers/me/pix-qr")

			b.runStatusChecks(t, 5*time.Second)
			qr := b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)
			require.Nil(t, qr["pix"].(object)["qr_code"])
			clarifying := qr["clarifying"].(object)
			require.NotEmpty(t, clarifying["since"])
			next, err := time.Parse(time.RFC3339, clarifying["next_look_at"].(string))
			require.NoError(t, err)
			require.True(t, next.After(b.clock.Now()))
			again := b.expect(t, 409, http.MethodPost, tc.route, object{"plan_id": plan})
			require.Contains(t, again["detail"], next.Format(time.RFC3339))
			require.Contains(t, again["detail"], "DELETE /customers/me/subscription")

			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
			require.Equal(t, "cancelled", b.status(t, id))
			require.True(t, column[bool](t, b, id, "intent_open"), "what was made is still to be found")
			gateway.Faults.Clear()
			other := b.expect(t, 201, http.MethodPost, tc.route, object{"plan_id": plan})
			require.NotEmpty(t, info(other)["pix"].(object)["payload"])

			b.work(t)
			b.runStatusChecks(t, time.Minute)
			eventually(t, "it is known, if by a check of the jobs",
				func() bool { return !column[bool](t, b, id, "intent_open") })
			require.False(t, column[bool](t, b, id, "intent_open"))
			eventually(t, "what was made for the first is ended at the gateway", func() bool {
				return column[*time.Time](t, b, id, "gateway_ended_at") != nil
			})
			require.Equal(t, idOf(other), b.current(t))
		})
	}
}

// TestRecoveryWithinAMinuteOfTheGateways: outages of both gateways, of seconds to
// hours, in which every way to subscribe lost its answer.
func TestRecoveryWithinAMinuteOfTheGateways(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, other := b.gateways.Sandbox.GWA, b.gateways.Sandbox.GWB
	late, total := 0, 0
	for _, outage := range []time.Duration{3 * time.Second, 50 * time.Second, 11 * time.Minute, 3 * time.Hour} {
		var ids []objectid.ID
		lose(t, a.Stage(), stage.FaultResetAfter, "/v3/subscriptions")
		lose(t, a.Stage(), stage.FaultResetAfter, "/v3/payments")
		for range 5 {
			b.newcomer(t)
			ids = append(ids,
				idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved))))
			b.newcomer(t)
			ids = append(ids, idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})))
			b.newcomer(t)
			a := plannedLoss(t, b)
			ids = append(ids, a)
		}
		a.Stage().Faults.Clear()
		other.Stage().Faults.Clear()
		for _, s := range []*stage.Stage{a.Stage(), other.Stage()} {
			require.NoError(t, s.Faults.Plan(stage.Fault{Kind: stage.FaultStatus, Status: 503, Times: 100_000}))
		}
		for left := outage; left > 0; {
			step := min(left, max(5*time.Second, left/20))
			b.clock.Advance(step - min(step, 5*time.Second))
			b.runStatusChecks(t, min(step, 5*time.Second))
			left -= step
		}
		a.Stage().Faults.Clear()
		other.Stage().Faults.Clear()
		b.runStatusChecks(t, time.Minute)
		for _, id := range ids {
			total++
			if column[bool](t, b, id, "intent_open") {
				late++
			}
		}
		b.runStatusChecks(t, 15*time.Minute)
	}
	require.LessOrEqual(t, late*100, total*5, "%d of %d", late, total)
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions WHERE intent_open"))
}

// plannedLoss is a card at gateway B whose answer is lost.
func plannedLoss(t *testing.T, b *bundle) objectid.ID {
	t.Helper()
	lose(t, b.gateways.Sandbox.GWB.Stage(), stage.FaultResetAfter, "/v1/subscriptions")
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved)))
	b.gateways.Sandbox.GWB.Stage().Faults.Clear()
	return id
}

// TestAPixThatWasGivenUpIsPaidAllTheSame: beside the next one its money goes back, without
// one it opens the subscription again.
func TestAPixThatWasGivenUpIsPaidAllTheSame(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"beside the next one": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			gw := b.gateways.Sandbox.GWA.Stage()
			lose(t, gw, stage.FaultResetAfter, "/v3/payments")
			b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
			gw.Faults.Clear()
			first := b.current(t)
			b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
			next := objectid.ID("")
			if again {
				next = idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
			}
			now := b.clock.Now()
			paid := gateway.Event{
				Gateway: gateway.GWA, Type: gateway.Reconciled, Reference: first, CreatedAt: now,
				Payload: gateway.SettledPayment{Payment: gateway.Payment{
					ID: "pay_given_up", Status: gateway.PaymentStatusSettled, NativeStatus: "RECEIVED",
					Method: gateway.MethodPix, Amount: 4990, SettledAt: &now,
				}},
			}
			for range 2 {
				b.apply(t, paid)
			}
			listed := b.count(t,
				"SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = 'pay_given_up' AND automatic AND kind = 'late'")
			if !again {
				require.Equal(t, "active", b.status(t, first))
				require.Equal(t, first, b.current(t))
				require.Zero(t, listed)
				return
			}
			require.Equal(t, "cancelled", b.status(t, first))
			require.Equal(t, "pending", b.status(t, next))
			require.Equal(t, next, b.current(t))
			require.Equal(t, 1, listed)
		})
	}
}
