package subscriptions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
)

// TestAnEndThatGatewayATells is believed once the gateway was asked: its webhooks are not
// signed. What it only holds inactive is deleted, so that no charge that it made ahead is
// collected any more.
func TestAnEndThatGatewayATells(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bundle, t *testing.T){
		"by its event": func(*bundle, *testing.T) {},
		"to a check at a login": func(b *bundle, t *testing.T) {
			require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
		},
		"while paid time is left": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWA(t)
			b.goBy(t, 26*time.Hour)
			collection := gateway.Collection{
				SubscriptionID: id, GatewayID: column[string](t, b, id, "gwa_subscription_id"),
			}
			ahead := func() int {
				open, err := b.gateways.A.OpenCharges(t.Context(), collection)
				require.NoError(t, err)
				return len(open)
			}
			require.Equal(t, 1, ahead())

			forged := gateway.Event{
				Gateway: gateway.GWA, Type: "SUBSCRIPTION_DELETED", CreatedAt: b.clock.Now(),
				SubscriptionID: collection.GatewayID,
				Payload: gateway.SubscriptionEnd{
					Subscription: gateway.RemoteSubscription{
						GatewayID: collection.GatewayID, Status: gateway.RemoteCanceled,
					},
				},
			}
			for range 2 {
				require.Equal(t, gateway.ResultQueued, b.apply(t, forged).Status)
				require.Equal(t, "active", b.status(t, id), "no gateway is asked while the webhook is answered")
				b.settle(t)
			}
			require.Equal(t, "active", b.status(t, id), "it runs there")
			require.Nil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
			require.True(t, b.access(t))

			if end != nil && name != "by its event" {
				b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			}
			if end == nil {
				b.set(t, id, "expires_at = $2", b.clock.Now().Add(time.Hour))
			}
			require.NoError(t, b.gateways.A.StopCollection(t.Context(), collection)) // at its console
			b.settle(t)
			if end == nil {
				require.Equal(t, "active", b.status(t, id))
				require.NoError(t, b.service.EndAtGateway(t.Context(), id))
				require.NotNil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
				require.True(t, b.access(t), "to the end of what is paid")
			} else {
				end(b, t)
				require.Equal(t, "cancelled", b.status(t, id))
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'open'"))
				if name == "by its event" {
					require.Equal(t, "processed cancelled",
						b.text(t,
							"SELECT concat_ws(' ', result->>'status', result->>'new_status') FROM payments.webhook_logs WHERE event_type LIKE 'SUBSCRIPTION_%' ORDER BY received_at DESC, id DESC LIMIT 1"), "its log tells what came of it")
				}
				require.NoError(t, b.service.EndAtGateway(t.Context(), id))
			}
			require.Zero(t, ahead(), "what was made ahead is gone")
			b.listen()
			b.goBy(t, 35*day)
			require.Contains(t, []string{"cancelled", "expired"}, b.status(t, id))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"), "nothing is charged any more")
			require.Empty(t, b.current(t))
		})
	}
}

// endsAtB says what gateway B itself says of the end with the period.
func endsAtB(t *testing.T, b *bundle, id objectid.ID) bool {
	t.Helper()
	remote, err := b.gateways.B.ReadSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id"), id)
	require.NoError(t, err)
	return remote.CancelAtPeriodEnd
}

// requireAgreed: whether the row ends with its period is what gateway B says.
func requireAgreed(t *testing.T, b *bundle, id objectid.ID, ends bool) {
	t.Helper()
	require.Equal(t, ends, endsAtB(t, b, id), "at the gateway")
	require.Equal(t, ends, column[bool](t, b, id, "cancel_at_period_end"), "here")
	require.Equal(t, ends, column[*time.Time](t, b, id, "expires_at") != nil)
}

// TestTheEndWithThePeriodIsWhatGatewayBSays, in whatever order its events come, and
// however calls of ours overlap.
func TestTheEndWithThePeriodIsWhatGatewayBSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{}) // told below
	r := remoteOf(t, b, id)
	updated := func(second int, ends bool) {
		e := r.updated(gateway.RemoteActive, second)
		change := e.Payload.(gateway.SubscriptionChange)
		change.Subscription.CancelAtPeriodEnd = ends
		e.Payload = change
		b.apply(t, e)
	}
	cancel := func() { b.expect(t, 200, "DELETE", subscriptionPath+atEnd, nil) }
	resume := func() { b.expect(t, 200, "PUT", renewPath, object{}) }

	// Both calls and both events in one second, told in the other order.
	cancel()
	resume()
	updated(0, false)
	updated(0, true)
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"),
		"an event of before our own call changes nothing by itself")
	b.confirmLate(t)
	requireAgreed(t, b, id, false)
	cancel()
	resume()
	cancel()
	updated(0, true)
	updated(0, false)
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"))
	b.confirmLate(t)
	requireAgreed(t, b, id, true)

	// At its console, twice in a second, long after.
	b.clock.Advance(time.Hour)
	console := func(ends bool) {
		_, err := b.gateways.B.SetCancelAtPeriodEnd(t.Context(), r.id, id, ends)
		require.NoError(t, err)
	}
	console(false)
	updated(3600, false)
	requireAgreed(t, b, id, false)
	console(true)
	console(false)
	updated(3600, true)
	b.confirmLate(t)
	requireAgreed(t, b, id, false)

	// What no event told is noticed a day before the period ends.
	cancel()
	console(false)
	require.NoError(t, b.service.Sweep(t.Context()))
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"), "not looked at yet")
	b.clock.Advance(column[time.Time](t, b, id, "period_end_look_at").Sub(b.clock.Now()))
	require.NoError(t, b.service.Sweep(t.Context()))
	requireAgreed(t, b, id, false)

	// A charge of what was to end tells it, too.
	cancel()
	console(false)
	b.apply(t, r.paid("in_2", 31*24*3600))
	b.confirmLate(t)
	requireAgreed(t, b, id, false)
}

// TestCallsAboutTheEndThatOverlap: who answers last had not been the last whom the gateway
// heard.
func TestCallsAboutTheEndThatOverlap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	for range 6 {
		b.call(t, "DELETE", subscriptionPath+atEnd, nil)
		calls := []func(){}
		for i := range 6 {
			calls = append(calls, func() {
				if i%3 == 0 {
					b.call(t, "PUT", renewPath, object{})
				} else {
					b.call(t, "DELETE", subscriptionPath+atEnd, nil)
				}
			})
		}
		together(calls...)
		b.settle(t)
		require.NoError(t, b.service.Sweep(t.Context()))
		b.runStatusChecks(t, 10*time.Second)
		requireAgreed(t, b, id, endsAtB(t, b, id))
	}
}
