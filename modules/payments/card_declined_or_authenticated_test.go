package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
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

func termsA(t *testing.T, g *paymentstest.Gateways, card string) gateway.SubscriptionTerms {
	t.Helper()
	payer := paymentstest.Payer()
	id, err := g.A.EnsureCustomer(t.Context(), payer)
	require.NoError(t, err)
	payer.GatewayID = id
	return gateway.SubscriptionTerms{
		SubscriptionID: objectid.New(), Payer: payer, PlanID: "plus", PlanName: "Plus", Amount: 4990,
		FirstDue: g.Sandbox.GWA.Now(), Instrument: paymentstest.Card(card),
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

func TestA_FirstChargeIsConfirmed(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := termsA(t, g, paymentstest.CardApproved)
	sub, err := g.A.Subscribe(t.Context(), terms)
	require.NoError(t, err)
	require.NoError(t, g.Sandbox.GWA.Advance(time.Minute))
	read, err := g.A.ReadSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID)
	require.NoError(t, err)
	require.Equal(t, gateway.Succeeded, read.Outcome)
	require.Equal(t, "CONFIRMED", read.PaymentStatus)
	require.Equal(t, gateway.PaymentStatusSettled, read.LatestPayment.Status)
	require.Equal(t, sub.LatestPayment.ID, read.LatestPayment.ID)
}
