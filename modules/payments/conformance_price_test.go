package payments_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// anotherPrice is a price of the gateway that differs from the plan's.
func (g *gatewayUnderTest) anotherPrice(t *testing.T, subscription string, local objectid.ID) gateway.PriceChange {
	t.Helper()
	plan := plusPlan()
	plan.PlanID, plan.Name, plan.Amount = "premium", "Premium", 9990
	ids, err := g.SyncPlan(t.Context(), plan)
	require.NoError(t, err)
	return gateway.PriceChange{
		SubscriptionID: local, SubscriptionGatewayID: subscription, PriceID: ids.PriceID, Amount: plan.Amount,
		Description: plan.Name,
	}
}

func TestPriceOfARecurrenceIsChanged(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.approved)
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		g.chargeFirst(t)
		change := g.anotherPrice(t, sub.GatewayID, terms.SubscriptionID)
		for range 2 {
			require.NoError(t, g.ChangePrice(t.Context(), change))
		}
		paid, err := g.ListPayments(t.Context(), gateway.PaymentsQuery{
			SubscriptionGatewayID: sub.GatewayID, CustomerGatewayID: sub.CustomerGatewayID,
		})
		require.NoError(t, err)
		require.EqualValues(t, 4990, paid[len(paid)-1].Amount, "the present period stays paid as it was")
	})
}

func TestPriceChangeFaults(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.approved)
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		change := g.anotherPrice(t, sub.GatewayID, terms.SubscriptionID)
		verb := map[gateway.Name]string{gateway.GWA: http.MethodPut, gateway.GWB: http.MethodPost}[g.Name()]
		g.fault(t, stage.Fault{Method: verb, Path: "/subscriptions", Kind: stage.FaultResetAfter})
		require.ErrorIs(t, g.ChangePrice(t.Context(), change), gateway.ErrOutcomeUnknown)
		g.stage.Faults.Clear()
		require.NoError(t, g.ChangePrice(t.Context(), change), "repeated")
		g.fault(t, stage.Fault{
			Kind: stage.FaultStatus, Status: http.StatusForbidden,
			Body: `{"errors":[{"code":"x"}],"error":{"type":"invalid_request_error"}}`,
		})
		require.ErrorIs(t, g.ChangePrice(t.Context(), change), gateway.ErrUnavailable)
		g.stage.Faults.Clear()
		change.SubscriptionGatewayID = "sub_nobody"
		require.ErrorIs(t, g.ChangePrice(t.Context(), change), gateway.ErrMissing)
	})
}
