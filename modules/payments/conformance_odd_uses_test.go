package payments_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// gatewayUse is one use of an adapter: what it asks for, and whether that has happened,
// by the gateway's own books.
type gatewayUse struct {
	name     string
	prepare  func(t *testing.T, g *oddGateway) use
	reads    bool // it changes nothing: one preparation serves all
	lists    bool // it tells all rows of a list
	gateways gateway.Name
}

type use struct {
	do       func(ctx context.Context) (any, error)
	happened func(t *testing.T) int // how often
}

type oddGateway struct {
	*gatewayUnderTest
	all   *paymentstest.Gateways
	oddly *oddly
	clean gateway.Gateway
}

// count is how often a search finds something, by the clean adapter.
func count[T any](found T, ok bool, err error) func(t *testing.T) (T, int) {
	return func(t *testing.T) (T, int) {
		require.NoError(t, err)
		if ok {
			return found, 1
		}
		return found, 0
	}
}

func replied[T any](v T, err error) (any, error) { return v, err }

func noEffect(err error) (any, error) { return nil, err }

// uses, and pauseUses, are all calls of the interface that reach a gateway.
var uses = []gatewayUse{
	{name: "EnsureCustomer", prepare: func(_ *testing.T, g *oddGateway) use {
		p := paymentstest.Payer()
		return use{
			do: func(ctx context.Context) (any, error) { return replied(g.EnsureCustomer(ctx, p)) },
			happened: func(*testing.T) int {
				return -1 // a payer that is there twice does no harm
			},
		}
	}},
	{name: "SyncPlan", gateways: gateway.GWB, prepare: func(_ *testing.T, g *oddGateway) use {
		plan := plusPlan()
		plan.PlanID = "plan" + objectid.New().String()
		return use{
			do:       func(ctx context.Context) (any, error) { return replied(g.SyncPlan(ctx, plan)) },
			happened: func(*testing.T) int { return -1 }, // as above
		}
	}},
	{name: "Subscribe", prepare: func(t *testing.T, g *oddGateway) use {
		terms := g.terms(t, g.approved)
		return use{
			do: func(ctx context.Context) (any, error) { return replied(g.Subscribe(ctx, terms)) },
			happened: func(t *testing.T) int {
				_, n := count(g.clean.FindSubscription(t.Context(), terms))(t)
				return n
			},
		}
	}},
	{name: "FindSubscription", reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		terms, _ := g.subscribed(t)
		return use{do: func(ctx context.Context) (any, error) {
			sub, ok, err := g.FindSubscription(ctx, terms)
			return fmt.Sprint(sub.GatewayID, sub.Status, ok), err
		}}
	}},
	{name: "ReadSubscription", reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		terms, sub := g.subscribed(t)
		return use{do: func(ctx context.Context) (any, error) {
			got, err := g.ReadSubscription(ctx, sub.GatewayID, terms.SubscriptionID)
			return string(got.Status), err
		}}
	}},
	{name: "CancelSubscription", prepare: func(t *testing.T, g *oddGateway) use {
		terms, sub := g.subscribed(t)
		return use{
			do: func(ctx context.Context) (any, error) {
				return noEffect(g.CancelSubscription(ctx, sub.GatewayID, terms.SubscriptionID))
			},
			happened: func(t *testing.T) int {
				now, err := g.clean.ReadSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID)
				require.NoError(t, err)
				return truth(now.Status.Ended())
			},
		}
	}},
	{name: "SetCancelAtPeriodEnd", gateways: gateway.GWB, prepare: func(t *testing.T, g *oddGateway) use {
		terms, sub := g.subscribed(t)
		return use{
			do: func(ctx context.Context) (any, error) {
				return replied(g.SetCancelAtPeriodEnd(ctx, sub.GatewayID, terms.SubscriptionID, true))
			},
			happened: func(t *testing.T) int {
				now, err := g.clean.ReadSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID)
				require.NoError(t, err)
				return truth(now.CancelAtPeriodEnd)
			},
		}
	}},
	{name: "ChangeCard", prepare: func(t *testing.T, g *oddGateway) use {
		terms, sub := g.subscribed(t)
		change := gateway.CardChange{
			ChangeID: objectid.New(), SubscriptionID: terms.SubscriptionID, SubscriptionGatewayID: sub.GatewayID,
			Payer: terms.Payer, Instrument: g.other,
		}
		return use{
			do:       func(ctx context.Context) (any, error) { return replied(g.ChangeCard(ctx, change)) },
			happened: func(*testing.T) int { return -1 },
		}
	}},
	{name: "ChangePrice", prepare: func(t *testing.T, g *oddGateway) use {
		terms, sub := g.subscribed(t)
		change := g.anotherPrice(t, sub.GatewayID, terms.SubscriptionID)
		return use{
			do:       func(ctx context.Context) (any, error) { return noEffect(g.ChangePrice(ctx, change)) },
			happened: func(*testing.T) int { return -1 },
		}
	}},
	{name: "CreatePix", prepare: func(t *testing.T, g *oddGateway) use {
		terms := g.pixTerms(t)
		return use{
			do: func(ctx context.Context) (any, error) { return replied(g.CreatePix(ctx, terms)) },
			happened: func(t *testing.T) int {
				_, n := count(g.clean.FindPix(t.Context(), terms))(t)
				return n
			},
		}
	}},
	{name: "FindPix", reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		terms, _ := g.pix(t)
		return use{do: func(ctx context.Context) (any, error) {
			c, ok, err := g.FindPix(ctx, terms)
			return fmt.Sprint(c.Payment.ID, c.Payload, ok), err
		}}
	}},
	{name: "ReadPix", reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		terms, made := g.pix(t)
		return use{do: func(ctx context.Context) (any, error) {
			got, err := g.ReadPix(ctx, made.Payment.ID, terms.Reference)
			return got.Payload, err
		}}
	}},
	{name: "CancelPix", prepare: func(t *testing.T, g *oddGateway) use {
		terms, made := g.pix(t)
		return use{
			do: func(ctx context.Context) (any, error) {
				return noEffect(g.CancelPix(ctx, made.Payment.ID, terms.Reference))
			},
			happened: func(t *testing.T) int {
				return truth(g.payPix(made.Payment.ID) != nil) // nobody can pay it any more
			},
		}
	}},
	{name: "ChargeCard", prepare: func(t *testing.T, g *oddGateway) use {
		terms := g.cardTerms(t, g.approved)
		return use{
			do: func(ctx context.Context) (any, error) { return replied(g.ChargeCard(ctx, terms)) },
			happened: func(t *testing.T) (n int) {
				for _, c := range g.all.Charges(t) {
					if c.LocalID == terms.Reference {
						n++
					}
				}
				return n
			},
		}
	}},
	{name: "FindCardCharge", reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		terms := g.cardTerms(t, g.approved)
		_, err := g.ChargeCard(t.Context(), terms)
		require.NoError(t, err)
		return use{do: func(ctx context.Context) (any, error) {
			c, ok, err := g.FindCardCharge(ctx, terms)
			return fmt.Sprint(c.Payment.ID, c.Payment.Status, ok), err
		}}
	}},
	{name: "ReadPayment", reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		terms := g.cardTerms(t, g.approved)
		made, err := g.ChargeCard(t.Context(), terms)
		require.NoError(t, err)
		return use{do: func(ctx context.Context) (any, error) {
			got, err := g.ReadPayment(ctx, made.Payment.ID, terms.Reference)
			return string(got.Status), err
		}}
	}},
	{name: "Refund", prepare: func(t *testing.T, g *oddGateway) use {
		p := g.charged(t)
		terms := g.refundTerms(p, 2000)
		return use{
			do: func(ctx context.Context) (any, error) { return replied(g.Refund(ctx, terms)) },
			happened: func(t *testing.T) int {
				all, err := g.clean.ListRefunds(t.Context(), gateway.PaymentRef{PaymentID: p.ID})
				require.NoError(t, err)
				return len(all)
			},
		}
	}},
	{name: "ListRefunds", reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		p := g.charged(t)
		_, err := g.Refund(t.Context(), g.refundTerms(p, 2000))
		require.NoError(t, err)
		return use{do: func(ctx context.Context) (any, error) {
			all, err := g.ListRefunds(ctx, gateway.PaymentRef{PaymentID: p.ID})
			return len(all), err
		}}
	}},
	{name: "ListDisputes", reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		p := g.charged(t)
		return use{do: func(ctx context.Context) (any, error) {
			all, err := g.ListDisputes(ctx, gateway.PaymentRef{PaymentID: p.ID})
			return len(all), err
		}}
	}},
	{name: "ListPayments", reads: true, lists: true, prepare: func(t *testing.T, g *oddGateway) use {
		terms, sub := g.subscribed(t)
		q := gateway.PaymentsQuery{
			SubscriptionID: terms.SubscriptionID, SubscriptionGatewayID: sub.GatewayID,
			CustomerGatewayID: sub.CustomerGatewayID,
		}
		return use{do: func(ctx context.Context) (any, error) {
			all, err := g.ListPayments(ctx, q)
			return len(all), err
		}}
	}},
	{name: "CreatedSince", reads: true, lists: true, prepare: func(t *testing.T, g *oddGateway) use {
		g.charged(t)
		return use{do: func(ctx context.Context) (any, error) {
			events, next, err := g.CreatedSince(ctx, g.stage.Clock.Now().Add(-time.Hour), "")
			return fmt.Sprint(len(events), next), err
		}}
	}},
	{name: "InvoiceOf", gateways: gateway.GWB, reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		_, sub := g.subscribed(t)
		return use{do: func(ctx context.Context) (any, error) {
			return replied(g.InvoiceOf(ctx, sub.LatestPayment.PaymentIntentID))
		}}
	}},
	{name: "AuthorizePix", gateways: gateway.GWA, prepare: func(t *testing.T, g *oddGateway) use {
		terms := authorizationTerms(t, g.all)
		return use{
			do: func(ctx context.Context) (any, error) { return replied(g.AuthorizePix(ctx, terms)) },
			happened: func(t *testing.T) int {
				_, n := count(g.clean.FindPixAuthorization(t.Context(), terms))(t)
				return n
			},
		}
	}},
	{name: "FindPixAuthorization", gateways: gateway.GWA, reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		terms, _ := g.authorized(t)
		return use{do: func(ctx context.Context) (any, error) {
			a, ok, err := g.FindPixAuthorization(ctx, terms)
			return fmt.Sprint(a.ID, ok), err
		}}
	}},
	{name: "ReadPixAuthorization", gateways: gateway.GWA, reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		_, ref := g.authorized(t)
		return use{do: func(ctx context.Context) (any, error) {
			a, err := g.ReadPixAuthorization(ctx, ref)
			return string(a.Status), err
		}}
	}},
	{name: "CancelPixAuthorization", gateways: gateway.GWA, prepare: func(t *testing.T, g *oddGateway) use {
		_, ref := g.authorized(t)
		return use{
			do: func(ctx context.Context) (any, error) { return noEffect(g.CancelPixAuthorization(ctx, ref)) },
			happened: func(t *testing.T) int {
				a, err := g.clean.ReadPixAuthorization(t.Context(), ref)
				require.NoError(t, err)
				return truth(a.Status.Ended())
			},
		}
	}},
	{name: "DebitPix", gateways: gateway.GWA, prepare: func(t *testing.T, g *oddGateway) use {
		debit := g.debit(t)
		return use{
			do: func(ctx context.Context) (any, error) { return replied(g.DebitPix(ctx, debit)) },
			happened: func(t *testing.T) (n int) {
				for _, c := range g.all.Charges(t) {
					if c.LocalID == debit.SubscriptionID {
						n++
					}
				}
				return n
			},
		}
	}},
	{name: "FindPixDebit", gateways: gateway.GWA, reads: true, prepare: func(t *testing.T, g *oddGateway) use {
		debit := g.debit(t)
		_, err := g.DebitPix(t.Context(), debit)
		require.NoError(t, err)
		return use{do: func(ctx context.Context) (any, error) {
			p, ok, err := g.FindPixDebit(ctx, debit)
			return fmt.Sprint(p.ID, ok), err
		}}
	}},
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (g *oddGateway) subscribed(t *testing.T) (gateway.SubscriptionTerms, gateway.RemoteSubscription) {
	t.Helper()
	terms := g.terms(t, g.approved)
	sub, err := g.Subscribe(t.Context(), terms)
	require.NoError(t, err)
	return terms, sub
}

func (g *oddGateway) pix(t *testing.T) (gateway.PixTerms, gateway.PixCharge) {
	t.Helper()
	terms := g.pixTerms(t)
	made, err := g.CreatePix(t.Context(), terms)
	require.NoError(t, err)
	return terms, made
}

func (g *oddGateway) authorized(t *testing.T) (gateway.AuthorizationTerms, gateway.AuthorizationRef) {
	t.Helper()
	terms := authorizationTerms(t, g.all)
	a, err := g.AuthorizePix(t.Context(), terms)
	require.NoError(t, err)
	return terms, gateway.AuthorizationRef{
		ID: a.ID, SubscriptionID: terms.SubscriptionID, CustomerGatewayID: terms.Payer.GatewayID,
	}
}

func (g *oddGateway) debit(t *testing.T) gateway.DebitTerms {
	t.Helper()
	terms := authorizationTerms(t, g.all)
	a, err := g.AuthorizePix(t.Context(), terms)
	require.NoError(t, err)
	_, err = g.all.Sandbox.GWA.PayPIX(a.Payload)
	require.NoError(t, err)
	return gateway.DebitTerms{
		SubscriptionID: terms.SubscriptionID, AuthorizationID: a.ID, Payer: terms.Payer, Cycle: terms.FirstDebit,
		DueDate: g.stage.Clock.Now().AddDate(0, 0, 7), Amount: 4990, Description: "Plus",
	}
}
