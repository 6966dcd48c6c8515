package payments_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// TestEachRightAnswerIsTold, whatever was asked, and no other.
func TestEachRightAnswerIsTold(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		var right, closed atomic.Int64
		adapter := g.Gateway.(gateway.Adapter)
		adapter.OnReply(func(_ context.Context, ok bool) {
			if ok {
				right.Add(1)
			} else {
				closed.Add(1)
			}
		})
		require.NoError(t, adapter.Probe(t.Context()))
		require.EqualValues(t, 1, right.Load())
		_, err := g.EnsureCustomer(t.Context(), paymentstest.Payer())
		require.NoError(t, err)
		require.Greater(t, right.Load(), int64(1), "a request of a customer's")
		heard := right.Load()
		_, err = g.ReadPayment(t.Context(), "pay_of_nobody", objectid.New())
		require.ErrorIs(t, err, gateway.ErrMissing)
		require.Greater(t, right.Load(), heard, "proved to be missing")

		heard = right.Load()
		for _, f := range []stage.Fault{
			{Kind: stage.FaultStatus, Status: http.StatusInternalServerError},
			{Kind: stage.FaultStatus, Status: http.StatusTooManyRequests},
			{Kind: stage.FaultStatus, Status: http.StatusUnauthorized},
			{Kind: stage.FaultResetAfter},
			{Kind: stage.FaultOdd, Answer: "html", Status: http.StatusOK},
			{Kind: stage.FaultOdd, Answer: "object", Status: http.StatusOK},
			{Kind: stage.FaultOdd, Answer: "html", Status: http.StatusNotFound},
		} {
			f.Method, f.Times = http.MethodGet, 10
			require.NoError(t, g.stage.Faults.Plan(f))
			require.Error(t, adapter.Probe(t.Context()), f)
			g.stage.Faults.Clear()
			g.all.Advance(t, 2*time.Minute) // the rest after a 429
		}
		require.Equal(t, heard, right.Load())
		require.Zero(t, closed.Load(), "one endpoint is not the account")
	})
}
