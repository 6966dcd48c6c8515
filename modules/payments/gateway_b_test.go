package payments_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwb"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// bundleB is gateway B with a plan and a payer.
type bundleB struct {
	*paymentstest.Gateways
	terms gateway.SubscriptionTerms
}

func setupB(t *testing.T, token string) *bundleB {
	t.Helper()
	b := &bundleB{Gateways: gatewaysB(t)}
	b.terms = termsB(t, b.Gateways, token)
	return b
}

// termsB are those of a monthly subscription by card, of a payer and a price that gateway B knows.
func termsB(t *testing.T, g *paymentstest.Gateways, token string) gateway.SubscriptionTerms {
	t.Helper()
	plan, err := g.B.SyncPlan(t.Context(), plusPlan())
	require.NoError(t, err)
	payer := paymentstest.Payer()
	payer.GatewayID, err = g.B.EnsureCustomer(t.Context(), payer)
	require.NoError(t, err)
	return gateway.SubscriptionTerms{
		SubscriptionID: objectid.New(), Payer: payer, PlanID: "plus", PlanName: "Plus", PriceID: plan.PriceID,
		Amount: 4990, Instrument: paymentstest.Token(token),
	}
}

func TestB_AuthenticationRequired(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenAuthentication)
	sub, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	require.Equal(t, gateway.RemoteIncomplete, sub.Status)
	require.Equal(t, gateway.RequiresAction, sub.Outcome)
	require.Equal(t, "requires_action", sub.PaymentStatus)
	require.Contains(t, sub.ClientSecret.Reveal(), "_secret_")

	read, err := b.B.ReadSubscription(t.Context(), sub.GatewayID, b.terms.SubscriptionID)
	require.NoError(t, err)
	require.Equal(t, gateway.RequiresAction, read.Outcome)
	require.Equal(t, sub.ClientSecret.Reveal(), read.ClientSecret.Reveal())

	require.NoError(t, b.Sandbox.GWB.CompleteChallenge(sub.LatestPayment.PaymentIntentID))
	read, err = b.B.ReadSubscription(t.Context(), sub.GatewayID, b.terms.SubscriptionID)
	require.NoError(t, err)
	require.Equal(t, gateway.RemoteActive, read.Status)
	require.Equal(t, gateway.Succeeded, read.Outcome)
	require.Equal(t, gateway.PaymentStatusSettled, read.LatestPayment.Status)
	require.Equal(t, sub.LatestPayment.ID, read.LatestPayment.ID)

	again, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err, "the answer that the key repeats is old, the judgement is not")
	require.Equal(t, gateway.Succeeded, again.Outcome)
}

func TestB_AuthenticationFailed(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenAuthentication)
	sub, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	require.NoError(t, b.Sandbox.GWB.FailChallenge(sub.LatestPayment.PaymentIntentID))
	read, err := b.B.ReadSubscription(t.Context(), sub.GatewayID, b.terms.SubscriptionID)
	require.NoError(t, err)
	require.Equal(t, gateway.RemoteIncomplete, read.Status)
	require.Equal(t, gateway.RequiresPaymentMethod, read.Outcome)
	require.True(t, read.ClientSecret.Empty())
}

func TestB_CardThatCannotBeAttached(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenRefused)
	_, err := b.B.Subscribe(t.Context(), b.terms)
	var declined *gateway.Declined
	require.ErrorAs(t, err, &declined)
	require.Equal(t, "generic_decline", declined.Code)
	require.Equal(t, "Your card was declined.", declined.Message)
	require.Nil(t, declined.Remote, "nothing was made")
}

func TestB_UnknownToken(t *testing.T) {
	t.Parallel()
	b := setupB(t, "pm_unknown")
	_, err := b.B.Subscribe(t.Context(), b.terms)
	var rejected *gateway.Rejected
	require.ErrorAs(t, err, &rejected)
}

func TestB_DeclineThatCannotBeEndedIsTold(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenDeclined)
	require.NoError(t, b.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
		Method: "DELETE", Kind: stage.FaultStatus, Status: 500, Times: 50,
	}))
	_, err := b.B.Subscribe(t.Context(), b.terms)
	var declined *gateway.Declined
	require.ErrorAs(t, err, &declined)
	require.Equal(t, gateway.RemoteIncomplete, declined.Remote.Status, "the caller has to end it")

	b.Sandbox.GWB.Stage().Faults.Clear()
	require.NoError(t, b.B.CancelSubscription(t.Context(), declined.Remote.GatewayID, b.terms.SubscriptionID))
	_, err = b.B.Subscribe(t.Context(), b.terms)
	require.ErrorAs(t, err, &declined, "the repeated call finds it ended")
	require.NotEqual(t, gateway.RemoteIncomplete, declined.Remote.Status)
}

func TestB_Trial(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	b.terms.TrialDays = 7
	sub, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	require.Equal(t, gateway.RemoteTrialing, sub.Status)
	require.Equal(t, gateway.Succeeded, sub.Outcome)
	require.WithinDuration(t, time.Now().AddDate(0, 0, 7), *sub.NextBilling, time.Hour)
}

func TestB_OneLostAnswerIsHealedByTheKey(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	for _, kind := range []stage.FaultKind{stage.FaultResetAfter, stage.FaultBadGateway} {
		require.NoError(t, b.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
			Method: "POST", Path: "/v1/subscriptions", Kind: kind,
		}))
	}
	sub, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	require.Equal(t, gateway.Succeeded, sub.Outcome)
	again, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	require.Equal(t, sub.GatewayID, again.GatewayID)
}

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

func TestB_PixExpires(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	order := objectid.New()
	made, err := b.B.CreatePix(t.Context(), gateway.PixTerms{
		Reference: order, Kind: "ticket_order", Payer: b.terms.Payer, Amount: 24000, ExpiresIn: time.Hour,
	})
	require.NoError(t, err)
	require.WithinDuration(t, paymentstest.Now().Add(time.Hour), *made.ExpiresAt, time.Minute)
	require.False(t, made.ClientSecret.Empty())
	require.NoError(t, b.Sandbox.GWB.ExpirePIX(made.Payment.ID))
	read, err := b.B.ReadPix(t.Context(), made.Payment.ID, order)
	require.NoError(t, err)
	require.True(t, read.Expired)
	require.Empty(t, read.Payload)
	require.Equal(t, gateway.PaymentStatusGone, read.Payment.Status)
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

// TestB_NoRedirect: none is followed, which would carry the key elsewhere.
func TestB_NoRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked elsewhere with %q", r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	b := gwb.New(gwb.Config{URL: server.URL, SecretKey: "sk_test_x", RetryWait: time.Millisecond})
	_, err := b.ReadSubscription(t.Context(), "sub_1", objectid.New())
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrMissing)
}
