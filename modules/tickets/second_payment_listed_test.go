package tickets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
)

// A second payment of an order stands on the list of unapplied payments from its
// booking on, and follows its refund there.
func TestASecondPaymentIsListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	m := b.me.Post("/store/purchase/gwb/card", cardB(b.event(nil), 1, paymentstest.TokenApproved)).Expect(200).Map()
	id := order(m)["_id"].(string)
	payAgain(b, id)
	listed := func(state, kind string) bool {
		return b.count("SELECT count(*) FROM payments.unapplied_payments WHERE order_id = $1 AND state = $2 AND kind = $3 AND amount_cents = 12050", id, state, kind) == 1
	}
	require.True(t, listed("open", "duplicate"))
	b.work()
	b.eventually("the refund", func() bool { return listed("refunded", "duplicate") })
}

func TestASecondPaymentThatCannotBeRefundedIsListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	b.work()
	m := b.me.Post("/store/purchase/gwa/card", cardA(b.event(nil), 1, paymentstest.CardApproved)).Expect(200).Map()
	id := order(m)["_id"].(string)
	b.gateways.Sandbox.GWA.SetBalance(0)
	second := payAgain(b, id)
	b.eventually("the refusal", func() bool {
		return b.count("SELECT count(*) FROM payments.unapplied_payments WHERE order_id = $1 AND state = 'open' AND kind = 'unrefundable'", id) == 1
	})
	state, _ := b.orderRow(id)
	require.Equal(t, "paid", state)
	require.Positive(t, b.count("SELECT count(*) FROM payments.refunds WHERE payment_ref = $1 AND status = 'failed'",
		second))
}
