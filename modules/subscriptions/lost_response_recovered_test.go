package subscriptions_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

const manyTimes = 100 // more than an adapter tries again

func lose(t *testing.T, s *stage.Stage, kind stage.FaultKind, path string) {
	t.Helper()
	require.NoError(t, s.Faults.Plan(stage.Fault{Method: http.MethodPost, Path: path, Kind: kind, Times: manyTimes}))
}

func TestGatewayBAnswerLostAfterTheCharge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gateway := b.gateways.Sandbox.GWB.Stage()
	lose(t, gateway, stage.FaultResetAfter, "/v1/subscriptions")
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	id := idOf(a)
	require.Equal(t, "pending", doc(a)["status"])
	require.Equal(t, "unknown", info(a)["payment_status"])
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.intents WHERE subject_id = $1 AND state = 'open'",
		id))
	gateway.Faults.Clear()
	conflict := b.expect(t, 409, http.MethodPost, "/gwb/subscribe",
		gwbCard(paymentstest.TokenApproved)) // nobody may pay twice meanwhile
	require.Contains(t, conflict["detail"], "asked again at "+b.clock.Now().Add(5*time.Second).Format(time.RFC3339))

	require.NoError(t, b.service.Recover(t.Context(), id))
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, "pending>active payment_settled recovery", b.history(t, id)[1])
	require.True(t, b.access(t))
	require.NoError(t, b.service.Recover(t.Context(), id), "a second check does nothing")
	b.listen()
	b.settle(t)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.Len(t, b.history(t, id), 2)
}

func TestGatewayBWebhookOvertakesTheLostAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	gateway := b.gateways.Sandbox.GWB.Stage()
	lose(t, gateway, stage.FaultResetAfter, "/v1/subscriptions")
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	gateway.Faults.Clear()
	b.settle(t)
	require.Equal(t, "active", b.status(t, idOf(a)), "found by the local id in the metadata")
	require.NoError(t, b.service.Recover(t.Context(), idOf(a)))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.False(t, column[bool](t, b, idOf(a), "intent_open"))
}

func TestGatewayBNothingWasMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gateway := b.gateways.Sandbox.GWB.Stage()
	lose(t, gateway, stage.FaultResetBefore, "/v1/subscriptions")
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	id := idOf(a)
	gateway.Faults.Clear()
	require.NoError(t, b.service.Recover(t.Context(), id))
	require.Equal(t, "pending", b.status(t, id), "the call may still be under way")
	b.runStatusChecks(t, 85*time.Second)
	require.Equal(t, "pending", b.status(t, id), "an empty check says nothing before the call's own limit")
	b.runStatusChecks(t, 75*time.Second)
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, "pending>cancelled nothing_at_gateway recovery", b.history(t, id)[1])
	require.Empty(t, b.current(t))
	b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
}

func TestRecoveryWaitsForASilentGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gateway := b.gateways.Sandbox.GWB.Stage()
	lose(t, gateway, stage.FaultResetAfter, "/v1/subscriptions")
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	gateway.Faults.Clear()
	require.NoError(t, gateway.Faults.Plan(stage.Fault{Kind: stage.FaultStatus, Status: 500, Times: manyTimes}))
	for range 5 {
		require.NoError(t, b.service.Recover(t.Context(), idOf(a)))
	}
	require.Equal(t, "pending", b.status(t, idOf(a)), "silence proves nothing")
	gateway.Faults.Clear()
	require.NoError(t, b.service.Recover(t.Context(), idOf(a)))
	require.Equal(t, "active", b.status(t, idOf(a)))
}

func TestGatewayACardAnswerLost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.work(t)
	b.listen()
	gateway := b.gateways.Sandbox.GWA
	lose(t, gateway.Stage(), stage.FaultResetAfter, "/v3/subscriptions")
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved))
	id := idOf(a)
	require.Equal(t, "unknown", info(a)["payment_status"])
	gateway.Stage().Faults.Clear()
	require.NoError(t, gateway.Advance(time.Minute))
	b.settle(t)
	eventually(t, "the charge names the row, and the gateway the recurrence that nobody knew here",
		func() bool { return b.status(t, id) == "active" })

	require.NoError(t, b.service.Recover(t.Context(), id))
	eventually(t, "the recovery changes nothing, and no webhook waits", func() bool {
		return b.status(t, id) == "active" &&
			b.count(t, "SELECT count(*) FROM payments.processed_events WHERE state = 'waiting'") == 0
	})
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
}

func TestGatewayACardNothingWasMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lose(t, b.gateways.Sandbox.GWA.Stage(), stage.FaultResetBefore, "/v3/subscriptions")
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved))
	id := idOf(a)
	b.gateways.Sandbox.GWA.Stage().Faults.Clear()
	for range 20 {
		require.NoError(t, b.service.Recover(t.Context(), id))
		require.Equal(t, "pending", b.status(t, id),
			"gateway A's search may lag, and one who asks often learns nothing more")
	}
	b.runStatusChecks(t, 8*time.Minute)
	require.Equal(t, "pending", b.status(t, id))
	b.runStatusChecks(t, 2*time.Minute)
	require.Equal(t, "cancelled", b.status(t, id))
}

func TestGatewayAPixAnswerLost(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(t *testing.T, b *bundle, id objectid.ID){
		"by the job": func(t *testing.T, b *bundle, id objectid.ID) {
			t.Helper()
			require.NoError(t, b.service.Recover(t.Context(), id))
		},
		"by the customer": func(*testing.T, *bundle, objectid.ID) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			gateway := b.gateways.Sandbox.GWA
			lose(t, gateway.Stage(), stage.FaultResetAfter, "/v3/payments")
			b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
			gateway.Stage().Faults.Clear()
			id := b.current(t)
			find(t, b, id)
			qr := b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)
			b.listen()
			_, err := gateway.PayPIX(qr["pix"].(object)["qr_code"].(string))
			require.NoError(t, err)
			b.settle(t)
			require.Equal(t, "active", b.status(t, id))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
		})
	}
}

// TestClientThatGoesAway: the charge is made and written although nobody waits
// for the answer any more.
func TestClientThatGoesAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var err error
	for try := 0; !errors.Is(err, context.Canceled) && try < 5; try++ { // else the machine stood still for a second
		b.newcomer(t)
		err = subscribeAndLeave(t, b)
	}
	require.ErrorIs(t, err, context.Canceled)
	eventually(t, "the answer is written",
		func() bool {
			return b.count(t, "SELECT count(*) FROM subscriptions.subscriptions WHERE intent_open") == 0
		})
	require.True(t, b.access(t))
}

// subscribeAndLeave hangs up while the gateway is asked, and returns what the client heard.
func subscribeAndLeave(t *testing.T, b *bundle) error {
	t.Helper()
	b.expect(t, 201, http.MethodPost, "/gwb/subscribe",
		gwbCard(paymentstest.TokenDeclined)) // plan and customer are known from here on
	faults := b.gateways.Sandbox.GWB.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/subscriptions", Kind: stage.FaultDelay, Delay: stage.Duration(time.Second),
	}))
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	token := b.bearer(t)
	go func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.serve().url+"/api/v1/gwb/subscribe",
			strings.NewReader(`{"plan_id":"`+plan+`","payment_method_id":"`+paymentstest.TokenApproved+`"}`))
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			_, err = http.DefaultClient.Do(req) //nolint:bodyclose // there is no answer
		}
		gone <- err
	}()
	eventually(t, "the gateway is asked", func() bool { return len(faults.Planned()) == 0 })
	leave()
	return <-gone
}

// TestWebhooksBeforeTheAnswer: the sandbox sends the events of the call before
// it answers the call.
func TestWebhooksBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.work(t)
	b.listen()
	b.gateways.Sandbox.GWB.Stage().Webhooks.EarlyNext(manyTimes)
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	b.settle(t)
	eventually(t, "active", func() bool { return b.status(t, idOf(a)) == "active" })
	require.Equal(t, "active", doc(a)["status"])
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.Len(t, b.history(t, idOf(a)), 2)
}
