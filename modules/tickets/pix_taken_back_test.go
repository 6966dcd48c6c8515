package tickets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
)

// TestABankTakesThePixOfAnOrderBack: no dispute and no exit, as with a subscription: the
// order is refunded, its tickets expire, and the ledger tells whose doing it was.
func TestABankTakesThePixOfAnOrderBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	m := b.me.Post("/store/purchase/gwa/pix", pix(b.event(nil), 2)).Expect(200).Map()
	id := order(m)["_id"].(string)
	_, err := b.gateways.Sandbox.GWA.PayPIX(m["pix"].(object)["payload"].(string))
	require.NoError(t, err)
	b.settle()
	state, _ := b.orderRow(id)
	require.Equal(t, "paid", state)
	_, err = b.gateways.Sandbox.GWA.TakeBack(order(m)["gateway_payment_id"].(string), 0)
	require.NoError(t, err)
	b.settle()
	state, status := b.orderRow(id)
	require.Equal(t, "refunded", state)
	require.Equal(t, "REFUNDED", status)
	for _, ticket := range ticketsOf(m) {
		require.Equal(t, "expired", b.ticketStatus(ticket))
	}
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND kind = 'med' AND status = 'done'", id))
	require.Zero(t, b.count("SELECT count(*) FROM payments.disputes"))
}

// TestABankTakesAPartBackBesideOurRefund: the answer to the refund is the first to tell of it.
func TestABankTakesAPartBackBesideOurRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	m := b.me.Post("/store/purchase/gwa/pix", pix(b.event(nil), 1)).Expect(200).Map()
	id, paymentID := order(m)["_id"].(string), order(m)["gateway_payment_id"].(string)
	gw := b.gateways.Sandbox.GWA
	_, err := gw.Pay(paymentID)
	require.NoError(t, err)
	b.settle()
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
	_, err = gw.TakeBack(paymentID, 2050)
	require.NoError(t, err)
	require.NoError(t, gw.Stage().Faults.Plan(stage.Fault{
		Method: "GET", Suffix: paymentID + "/refunds", Kind: stage.FaultStatus, Status: 200,
		Body: `{"object":"list","hasMore":false,"totalCount":0,"limit":100,"offset":0,"data":[]}`,
	}))
	paid, err := b.payments.FindPayment(t.Context(), b.db, gateway.GWA, paymentID)
	require.NoError(t, err)
	_, err = b.payments.RefundPayment(t.Context(), payments.RefundRequest{
		Payment: *paid, Amount: 10000, Reason: "They ask for it",
	}, nil)
	require.NoError(t, err)
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND kind = 'med' AND status = 'done' AND amount_cents = 2050", id))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND kind = 'refund' AND status = 'done' AND amount_cents = 10000", id))
	state, status := b.orderRow(id)
	require.Equal(t, "refunded", state)
	require.Equal(t, "REFUNDED", status)
}

// TestNoOrderIsRefundedByItselfAfterARestore: the database may have forgotten that its
// tickets were issued.
func TestNoOrderIsRefundedByItselfAfterARestore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id, second := paidTwice(b)
	_, err := b.db.Exec(t.Context(),
		"UPDATE payments.database_marks SET mark = 'the cluster that the backup was taken of'")
	require.NoError(t, err)
	require.ErrorContains(t, b.service.Refunds().Refund(t.Context(), objectid.ID(id), second), "restore",
		"its job comes again")
	require.Zero(t, b.count("SELECT count(*) FROM payments.refunds"))
	require.NoError(t, b.payments.Comparison().AcceptDatabase(t.Context()))
	require.NoError(t, b.service.Refunds().Refund(t.Context(), objectid.ID(id), second))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.refunds WHERE status = 'done' AND payment_ref = $1",
		second))
}

// TestARefundOfDisputedMoneyIsLeftToPeople: the gateway refuses it as long as the payer's
// bank has the money, and asking again brings the same.
func TestARefundOfDisputedMoneyIsLeftToPeople(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id, second := paidTwice(b)
	body := `{"error":{"type":"invalid_request_error","code":"charge_disputed","message":"It has been charged back."}}`
	faults := b.gateways.Sandbox.GWB.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{
		Method: "POST", Path: "/v1/refunds", Kind: stage.FaultStatus, Status: 400, Body: body, Times: 50,
	}))
	for range 3 {
		require.NoError(t, b.service.Refunds().Refund(t.Context(), objectid.ID(id), second))
		b.clock.Advance(time.Hour)
	}
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.refunds"), "asked once")
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.refunds WHERE status = 'failed' AND failure LIKE '%disputed%'"))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.unapplied_payments WHERE state = 'open' AND gateway_payment_id = $1",
			second))
}

// paidTwice is an order that is paid by card at gateway B, and by a PIX again.
func paidTwice(b *bundle) (id, second string) {
	b.t.Helper()
	m := b.me.Post("/store/purchase/gwb/card", cardB(b.event(nil), 1, paymentstest.TokenApproved)).Expect(200).Map()
	id = order(m)["_id"].(string)
	return id, payAgain(b, id)
}
