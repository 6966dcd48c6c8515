package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// mislaid has the gateway not find the subscription, and returns what undoes that.
func mislaid(t *testing.T, b *bundle, gateway string, id objectid.ID) (found func()) {
	t.Helper()
	field := gateway + "_subscription_id"
	remote := column[string](t, b, id, field)
	b.set(t, id, field+" = $2", "sub_"+objectid.New().String())
	return func() { b.set(t, id, field+" = $2", remote) }
}

// waitAndCheck lets time pass without looks, then makes those that are due.
func waitAndCheck(t *testing.T, b *bundle, span time.Duration) {
	t.Helper()
	b.clock.Advance(span)
	for _, gateway := range []gateway.Name{gateway.GWA, gateway.GWB} {
		require.NoError(t, b.payments.Intents().CheckDue(t.Context(), gateway))
	}
}

// TestMissingEndsWhatWasFoundOnlyWhenSeenTwice, an hour apart; what is found again goes
// on.
func TestMissingEndsWhatWasFoundOnlyWhenSeenTwice(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id, _ := paidCard(t, b, gateway)
		found := mislaid(t, b, gateway, id)
		for range 3 {
			require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
		}
		require.Equal(t, "active", b.status(t, id), "seen once, however often")
		require.Equal(t, 1, b.count(t, "SELECT missed FROM payments.gateway_state WHERE gateway = $1", gateway))
		waitAndCheck(t, b, 59*time.Minute)
		require.Equal(t, "active", b.status(t, id))
		found()
		waitAndCheck(t, b, time.Minute)
		require.Equal(t, "active", b.status(t, id), "found again")
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.intents WHERE kind = 'subscription_gone' AND state = 'void'"))

		mislaid(t, b, gateway, id)
		require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
		waitAndCheck(t, b, time.Hour)
		require.Equal(t, "cancelled", b.status(t, id))
		require.Contains(t, b.history(t, id), "active>cancelled gone_at_gateway recovery")
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.intents WHERE kind = 'end'"),
			"its id is deleted once more")
		require.Equal(t, "admin_cancelled", b.text(t, "SELECT finance.exit_reason('gone_at_gateway')"))
	})
}

// TestAnOddAnswerEndsNothing: what is neither found nor missing changes nothing, at
// login or in a sweep.
func TestAnOddAnswerEndsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, _ := paidCard(t, b, "gwa")
	for _, body := range []string{
		"", "{}", "null", "[]", `{"errors":[]}`, "<html>Not Found</html>",
		`{"object":"subscription","id":"sub_other","status":"ACTIVE"}`,
	} {
		for _, status := range []int{200, 404, 500} {
			require.NoError(t, b.gateways.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
				Path: "/v3/subscriptions", Kind: stage.FaultStatus, Status: status, Body: body, Times: manyTimes,
			}))
			_ = b.service.SyncSubscription(t.Context(), b.customer.ID)
			require.Equal(t, "active", b.status(t, a), "%d %s", status, body)
			b.gateways.Sandbox.GWA.Stage().Faults.Clear()
		}
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'subscription_gone'"))
}

// TestManyMissingEndNone: a wrong address or key is no end of anything.
func TestManyMissingEndNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []objectid.ID
	var found func()
	for n := range 6 {
		if n > 0 {
			b.newcomer(t)
		}
		id, _ := paidCard(t, b, "gwb")
		ids, found = append(ids, id), mislaid(t, b, "gwb", id)
		if n < 5 {
			require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
			continue
		}
		b.set(t, id, "next_billing_date = $2", b.clock.Now().Add(-40*time.Hour)) // the sixth is found by the sweep
		_, err := b.service.Reconcile(t.Context(), payments.ReconcileOptions{Since: b.clock.Now().Add(time.Hour)})
		require.NoError(t, err)
	}
	suspect, err := b.payments.Intents().Health().Suspect(t.Context(), b.db)
	require.NoError(t, err)
	require.Equal(t, []string{"gwb"}, suspect)
	waitAndCheck(t, b, time.Hour)
	waitAndCheck(t, b, time.Hour)
	for _, id := range ids {
		require.Equal(t, "active", b.status(t, id))
	}
	found()
	waitAndCheck(t, b, time.Hour)
	suspect, err = b.payments.Intents().Health().Suspect(t.Context(), b.db)
	require.NoError(t, err)
	require.Empty(t, suspect, "one was found again")
}

// TestALateConfirmationOfWhatWasHeldToBeNothing: the gateway's search has shown nothing
// for minutes, and its payment comes all the same.
func TestALateConfirmationOfWhatWasHeldToBeNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.work(t)
	gateway := b.gateways.Sandbox.GWA
	lose(t, gateway.Stage(), stage.FaultResetAfter, "/v3/subscriptions")
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved)))
	gateway.Stage().Faults.Clear()
	require.NoError(t, gateway.Stage().Faults.Plan(stage.Fault{
		Method: http.MethodGet, Path: "/v3/subscriptions", Kind: stage.FaultStatus, Status: 200, Times: manyTimes,
		Body: `{"object":"list","hasMore":false,"totalCount":0,"limit":10,"offset":0,"data":[]}`,
	}))
	b.runStatusChecks(t, 10*time.Minute)
	eventually(t, "it ends, if by a check of the jobs", func() bool { return b.status(t, id) == "cancelled" })
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, "pending>cancelled nothing_at_gateway recovery", b.history(t, id)[1])
	gateway.Stage().Faults.Clear()
	b.listen()
	require.NoError(t, gateway.Advance(time.Minute))
	b.settle(t)
	eventually(t, "late money activates", func() bool { return b.status(t, id) == "active" })
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
}

// TestAnOpenInvoiceIsPaidOnce although the answer is lost: its attempt is committed
// before the call.
func TestAnOpenInvoiceIsPaidOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := b.paidGWB(t)
	const path = "/gwb/subscription/payment-method"
	b.expect(t, 200, http.MethodPut, path, object{"payment_method_id": paymentstest.TokenDeclined})
	require.NoError(t, b.gateways.Sandbox.GWB.Renew(column[string](t, b, id, "gwb_subscription_id")))
	b.settle(t)
	require.Equal(t, "suspended", b.status(t, id))
	b.gateways.Sandbox.GWB.Stage().Webhooks.Hold("*")
	require.NoError(t, b.gateways.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/invoices", Suffix: "/pay", Kind: stage.FaultResetAfter, Times: manyTimes,
	}))
	b.expect(t, 200, http.MethodPut, path, object{"payment_method_id": paymentstest.TokenApproved})
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.intents WHERE kind = 'open_invoice' AND state = 'open' AND reference = item"))
	b.gateways.Sandbox.GWB.Stage().Faults.Clear()
	b.runStatusChecks(t, 10*time.Second)
	require.Equal(t, "active", b.status(t, id))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
	b.gateways.Sandbox.GWB.Stage().Webhooks.Release()
	b.settle(t)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
}
