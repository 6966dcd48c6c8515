package payments_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

func TestB_PlanIsSynchronisedOnce(t *testing.T) {
	t.Parallel()
	b := gatewaysB(t).B
	plan := plusPlan()
	first, err := b.SyncPlan(t.Context(), plan)
	require.NoError(t, err)
	same, err := b.SyncPlan(t.Context(), plan)
	require.NoError(t, err)
	require.Equal(t, first, same, "even when the first answer was not kept")

	plan.ProductID, plan.PriceID, plan.PriceAmount = first.ProductID, first.PriceID, plan.Amount
	plan.Amount, plan.Name = 5990, "Plus anual"
	dearer, err := b.SyncPlan(t.Context(), plan)
	require.NoError(t, err)
	require.Equal(t, first.ProductID, dearer.ProductID)
	require.NotEqual(t, first.PriceID, dearer.PriceID)

	plan.PriceID, plan.PriceAmount, plan.Amount = dearer.PriceID, 5990, 4990
	back, err := b.SyncPlan(t.Context(), plan)
	require.NoError(t, err)
	require.Equal(t, first.PriceID, back.PriceID, "the old price serves again, and is active")

	payer := paymentstest.Payer()
	payer.GatewayID, err = b.EnsureCustomer(t.Context(), payer)
	require.NoError(t, err)
	_, err = b.Subscribe(t.Context(), gateway.SubscriptionTerms{
		SubscriptionID: objectid.New(), Payer: payer, PriceID: back.PriceID, Amount: 4990,
		Instrument: paymentstest.Token(paymentstest.TokenApproved),
	})
	require.NoError(t, err)
}

// A first month that costs less is one coupon, under the subscription's own id.
func TestB_FirstMonth(t *testing.T) {
	t.Parallel()
	for first, status := range map[money.Cents]gateway.PaymentStatus{
		1990: gateway.PaymentStatusSettled, 0: gateway.PaymentStatusSettled,
	} {
		b := setupB(t, paymentstest.TokenApproved)
		b.terms.First = &first
		// A lost answer of the coupon's call is no loss.
		require.NoError(t, b.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
			Method: "POST", Path: "/v1/coupons", Kind: stage.FaultResetAfter,
		}))
		sub, err := b.B.Subscribe(t.Context(), b.terms)
		require.NoError(t, err)
		require.Equal(t, gateway.RemoteActive, sub.Status)
		require.Equal(t, gateway.Succeeded, sub.Outcome)
		require.Equal(t, status, sub.LatestPayment.Status)
		require.Equal(t, first, sub.LatestPayment.Amount)
		again, err := b.B.Subscribe(t.Context(), b.terms)
		require.NoError(t, err)
		require.Equal(t, sub.GatewayID, again.GatewayID)
		found, ok, err := b.B.FindSubscription(t.Context(), b.terms)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, first, found.LatestPayment.Amount)
	}
}

// Another coupon under our id lowers the month by another amount: nothing is made.
func TestB_FirstMonthOfAnotherPrice(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	b.terms.First = new(money.Cents(1990))
	_, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	b.terms.First = new(money.Cents(990))
	_, err = b.B.Subscribe(t.Context(), b.terms)
	require.ErrorIs(t, err, gateway.ErrUnavailable)
	require.NotErrorIs(t, err, gateway.ErrOutcomeUnknown)
}
