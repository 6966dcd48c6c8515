package subscriptions_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
)

// TestAPixTakenBackIsLostInEveryOrderOfItsEvents: refunded at gateway B by somebody else,
// of which no event but the charge's names us.
func TestAPixTakenBackIsLostInEveryOrderOfItsEvents(t *testing.T) {
	t.Parallel()
	for _, inTurn := range paymentstest.Permutations("payment_intent.succeeded", "charge.refunded", "refund.created") {
		t.Run(strings.Join(inTurn, " "), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan}))
			payment := column[string](t, b, id, "pix_payment_id")
			require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(payment))
			b.gateways.RefundAtGWB(t, payment)
			b.work(t)
			for _, kind := range inTurn {
				res := b.gateways.DeliverGWB(t, b.serve().url, kind, payment)
				require.NotContains(t, res, "unknown subject", kind)
			}
			eventually(t, "the end", func() bool { return b.status(t, id) == "cancelled" })
			untilIdle(t, b) // an event that met a job's lock waits for a job of its own
			require.Equal(t, "med lost",
				b.text(t, "SELECT kind || ' ' || state FROM payments.disputes WHERE local_id = $1", id))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds WHERE kind = 'refund'"))
			require.False(t, b.access(t))
			require.Len(t, b.history(t, id), 3, "%v", b.history(t, id))
		})
	}
}

// TestAPixTakenBackAfterAnAdminToldOfIt: what was entered by hand is the same dispute, and lost with the whole PIX.
func TestAPixTakenBackAfterAnAdminToldOfIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, payment := pixGWB(t, b)
	b.admin(t).Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).Expect(200)
	b.settle(t)
	require.Equal(t, "suspended", b.status(t, id))
	b.gateways.RefundAtGWB(t, payment)
	b.settle(t)
	require.Equal(t, "lost 4990 REFUNDED", pixReturned(t, b))
	require.Equal(t, "cancelled", b.status(t, id))
	require.False(t, b.access(t))
}

// pixReturned is what the ledgers say of the one PIX: its dispute, what was taken back, and
// what is listed.
func pixReturned(t *testing.T, b *bundle) string {
	t.Helper()
	return b.text(t,
		`SELECT concat_ws('; ', (SELECT state || ' ' || amount_cents || ' ' || native_status FROM payments.disputes),
		(SELECT 'back ' || sum(amount_cents) FROM payments.refunds WHERE status = 'done'),
		(SELECT concat_ws(' ', state, kind, amount_cents, CASE WHEN automatic THEN 'automatic' END, CASE WHEN taken_back THEN 'gone' END) FROM payments.unapplied_payments))`)
}

// TestAPixIsWithUsAgainWhenTheRefundFailsByWhichItWasTakenBack: in every order of the
// events the money is nobody's dispute any more. What had ended stays ended, and people
// decide about the money.
func TestAPixIsWithUsAgainWhenTheRefundFailsByWhichItWasTakenBack(t *testing.T) {
	t.Parallel()
	for _, inTurn := range paymentstest.Permutations("charge.refunded", "refund.created", "refund.failed") {
		t.Run(strings.Join(inTurn, " "), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, payment := pixGWB(t, b)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			refund := b.gateways.RefundPartAtGWB(t, payment, "")
			require.NoError(t, b.gateways.Sandbox.GWB.FinishRefund(refund, false))
			b.work(t)
			ended := false
			for _, kind := range inTurn {
				b.gateways.DeliverGWB(t, b.serve().url, kind, payment)
				b.gateways.DeliverGWB(t, b.serve().url, kind, payment)
				untilIdle(t, b)
				ended = ended || b.status(t, id) == "cancelled"
			}
			if slices.Index(inTurn, "refund.failed") == 0 {
				require.False(t, ended)
				require.Empty(t, pixReturned(t, b))
				return
			}
			require.True(t, ended)
			require.Equal(t, "cancelled", b.status(t, id))
			require.False(t, column[bool](t, b, id, "has_chargeback"))
			require.Equal(t, "won 4990 REFUND_FAILED; open late 4990", pixReturned(t, b))
			require.NoError(t, b.payments.Cases().Sweep(t.Context()))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds WHERE source <> 'gateway'"),
				"nothing by itself")
			b.reconcile(t, false)
			require.Equal(t, "won 4990 REFUND_FAILED; open late 4990", pixReturned(t, b))
		})
	}
}

// TestAPixIsTakenBackInPartsOfWhichOneFails: the part that is gone is no dispute any more,
// the rest is with us; taken back anew it is a dispute that is lost.
func TestAPixIsTakenBackInPartsOfWhichOneFails(t *testing.T) {
	t.Parallel()
	for _, failed := range []int{0, 1} {
		b := setup(t)
		id, payment := pixGWB(t, b)
		parts := []string{b.gateways.RefundPartAtGWB(t, payment, "2000")}
		b.settle(t)
		require.Equal(t, "active", b.status(t, id))
		require.Equal(t, "back 2000; open unknown 2000 gone", pixReturned(t, b))
		parts = append(parts, b.gateways.RefundPartAtGWB(t, payment, "2990"))
		b.settle(t)
		require.Equal(t, "cancelled", b.status(t, id))
		require.Equal(t, "lost 2990 REFUNDED; back 2000; kept unknown 2000 gone", pixReturned(t, b))
		b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
		b.clock.Advance(time.Minute)
		b.gateways.Advance(t, time.Minute)
		require.NoError(t, b.gateways.Sandbox.GWB.FinishRefund(parts[failed], false))
		is := []string{
			"won 2990 REFUND_FAILED; back 2990; open late 2000",
			"won 2990 REFUND_FAILED; back 2000; open late 2990",
		}[failed]
		heals(t, b, nil, func() any { return pixReturned(t, b) },
			"lost 2990 REFUNDED; back 2000; kept unknown 2000 gone", is)
		require.Equal(t, "cancelled", b.status(t, id))
		require.EqualValues(t, []int{2990, 2000}[failed], column[int64](t, b, id, "total_refunded_cents"))
		b.listen()
		b.clock.Advance(time.Minute)
		b.gateways.Advance(t, time.Minute)
		b.gateways.RefundPartAtGWB(t, payment, []string{"2000", "2990"}[failed])
		b.settle(t)
		require.Contains(t, pixReturned(t, b),
			[]string{"lost 2000 REFUNDED; back 2990; kept", "lost 2990 REFUNDED; back 2000; kept"}[failed])
		require.Equal(t, "cancelled", b.status(t, id))
	}
}

// pixGWB is a subscription that a PIX of gateway B opened, and its payment.
func pixGWB(t *testing.T, b *bundle) (id objectid.ID, payment string) {
	t.Helper()
	id = idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan}))
	payment = column[string](t, b, id, "pix_payment_id")
	b.listen()
	require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(payment))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	return id, payment
}
