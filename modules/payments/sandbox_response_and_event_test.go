package payments_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	sandboxgwb "marquee/testutil/sandbox/gwb/account"
	"marquee/testutil/secrettest"
)

// collector takes every event that is applied.
type collector struct {
	mu  sync.Mutex
	got []gateway.Event
}

func (c *collector) ApplyEventTx(_ context.Context, _ pgx.Tx, e gateway.Event) (gateway.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, e)
	return gateway.Result{Status: gateway.ResultApplied}, nil
}

// wait returns the first event of the type, which is on its way.
func (c *collector) wait(t *testing.T, eventType string) gateway.Event {
	t.Helper()
	var found gateway.Event
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.IndexFunc(c.got, func(e gateway.Event) bool { return e.Type == eventType })
		if i >= 0 {
			found = c.got[i]
		}
		return i >= 0
	}, time.Minute, 10*time.Millisecond, eventType)
	return found
}

// live is the module with both sandbox gateways calling its webhooks.
func live(t *testing.T) (*paymentstest.Gateways, *collector) {
	t.Helper()
	g, c := gatewaysB(t), &collector{}
	pool := pgtest.DB(t)
	quiet := secrettest.Logger(t)
	client, err := jobs.New(pool, jobs.Options{Log: quiet})
	require.NoError(t, err)
	svc := payments.New(payments.Deps{
		Pool: pool, Jobs: client, Clock: g.Clock(), Log: quiet, Adapters: g.Adapters(),
	})
	svc.Connect(payments.Hooks{Applier: c})
	api := httpapi.New(httpapi.Config{Log: quiet})
	svc.Routes(api)
	address := apitest.Serve(t, api)
	g.Sandbox.GWA.SetWebhook(address+"/webhooks/gwa", paymentstest.GWAToken)
	g.Sandbox.GWB.SetWebhook(address+"/webhooks/gwb", paymentstest.GWBSecret)
	return g, c
}

func TestSandboxB_AnswerAndEventHaveOneKey(t *testing.T) {
	t.Parallel()
	for _, shape := range []sandboxgwb.Shape{sandboxgwb.Dahlia, sandboxgwb.PreBasil} {
		t.Run(string(shape), func(t *testing.T) {
			t.Parallel()
			g, c := live(t)
			require.NoError(t, g.Sandbox.GWB.SetShape(shape))
			terms := termsB(t, g, paymentstest.TokenApproved)
			sub, err := g.B.Subscribe(t.Context(), terms)
			require.NoError(t, err)

			paid := c.wait(t, "invoice.paid")
			require.Equal(t, gateway.PaymentSettled, paid.Kind())
			require.Equal(t, sub.GatewayID, paid.SubscriptionID)
			require.Equal(t, terms.SubscriptionID, paid.Reference)
			require.Equal(t, terms.Payer.GatewayID, paid.CustomerID)
			require.Equal(t, sub.LatestPayment.ID, paymentOf(paid).ID)
			require.Equal(t, sub.LatestPayment.Amount, paymentOf(paid).Amount)
			require.Equal(t, gateway.PaymentStatusSettled, paymentOf(paid).Status)

			created := c.wait(t, "customer.subscription.created")
			require.Equal(t, sub.GatewayID, created.SubscriptionID)
			require.Equal(t, terms.SubscriptionID, created.Reference)
			require.Equal(t, sub.NextBilling, created.Payload.(gateway.SubscriptionChange).Subscription.NextBilling)

			require.NoError(t, g.B.CancelSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID))
			deleted := c.wait(t, "customer.subscription.deleted")
			require.Equal(t, gateway.SubscriptionEnded, deleted.Kind())
			require.Equal(t, gateway.RemoteCanceled, deleted.Payload.(gateway.SubscriptionEnd).Subscription.Status)
		})
	}
}

func TestSandboxB_FailedRenewal(t *testing.T) {
	t.Parallel()
	g, c := live(t)
	card, err := g.Sandbox.GWB.CreateCard(sandboxgwb.Card{Number: "4242424242424242", ExpMonth: 5, ExpYear: 2035})
	require.NoError(t, err)
	sub, err := g.B.Subscribe(t.Context(), termsB(t, g, card))
	require.NoError(t, err)
	require.NoError(t, g.Sandbox.GWB.SetOutcome(card, paymentstest.TokenDeclined))
	require.NoError(t, g.Sandbox.GWB.Renew(sub.GatewayID))
	failed := c.wait(t, "invoice.payment_failed")
	require.Equal(t, gateway.PaymentFailed, failed.Kind())
	require.Equal(t, sub.GatewayID, failed.SubscriptionID)
	require.Equal(t, 1, failed.Payload.(gateway.FailedPayment).Attempt)
	require.False(t, failed.Payload.(gateway.FailedPayment).First)
	require.NotEqual(t, sub.LatestPayment.ID, paymentOf(failed).ID)

	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.ContainsFunc(c.got, func(e gateway.Event) bool {
			change, ok := e.Payload.(gateway.SubscriptionChange)
			return ok && change.Subscription.Status == gateway.RemotePastDue &&
				change.Subscription.LatestPayment.ID == failed.PaymentID()
		})
	}, time.Minute, 10*time.Millisecond, "the status event names the same invoice")
}

func TestSandboxA_AnswerAndEventHaveOneKey(t *testing.T) {
	t.Parallel()
	g, c := live(t)
	terms := termsA(t, g, paymentstest.CardApproved)
	sub, err := g.A.Subscribe(t.Context(), terms)
	require.NoError(t, err)
	require.NoError(t, g.Sandbox.GWA.Advance(time.Minute))
	confirmed := c.wait(t, "PAYMENT_CONFIRMED")
	require.Equal(t, sub.GatewayID, confirmed.SubscriptionID)
	require.Equal(t, sub.LatestPayment.ID, paymentOf(confirmed).ID)
	require.Equal(t, terms.SubscriptionID, confirmed.Reference, "a charge names the row that made its recurrence")
	require.WithinDuration(t, g.Sandbox.GWA.Now(), *paymentOf(confirmed).SettledAt, 5*time.Minute)

	require.NoError(t, g.Sandbox.GWA.Advance(35*24*time.Hour))
	received := c.wait(t, "PAYMENT_RECEIVED")
	require.Equal(t, paymentOf(confirmed).ID, paymentOf(received).ID)
	require.Equal(t, "RECEIVED", paymentOf(received).NativeStatus)

	pix := gateway.PixTerms{Reference: objectid.New(), Payer: terms.Payer, Amount: 59880, DueDate: g.Sandbox.GWA.Now()}
	made, err := g.A.CreatePix(t.Context(), pix)
	require.NoError(t, err)
	_, err = g.Sandbox.GWA.Pay(made.Payment.ID)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.ContainsFunc(c.got, func(e gateway.Event) bool {
			return e.Reference == pix.Reference && paymentOf(e).ID == made.Payment.ID &&
				paymentOf(e).Method == gateway.MethodPix && paymentOf(e).Amount == 59880
		})
	}, time.Minute, 10*time.Millisecond)
}

// paymentOf is the payment that an event tells of.
func paymentOf(e gateway.Event) gateway.Payment {
	p, _ := e.Payment()
	return p
}
