package payments_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/sandbox/stage"
)

// advance moves the gateway's clock, so that it makes charges ahead.
func (g *gatewayUnderTest) advance(t *testing.T, by time.Duration) {
	t.Helper()
	_, err := g.stage.Clock.Advance(by)
	require.NoError(t, err)
}

// collecting is a subscription that a card pays.
func (g *gatewayUnderTest) collecting(t *testing.T) (gateway.RemoteSubscription, gateway.Collection) {
	t.Helper()
	terms := g.terms(t, g.approved)
	sub, err := g.Subscribe(t.Context(), terms)
	require.NoError(t, err)
	return sub, gateway.Collection{SubscriptionID: terms.SubscriptionID, GatewayID: sub.GatewayID}
}

// collected is one whose first month was paid two days ago.
func (g *gatewayUnderTest) collected(t *testing.T) (gateway.RemoteSubscription, gateway.Collection) {
	t.Helper()
	sub, c := g.collecting(t)
	g.chargeFirst(t)
	g.advance(t, 48*time.Hour)
	require.Equal(t, 1, g.paid(t, sub))
	return sub, c
}

// paid counts the charges of a subscription that were paid.
func (g *gatewayUnderTest) paid(t *testing.T, sub gateway.RemoteSubscription) (n int) {
	t.Helper()
	all, err := g.ListPayments(t.Context(), gateway.PaymentsQuery{
		SubscriptionGatewayID: sub.GatewayID, CustomerGatewayID: sub.CustomerGatewayID,
	})
	require.NoError(t, err)
	for _, p := range all {
		if p.Payment.Status == gateway.PaymentStatusSettled {
			n++
		}
	}
	return n
}

func TestCollectionIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		sub, c := g.collected(t)
		for range 2 {
			require.NoError(t, g.StopCollection(t.Context(), c))
		}
		open, err := g.OpenCharges(t.Context(), c)
		require.NoError(t, err)
		if g.Name() == gateway.GWA {
			require.Len(t, open, 1, "made 40 days ahead")
			require.NotNil(t, open[0].DueDate)
			require.NoError(t, g.DropCharge(t.Context(), open[0].ID, c.SubscriptionID))
			require.NoError(t, g.DropCharge(t.Context(), open[0].ID, c.SubscriptionID), "it is gone")
		}
		open, err = g.OpenCharges(t.Context(), c)
		require.NoError(t, err)
		require.Empty(t, open)
		g.advance(t, 20*day)
		require.Equal(t, 1, g.paid(t, sub))
		due := g.stage.Clock.Now().Add(10 * day)
		for range 2 {
			again, err := g.ResumeCollection(t.Context(), c, &due, time.Time{})
			require.NoError(t, err)
			require.NotNil(t, again.NextBilling)
			require.Equal(t, gateway.RemoteActive, again.Status)
		}
		g.advance(t, 25*day)
		require.Equal(t, 2, g.paid(t, sub), "once, although it was resumed twice")
	})
}

func TestPausesOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		sub, c := g.collecting(t)
		verb := map[gateway.Name]string{gateway.GWA: http.MethodPut, gateway.GWB: http.MethodPost}[g.Name()]
		g.fault(t, stage.Fault{Method: verb, Path: "/subscriptions", Kind: stage.FaultResetAfter})
		require.ErrorIs(t, g.StopCollection(t.Context(), c), gateway.ErrOutcomeUnknown)
		g.stage.Faults.Clear()
		require.NoError(t, g.StopCollection(t.Context(), c), "repeated")
		require.NoError(t, g.CancelSubscription(t.Context(), sub.GatewayID, c.SubscriptionID))
		require.NoError(t, g.StopCollection(t.Context(), c), "what has ended collects nothing")
		ended, err := g.ResumeCollection(t.Context(), c, nil, time.Time{})
		require.NoError(t, err)
		require.Equal(t, gateway.RemoteCanceled, ended.Status)
		c.GatewayID = "sub_nobody"
		require.ErrorIs(t, g.StopCollection(t.Context(), c), gateway.ErrMissing)
	})
}
