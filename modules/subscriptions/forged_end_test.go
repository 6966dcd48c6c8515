package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
)

// TestAForgedCancellationLeavesNothingCharging: an authorization that an event of gateway A says was cancelled ends the
// subscription at once. Where that is untrue it is cancelled at the gateway, too, so that nobody pays for nothing.
func TestAForgedCancellationLeavesNothingCharging(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, auth := b.authorized(t)
	b.work(t)
	forge(t, b, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CANCELLED", "authorization",
		object{"id": auth, "status": "CANCELLED", "contractId": id.String()})
	eventually(t, "it ends here", func() bool { return b.status(t, id) == "cancelled" })
	require.NoError(t, b.service.EndAtGateway(t.Context(), id))
	eventually(t, "and there", func() bool { return column[*time.Time](t, b, id, "gateway_ended_at") != nil })
	authorization, err := b.gateways.A.ReadPixAuthorization(t.Context(),
		gateway.AuthorizationRef{ID: auth, SubscriptionID: id})
	require.NoError(t, err)
	require.Equal(t, gateway.AuthorizationStatusCancelled, authorization.Status)
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.webhook_logs WHERE result->>'status' = 'queued'"))
}

// TestAnEndThatGatewayBTellsIsChecked: an event of another environment, or played again,
// ends the subscription here, so that nothing may go on charging there.
func TestAnEndThatGatewayBTellsIsChecked(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]func(gateway.RemoteSubscription) gateway.Payload{
		"deleted": func(s gateway.RemoteSubscription) gateway.Payload {
			return gateway.SubscriptionEnd{
				Subscription: s,
			}
		},
		"updated": func(s gateway.RemoteSubscription) gateway.Payload {
			return gateway.SubscriptionChange{
				Subscription: s,
			}
		},
	} {
		for _, silent := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := b.paidGWB(t)
				recurrence := column[string](t, b, id, "gwb_subscription_id")
				b.clock.Advance(time.Minute)
				b.apply(t, gateway.Event{
					Gateway: gateway.GWB, Type: "customer.subscription." + name, CreatedAt: b.clock.Now(),
					SubscriptionID: recurrence,
					Payload: payload(gateway.RemoteSubscription{
						GatewayID: recurrence, Status: gateway.RemoteCanceled, NativeStatus: "canceled",
					}),
				})
				require.Equal(t, "cancelled", b.status(t, id))
				require.True(t, chargesAt(t, b, gateway.GWB, recurrence), "it is untrue")
				faults := b.gateways.Sandbox.GWB.Stage().Faults
				if silent {
					require.NoError(t, faults.Plan(stage.Fault{
						Path: "/v1/subscriptions", Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
					}))
				}
				b.runDueStatusChecks(t)
				if silent {
					require.Equal(t, 1, b.count(t,
						"SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'open'"),
						"it is asked again")
					faults.Clear()
					b.runStatusChecks(t, time.Minute)
				}
				require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"), "it is ended there")
				require.False(t, chargesAt(t, b, gateway.GWB, recurrence))
			})
		}
	}
	t.Run("that is true", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.paidGWB(t)
		b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
		require.NoError(t, b.gateways.B.CancelSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id"),
			id)) // at its console
		require.NoError(t, b.gateways.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
			Method: http.MethodDelete, Path: "/v1/subscriptions", Kind: stage.FaultStatus, Status: 500,
			Times: manyTimes,
		}))
		b.listen()
		b.settle(t)
		require.Equal(t, "cancelled", b.status(t, id))
		b.runDueStatusChecks(t)
		require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"), "to read it is enough")
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'done'"))
	})
}
