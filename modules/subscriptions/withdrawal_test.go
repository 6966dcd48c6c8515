package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions"
	"marquee/platform/objectid"
)

const withdrawPath = "/customers/me/subscription/withdraw"

func withdrawable(t *testing.T) *bundle {
	t.Helper()
	return setup(t, func(c *subscriptions.Config) {
		c.WithdrawalDays = 7
		c.Zone, _ = time.LoadLocation("America/Sao_Paulo")
	})
}

// withdrawalWays are the subscriptions that are withdrawn, with the amount in their gateway's unit.
var withdrawalWays = map[string]struct {
	paid   func(*bundle, *testing.T) objectid.ID
	amount float64
}{
	"card at A": {(*bundle).paidGWA, 49.90}, "PIX at A": {(*bundle).paidPixGWA, 49.90},
	"card at B": {(*bundle).paidGWB, 4990},
}

func TestAWithdrawalGivesAllMoneyBack(t *testing.T) {
	t.Parallel()
	for name, way := range withdrawalWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			id := way.paid(b, t)
			until := doc(b.expect(t, 200, http.MethodGet, "/customers/me/subscription", nil))["withdrawal_until"]
			require.NotEmpty(t, until)
			require.True(t, b.access(t))
			me := b.client(t, "k")
			first := me.Post(withdrawPath, nil).Expect(200)
			res := first.Map()
			require.Equal(t, way.amount, res["refund_amount"])
			require.NotEmpty(t, res["refunded_at"])
			require.Equal(t, "cancelled", res["status"])
			require.False(t, b.access(t))
			require.Empty(t, b.current(t))
			moves := b.history(t, id)
			require.Equal(t, "active>cancelled withdrawn customer", moves[len(moves)-1])
			require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"))

			require.Equal(t, string(first.Body), string(me.Post(withdrawPath, nil).Expect(200).Body))
			require.Equal(t, res, b.client(t, "another").Post(withdrawPath, nil).Expect(200).Map(),
				"asked again without its key")
			require.NoError(t, b.service.GiveBack(t.Context(), id))
			b.settle(t)
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
			require.Empty(t, b.gateways.Paid(t))
			require.Equal(t, "cancelled", b.status(t, id), "its events open nothing")
			require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
		})
	}
}

func TestTheRightToWithdrawEnds(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWB(t)
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	var paid time.Time
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT settled_at FROM payments.payments").Scan(&paid))
	paid = paid.In(zone)
	until := time.Date(paid.Year(), paid.Month(), paid.Day()+8, 0, 0, 0, 0, zone)
	parsed, err := time.Parse(time.RFC3339,
		doc(b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil))["withdrawal_until"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, until, parsed, 0)
	b.clock.Advance(until.Sub(b.clock.Now()))
	a := b.expect(t, 422, http.MethodPost, withdrawPath, nil)
	refused(t, a, "WITHDRAWAL_NOT_ALLOWED", "")
	require.Contains(t, a["detail"], until.UTC().Format(time.RFC3339))
	require.Equal(t, "active", b.status(t, id))
	b.clock.Advance(-time.Second)
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
}

func TestNoWithdrawal(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]func(t *testing.T) *bundle{
		"off": func(t *testing.T) *bundle {
			b := setup(t)
			b.paidGWB(t)
			require.NotContains(t, doc(b.expect(t, 200, http.MethodGet, "/customers/me/subscription", nil)),
				"withdrawal_until")
			return b
		},
		"unpaid": func(t *testing.T) *bundle {
			b := withdrawable(t)
			b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan})
			return b
		},
		"disputed": func(t *testing.T) *bundle {
			b := withdrawable(t)
			b.paidGWB(t)
			_, err := b.gateways.Sandbox.GWB.OpenDispute(intentPaid(t, b), "fraudulent", false)
			require.NoError(t, err)
			b.settle(t)
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, given(t).expect(t, 422, http.MethodPost, withdrawPath, nil), "WITHDRAWAL_NOT_ALLOWED", "")
		})
	}
	withdrawable(t).expect(t, 404, http.MethodPost, withdrawPath, nil)
}

// withdrawableUntil pays at gateway B, and is when the right to withdraw ends.
func withdrawableUntil(t *testing.T, b *bundle) time.Time {
	t.Helper()
	b.paidGWB(t)
	b.settle(t)
	until, err := time.Parse(time.RFC3339,
		doc(b.expect(t, 200, http.MethodGet, subscriptionPath, nil))["withdrawal_until"].(string))
	require.NoError(t, err)
	return until
}

// TestNoWithdrawalNamesTheDate: also of a renewal, and under dispute.
func TestNoWithdrawalNamesTheDate(t *testing.T) {
	t.Parallel()
	refusedUntil := func(b *bundle, t *testing.T, until time.Time) {
		a := b.expect(t, 422, http.MethodPost, withdrawPath, nil)
		refused(t, a, "WITHDRAWAL_NOT_ALLOWED", "")
		require.Contains(t, a["detail"], until.UTC().Format(time.RFC3339))
	}
	for name, happens := range map[string]func(b *bundle, t *testing.T, until time.Time){
		"disputed before the renewal": func(b *bundle, t *testing.T, _ time.Time) {
			intent := intentPaid(t, b)
			b.expect(t, 200, http.MethodPut, renewPath, goodCard())
			b.settle(t)
			_, err := b.gateways.Sandbox.GWB.OpenDispute(intent, "fraudulent", false)
			require.NoError(t, err)
			b.settle(t)
		},
		"disputed": func(b *bundle, t *testing.T, _ time.Time) {
			_, err := b.gateways.Sandbox.GWB.OpenDispute(intentPaid(t, b), "fraudulent", false)
			require.NoError(t, err)
			b.settle(t)
		},
		"a renewal, too late": func(b *bundle, t *testing.T, until time.Time) {
			b.expect(t, 200, http.MethodPut, renewPath, goodCard())
			b.settle(t)
			b.clock.Advance(until.Sub(b.clock.Now()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			until := withdrawableUntil(t, b)
			happens(b, t, until)
			refusedUntil(b, t, until)
		})
	}
}

// TestAnOlderPaymentThatLengthensLeavesTheRightToWithdraw: the right counts from the
// first payment that was made for the subscription, and all of its money goes back.
func TestAnOlderPaymentThatLengthensLeavesTheRightToWithdraw(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWB(t)
	status := func() any {
		return doc(b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil))["withdrawal_until"]
	}
	until := status()
	require.NotNil(t, until)
	older := plantUnapplied(t, b, id)
	_, err := b.db.Exec(t.Context(),
		"UPDATE payments.payments SET settled_at = settled_at - interval '20 days' WHERE gateway = 'gwa'")
	require.NoError(t, err)
	b.admin(t).Post(unappliedPath+"/"+older+"/extend", nil).Expect(200)
	require.Equal(t, until, status())
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
}
