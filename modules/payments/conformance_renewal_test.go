package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

// TestRecurrenceThatBeginsLater: the card is taken now and charged first when the paid
// time ends.
func TestRecurrenceThatBeginsLater(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.approved)
		at := time.Now().Add(20 * 24 * time.Hour).UTC().Truncate(time.Second)
		terms.StartsAt, terms.FirstDue, terms.TrialDays = &at, at, 5
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		g.chargeFirst(t)
		read, err := g.ReadSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID)
		require.NoError(t, err)
		require.Contains(t, []gateway.RemoteStatus{gateway.RemoteActive, gateway.RemoteTrialing}, read.Status)
		if p := read.LatestPayment; p != nil && p.Status == gateway.PaymentStatusSettled {
			require.Zero(t, p.Amount, "nothing is charged before")
		}
		if g.Name() == gateway.GWB {
			require.Equal(t, at, read.NextBilling.UTC())
		}
	})
}
