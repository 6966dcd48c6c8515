package payments_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	sandboxgwa "marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// gatewayUnderTest is one gateway with what differs between the two.
type gatewayUnderTest struct {
	gateway.Gateway
	all                *paymentstest.Gateways
	stage              *stage.Stage
	approved, declined gateway.Instrument
	other              gateway.Instrument // approved too, with the last digits 4444
	refused            gateway.Instrument // not taken as a subscription's card
	prefix             string             // of API paths
	pixPath            string
	plan               gateway.PlanIDs
	payPix             func(id string) error
	expirePix          func(id string) error
	started            gateway.Outcome    // after an approved Subscribe
	firstStatus        string             // info.payment_status after it
	chargeFirst        func(t *testing.T) // lets a first charge happen
	dispute            func(paymentID string) error
}

// eachGateway runs a case against both gateways, each with its own sandbox.
func eachGateway(t *testing.T, run func(t *testing.T, g *gatewayUnderTest)) {
	t.Run("gwa", func(t *testing.T) {
		t.Parallel()
		all := paymentstest.NewGateways(t)
		sandbox := all.Sandbox.GWA
		run(t, &gatewayUnderTest{
			Gateway: all.A, all: all, stage: sandbox.Stage(), prefix: "/v3", pixPath: "/payments",
			approved:  paymentstest.Card(paymentstest.CardApproved),
			declined:  paymentstest.Card(paymentstest.CardDeclined),
			payPix:    func(id string) error { _, err := sandbox.Pay(id); return err },
			expirePix: func(id string) error { _, err := sandbox.ExpirePIX(id); return err },
			started:   gateway.OutcomeUnknown, firstStatus: "PENDING",
			other: paymentstest.Card("4444444444444444"), refused: paymentstest.Card(paymentstest.CardDeclined),
			chargeFirst: func(t *testing.T) { require.NoError(t, sandbox.Advance(time.Minute)) },
			dispute: func(id string) error {
				_, err := sandbox.Chargeback(id, sandboxgwa.ChargebackRequested, "")
				return err
			},
		})
	})
	t.Run("gwb", func(t *testing.T) {
		t.Parallel()
		all := gatewaysB(t)
		sandbox := all.Sandbox.GWB
		g := &gatewayUnderTest{
			Gateway: all.B, all: all, stage: sandbox.Stage(), prefix: "/v1", pixPath: "/payment_intents",
			approved: paymentstest.Token(paymentstest.TokenApproved),
			declined: paymentstest.Token(paymentstest.TokenDeclined),
			payPix:   sandbox.PayPIX, expirePix: sandbox.ExpirePIX,
			started: gateway.Succeeded, firstStatus: "succeeded",
			other: paymentstest.Token("pm_card_mastercard"), refused: paymentstest.Token(paymentstest.TokenRefused),
			chargeFirst: func(*testing.T) {},
			dispute:     func(id string) error { _, err := sandbox.OpenDispute(id, "fraudulent", false); return err },
		}
		var err error
		g.plan, err = g.SyncPlan(t.Context(), plusPlan())
		require.NoError(t, err)
		run(t, g)
	})
}

func plusPlan() gateway.PlanTerms {
	return gateway.PlanTerms{PlanID: "plus", Name: "Plus", Amount: 4990, IntervalUnit: "MONTH"}
}

// fault plans one for the next calls of that kind, more of them than any
// repetition makes; Faults.Clear ends it.
func (g *gatewayUnderTest) fault(t *testing.T, f stage.Fault) {
	t.Helper()
	f.Path = g.prefix + f.Path
	f.Times = 50
	require.NoError(t, g.stage.Faults.Plan(f))
}

func (g *gatewayUnderTest) payer(t *testing.T) gateway.Payer {
	t.Helper()
	p := paymentstest.Payer()
	id, err := g.EnsureCustomer(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, id)
	p.GatewayID = id
	return p
}

func (g *gatewayUnderTest) terms(t *testing.T, i gateway.Instrument) gateway.SubscriptionTerms {
	t.Helper()
	return gateway.SubscriptionTerms{
		SubscriptionID: objectid.New(), Payer: g.payer(t), PlanID: "plus", PlanName: "Plus", PriceID: g.plan.PriceID,
		Amount: 4990, FirstDue: g.stage.Clock.Now(), Instrument: i,
	}
}

func (g *gatewayUnderTest) pixTerms(t *testing.T) gateway.PixTerms {
	t.Helper()
	return gateway.PixTerms{
		Reference: objectid.New(), Kind: "subscription_pix", Payer: g.payer(t), Amount: 59880,
		Description: "Plus, 12 months",
		DueDate:     g.stage.Clock.Now(), ExpiresIn: 24 * time.Hour,
	}
}

func TestCustomerIsMadeOnce(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		p := paymentstest.Payer()
		g.fault(t, stage.Fault{Method: "POST", Path: "/customers", Kind: stage.FaultResetAfter})
		_, err := g.EnsureCustomer(t.Context(), p)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
		g.stage.Faults.Clear()

		first, err := g.EnsureCustomer(t.Context(), p)
		require.NoError(t, err)
		second, err := g.EnsureCustomer(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, first, second)
		p.GatewayID = "known"
		known, err := g.EnsureCustomer(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, "known", known)
	})
}

func TestSubscribeApproved(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.approved)
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		require.Equal(t, gateway.RemoteActive, sub.Status)
		require.Equal(t, g.started, sub.Outcome)
		require.Equal(t, g.firstStatus, sub.PaymentStatus)
		require.Equal(t, terms.Payer.GatewayID, sub.CustomerGatewayID)
		require.True(t, sub.ClientSecret.Empty())
		require.WithinDuration(t, g.stage.Clock.Now().AddDate(0, 1, 0), *sub.NextBilling, 36*time.Hour)
		require.NotNil(t, sub.LatestPayment)
		require.EqualValues(t, 4990, sub.LatestPayment.Amount)
		require.Equal(t, gateway.MethodCard, sub.LatestPayment.Method)

		read, err := g.ReadSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID)
		require.NoError(t, err)
		require.Equal(t, sub.LatestPayment.ID, read.LatestPayment.ID)
		found, ok, err := g.FindSubscription(t.Context(), terms)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, sub.GatewayID, found.GatewayID)
	})
}

func TestSubscribeDeclinedLeavesNothingAlive(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.declined)
		_, err := g.Subscribe(t.Context(), terms)
		var declined *gateway.Declined
		require.ErrorAs(t, err, &declined)
		require.NotEmpty(t, declined.Code)
		require.NotEmpty(t, declined.Message)
		if declined.Remote != nil {
			require.Equal(t, gateway.RemoteCanceled, declined.Remote.Status)
		}
		found, ok, err := g.FindSubscription(t.Context(), terms)
		require.NoError(t, err)
		if ok {
			require.Contains(t, []gateway.RemoteStatus{gateway.RemoteCanceled, gateway.RemoteIncompleteExpired},
				found.Status)
		}
	})
}

func TestSubscribeIsFoundAfterLostAnswer(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		for _, kind := range []stage.FaultKind{stage.FaultTimeoutAfter, stage.FaultResetAfter, stage.FaultStatusAfter} {
			terms := g.terms(t, g.approved)
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			g.fault(t, stage.Fault{Method: "POST", Path: "/subscriptions", Kind: kind})
			_, err := g.Subscribe(ctx, terms)
			cancel()
			require.ErrorIs(t, err, gateway.ErrOutcomeUnknown, kind)
			g.stage.Faults.Clear()
			require.Eventually(t, func() bool {
				found, ok, err := g.FindSubscription(t.Context(), terms)
				return err == nil && ok && found.Status == gateway.RemoteActive
			}, time.Minute, 10*time.Millisecond, kind)
		}
	})
}

func TestNothingIsFoundWhereNothingWasMade(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		_, ok, err := g.FindSubscription(t.Context(), g.terms(t, g.approved))
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = g.FindPix(t.Context(), g.pixTerms(t))
		require.NoError(t, err)
		require.False(t, ok)
		_, err = g.ReadSubscription(t.Context(), "sub_0000000000000000", objectid.New())
		require.ErrorIs(t, err, gateway.ErrMissing)
		_, err = g.ReadPix(t.Context(), "pay_0000000000000000", objectid.New())
		require.ErrorIs(t, err, gateway.ErrMissing)
	})
}

func TestCancelTwice(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.approved)
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		require.NoError(t, g.CancelSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID))
		require.NoError(t, g.CancelSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID))
		require.NoError(t, g.CancelSubscription(t.Context(), "sub_0000000000000000", objectid.New()))
		if found, ok, err := g.FindSubscription(t.Context(), terms); ok {
			require.NoError(t, err)
			require.Equal(t, gateway.RemoteCanceled, found.Status)
		}
	})
}

func TestPixIsMadeReadAndPaid(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.pixTerms(t)
		made, err := g.CreatePix(t.Context(), terms)
		require.NoError(t, err)
		require.Equal(t, gateway.PaymentStatusPending, made.Payment.Status)
		require.Equal(t, gateway.MethodPix, made.Payment.Method)
		require.EqualValues(t, 59880, made.Payment.Amount)
		require.True(t, strings.HasPrefix(made.Payload, "000201"), made.Payload)
		require.True(t, strings.HasPrefix(made.EncodedImage, "iVBORw0KGgo"), "a PNG in base64")
		require.True(t, made.ExpiresAt.After(time.Now()))
		require.False(t, made.Expired)

		found, ok, err := g.FindPix(t.Context(), terms)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, made.Payment.ID, found.Payment.ID)
		require.Equal(t, made.Payload, found.Payload)

		require.NoError(t, g.payPix(made.Payment.ID))
		paid, err := g.ReadPix(t.Context(), made.Payment.ID, terms.Reference)
		require.NoError(t, err)
		require.Equal(t, gateway.PaymentStatusSettled, paid.Payment.Status)
		require.NotNil(t, paid.Payment.SettledAt)
		require.Empty(t, paid.Payload)
		require.ErrorIs(t, g.CancelPix(t.Context(), made.Payment.ID, terms.Reference), gateway.ErrAlreadyPaid)
	})
}

func TestPixIsCancelledTwice(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.pixTerms(t)
		made, err := g.CreatePix(t.Context(), terms)
		require.NoError(t, err)
		require.NoError(t, g.CancelPix(t.Context(), made.Payment.ID, terms.Reference))
		require.NoError(t, g.CancelPix(t.Context(), made.Payment.ID, terms.Reference))
		require.Error(t, g.payPix(made.Payment.ID))
	})
}

func TestPixRunsOut(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.pixTerms(t)
		made, err := g.CreatePix(t.Context(), terms)
		require.NoError(t, err)
		require.NoError(t, g.expirePix(made.Payment.ID))
		read, err := g.ReadPix(t.Context(), made.Payment.ID, terms.Reference)
		require.NoError(t, err)
		require.True(t, read.Expired)
		require.Empty(t, read.Payload)
		require.NotEqual(t, gateway.PaymentStatusSettled, read.Payment.Status)
		require.NoError(t, g.CancelPix(t.Context(), made.Payment.ID, terms.Reference))
	})
}

func TestPixIsFoundAfterLostAnswer(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.pixTerms(t)
		g.fault(t, stage.Fault{Method: "POST", Path: g.pixPath, Kind: stage.FaultResetAfter})
		_, err := g.CreatePix(t.Context(), terms)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
		g.stage.Faults.Clear()
		found, ok, err := g.FindPix(t.Context(), terms)
		require.NoError(t, err)
		require.True(t, ok)
		require.NotEmpty(t, found.Payload)
	})
}

func TestGatewayUnavailable(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		terms := g.terms(t, g.approved)
		g.fault(t, stage.Fault{Kind: stage.FaultBadGateway})
		_, err := g.ReadSubscription(t.Context(), "sub_0000000000000000", objectid.New())
		require.ErrorIs(t, err, gateway.ErrUnavailable, "a read changes nothing")
		g.stage.Faults.Clear()

		g.fault(t, stage.Fault{Method: "POST", Kind: stage.FaultStatus, Status: 429})
		_, err = g.Subscribe(t.Context(), terms)
		require.ErrorIs(t, err, gateway.ErrUnavailable, "a limit means that nothing was done")
	})
}

func TestNothingSecretIsPrinted(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		for _, f := range []stage.Fault{
			{Kind: stage.FaultStatus, Status: 500},
			{Kind: stage.FaultStatus, Status: 400},
			{Kind: stage.FaultStatus, Status: 401},
			{
				Kind: stage.FaultStatus, Status: 400,
				Body: `{"errors":[{"code":"x","description":"cartao 5162 3062 1937 8829"}],"error":{"type":"invalid_request_error","message":"key"}}`,
			},
			{Kind: stage.FaultResetAfter},
			{Kind: stage.FaultBadGateway},
			{Kind: stage.FaultStatus, Status: 402},
		} {
			terms := g.terms(t, g.approved)
			f.Method, f.Path = "POST", "/subscriptions"
			g.fault(t, f)
			_, err := g.Subscribe(t.Context(), terms)
			require.Error(t, err)
			g.stage.Faults.Clear()
			text := fmt.Sprintf("%v %+v %#v", err, err, terms.Instrument.Card)
			for _, leak := range []string{
				paymentstest.CardApproved, "5162 3062", "318\"", "sk_test", "aact_hmlg", "_secret_", terms.Payer.Email,
			} {
				require.NotContains(t, text, leak)
			}
		}
		_, err := json.Marshal(g.approved)
		if g.approved.Card != nil {
			require.Error(t, err, "a card must not be marshalled")
		}
	})
}
