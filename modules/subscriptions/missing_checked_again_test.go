package subscriptions_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/testutil/sandbox/stage"
)

const notThere = `{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such subscription"}}`

// TestAWaitingRenewalThatOneReadDoesNotFindIsDeleted: a read that does not find it is no
// reason to leave it to charge later.
func TestAWaitingRenewalThatOneReadDoesNotFindIsDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.paidGWB(t)
	b.set(t, old, "payment_failures = 1") // nothing is paid
	id := renewed(b.expect(t, 200, http.MethodPut, renewPath,
		object{"payment_method_id": paymentstest.TokenAuthentication}))
	remote := column[string](t, b, id, "gwb_subscription_id")
	require.NoError(t, b.gateways.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
		Method: http.MethodGet, Path: "/v1/subscriptions/" + remote, Kind: stage.FaultStatus, Status: 404,
		Body: notThere, Times: 1,
	}))
	b.expect(t, 200, http.MethodPut, renewPath, object{"payment_method_id": paymentstest.TokenAuthentication})
	require.Equal(t, "cancelled", b.status(t, id))
	read, err := b.gateways.B.ReadSubscription(t.Context(), remote, id)
	require.NoError(t, err)
	require.True(t, read.Status.Ended(), "%s", read.Status)
}

// TestAPeriodEndThatTheGatewayDoesNotFind: gateway B answers that there is no such
// subscription. That counts when a check says so, too.
func TestAPeriodEndThatTheGatewayDoesNotFind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	remote := column[string](t, b, id, "gwb_subscription_id")
	faults := b.gateways.Sandbox.GWB.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/subscriptions/" + remote, Kind: stage.FaultStatus, Status: 404,
		Body: notThere, Times: manyTimes,
	}))
	b.expect(t, 503, http.MethodDelete, subscriptionPath+atEnd, nil)
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"), "a read shows it: it would go on to charge")
	faults.Clear()
	mislaid(t, b, "gwb", id)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.intents WHERE kind = 'subscription_gone' AND state = 'open'"),
		"and it is looked for again")
}

// TestAPeriodEndOfWhatIsLookedForAlready: somebody has found it missing before, so that
// the call opens no intent of its own; the customer cancels all the same.
func TestAPeriodEndOfWhatIsLookedForAlready(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	mislaid(t, b, "gwb", id)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.set(t, id, "cancel_at_period_end = false")
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"))
}
