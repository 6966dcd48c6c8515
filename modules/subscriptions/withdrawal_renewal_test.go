package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// TestWithdrawWhileARenewalWaits: it ends both, and at the gateway what the call of the
// renewal made.
func TestWithdrawWhileARenewalWaits(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			old, id := lostRenewal(t, b, gateway, stage.FaultResetAfter)
			res := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.NotEmpty(t, res["refunded_at"])
			require.Equal(t, "cancelled", b.status(t, old))
			require.Equal(t, "cancelled", b.status(t, id))
			moves := b.history(t, id)
			require.Equal(t, "pending>cancelled customer_cancelled customer", moves[len(moves)-1])
			require.Empty(t, b.current(t))
			require.False(t, b.access(t))
			require.Equal(t, res, b.expect(t, 200, http.MethodPost, withdrawPath, nil), "asked again")
			recoverIntent(t, b, id)
			require.NoError(t, b.service.EndAtGateway(t.Context(), id))
			require.Equal(t, "cancelled", b.status(t, id))
			for _, ended := range []objectid.ID{old, id} {
				require.NotNil(t, column[*time.Time](t, b, ended, "gateway_ended_at"))
			}
			require.False(t, b.access(t))
			require.Empty(t, b.gateways.Paid(t))
		})
	}
}

// TestWithdrawAfterRenewals: the right is that of the first payment, and all that was
// paid for the subscription and for those that it renewed goes back.
func TestWithdrawAfterRenewals(t *testing.T) {
	t.Parallel()
	for name, way := range withdrawalWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			first := way.paid(b, t)
			b.settle(t)
			until := doc(b.expect(t, 200, http.MethodGet, subscriptionPath, nil))["withdrawal_until"]
			var last objectid.ID
			for range 2 {
				last = renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
				b.settle(t)
			}
			require.Equal(t, until, doc(b.expect(t, 200, http.MethodGet, subscriptionPath, nil))["withdrawal_until"])
			res := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.Equal(t, way.amount, res["refund_amount"])
			require.NotEmpty(t, res["refunded_at"])
			b.settle(t)
			require.Equal(t, int64(4990), column[int64](t, b, first, "total_refunded_cents"))
			require.Empty(t, b.gateways.Paid(t))
			require.Empty(t, b.current(t))
			require.False(t, b.access(t))
			moves := b.history(t, last)
			require.Equal(t, "active>cancelled withdrawn customer", moves[len(moves)-1])
			require.Equal(t, 3, b.count(t,
				"SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled' AND gateway_ended_at IS NOT NULL"))
			require.Equal(t, res, b.expect(t, 200, http.MethodPost, withdrawPath, nil), "asked again")
			require.NoError(t, b.service.GiveBack(t.Context(), last))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
		})
	}
}

// paidAndRenewed is a subscription of gateway B, and the one that renewed it.
func paidAndRenewed(t *testing.T, b *bundle) (first, last objectid.ID) {
	t.Helper()
	first = b.paidGWB(t)
	b.settle(t)
	last = renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
	b.settle(t)
	return first, last
}

// TestARefundOfWhatWasRenewedThatFailsLater: the withdrawal that asked for it has people decide.
func TestARefundOfWhatWasRenewedThatFailsLater(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	first, last := paidAndRenewed(t, b)
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	b.settle(t)
	require.NoError(t, b.gateways.Sandbox.GWB.FinishRefund(b.text(t, "SELECT gateway_refund_id FROM payments.refunds"),
		false))
	b.settle(t)
	require.Zero(t, column[int64](t, b, first, "total_refunded_cents"))
	require.NotZero(t, b.count(t,
		"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_give_back' AND args ->> 'subscription_id' = $1", last))
	require.NoError(t, b.service.GiveBack(t.Context(), last))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unrefundable' AND state = 'open' AND subscription_id = $1", first))
}

// TestMoneyToldAfterAWithdrawalGoesBack, whenever it was charged, and also when it is of
// what the subscription had renewed.
func TestMoneyToldAfterAWithdrawalGoesBack(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	first, last := paidAndRenewed(t, b)
	charged := b.clock.Now()
	b.clock.Advance(time.Minute)
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	b.clock.Advance(time.Minute)
	for payment, of := range map[string]struct {
		id objectid.ID
		at time.Time
	}{"pi_before": {last, charged}, "pi_after": {last, b.clock.Now()}, "pi_old": {first, b.clock.Now()}} {
		reportCharge(t, b, of.id, payment, of.at)
		require.Equal(t, "cancelled", b.status(t, of.id), payment)
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1 AND automatic AND note LIKE '%withdrawn%'", payment), payment)
	}
	require.False(t, b.access(t))
}
