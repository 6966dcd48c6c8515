package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

// TestAPixThatEndsWhileItsGatewayIsSilent: by its customer, or replaced by what they
// subscribe to after a day. They go on at once; the code can be paid for as long as the
// gateway does not answer, and no longer.
func TestAPixThatEndsWhileItsGatewayIsSilent(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		for _, replaced := range []bool{false, true} {
			name := gateway + " cancelled"
			if replaced {
				name = gateway + " replaced"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				b.listen()
				other := map[string]string{"gwa": "gwb", "gwb": "gwa"}[gateway]
				first := idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
				code := column[string](t, b, first, "pix_payment_id")
				pay := func() error {
					if gateway == "gwa" {
						_, err := b.gateways.Sandbox.GWA.Pay(code)
						return err
					}
					return b.gateways.Sandbox.GWB.PayPIX(code)
				}
				faults := stages[gateway](b).Faults
				require.NoError(t, faults.Plan(stage.Fault{
					Path: "/v", Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
				}))
				if replaced {
					b.set(t, first, "register_date = $2, pix_expires_at = $3", b.clock.Now().Add(-25*time.Hour),
						b.clock.Now().Add(time.Hour))
				} else {
					b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
				}
				second := idOf(b.expect(t, 201, http.MethodPost, "/"+other+"/subscribe/pix", object{"plan_id": plan}))
				require.Equal(t, "cancelled", b.status(t, first))
				require.Nil(t, column[*time.Time](t, b, first, "gateway_ended_at"))
				require.Equal(t, second, b.current(t))
				_ = b.service.EndAtGateway(t.Context(), first) // its job
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'open'"))

				faults.Clear()
				b.runStatusChecks(t, time.Minute)
				require.NotNil(t, column[*time.Time](t, b, first, "gateway_ended_at"))
				require.Error(t, pay(), "nobody can pay it any more")
				b.settle(t)
				require.Equal(t, "pending", b.status(t, second))
				require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
			})
		}
	}
}

// TestTheFirstCallOfASubscribeIsNotAnswered: the one that makes the gateway's customer, by
// which nothing is charged. The caller hears 503, nothing is left open, and the same
// request goes through once the gateway is back.
func TestTheFirstCallOfASubscribeIsNotAnswered(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]object{
		"/gwa/subscribe": gwaCard("5162306219378829"), "/gwb/subscribe": gwbCard("pm_card_visa"),
		"/gwa/subscribe/pix": {"plan_id": plan}, "/gwb/subscribe/pix": {"plan_id": plan},
		"/gwa/subscribe/pix-automatico": {"plan_id": plan},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			gateway, customers := path[1:4], map[string]string{"gwa": "/v3/customers", "gwb": "/v1/customers"}
			faults := stages[gateway](b).Faults
			require.NoError(t, faults.Plan(stage.Fault{
				Path: customers[gateway], Kind: stage.FaultStatus, Status: 503, Times: manyTimes,
			}))
			a := b.client(t, "the-key").Post(path, body).Expect(503)
			require.NotEmpty(t, a.Header.Get("Retry-After"))
			require.NotEmpty(t, a.Detail())
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
			require.Zero(t, b.count(t,
				"SELECT count(*) FROM subscriptions.subscriptions WHERE status NOT IN ('cancelled', 'expired') OR intent_open"))
			require.Empty(t, b.current(t))
			faults.Clear()
			id := idOf(b.client(t, "the-key").Post(path, body).Expect(201).Map())
			require.Equal(t, id, b.current(t))
		})
	}
}
