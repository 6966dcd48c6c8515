package payments_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

// pauseUses are the uses of payments.Gateway that pause, resume and move collection.
var pauseUses = []gatewayUse{
	{name: "StopCollection", prepare: func(t *testing.T, g *oddGateway) use {
		c := g.collection(t)
		return use{
			do:       func(ctx context.Context) (any, error) { return noEffect(g.StopCollection(ctx, c)) },
			happened: func(*testing.T) int { return -1 },
		}
	}},
	{name: "OpenCharges", reads: true, lists: true, prepare: func(t *testing.T, g *oddGateway) use {
		c := g.collection(t)
		return use{do: func(ctx context.Context) (any, error) {
			open, err := g.OpenCharges(ctx, c)
			return len(open), err
		}}
	}},
	{name: "ResumeCollection", prepare: func(t *testing.T, g *oddGateway) use {
		c := g.collection(t)
		require.NoError(t, g.clean.StopCollection(t.Context(), c))
		return use{
			do: func(ctx context.Context) (any, error) {
				return replied(g.ResumeCollection(ctx, c, nil,
					time.Time{}))
			},
			happened: func(*testing.T) int { return -1 },
		}
	}},
	{name: "MoveNextCharge", prepare: func(t *testing.T, g *oddGateway) use {
		c, to := g.collection(t), g.stage.Clock.Now().AddDate(0, 0, 75).Truncate(time.Second)
		return use{
			do: func(ctx context.Context) (any, error) { return replied(g.MoveNextCharge(ctx, c, to)) },
			happened: func(t *testing.T) int {
				now, err := g.clean.ReadSubscription(t.Context(), c.GatewayID, c.SubscriptionID)
				require.NoError(t, err)
				return truth(now.NextBilling != nil && now.NextBilling.After(to.AddDate(0, 0, -1)))
			},
		}
	}},
}

func (g *oddGateway) collection(t *testing.T) gateway.Collection {
	t.Helper()
	terms, sub := g.subscribed(t)
	return gateway.Collection{SubscriptionID: terms.SubscriptionID, GatewayID: sub.GatewayID}
}
