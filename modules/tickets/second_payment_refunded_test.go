package tickets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	gwastage "marquee/testutil/sandbox/gwa/account"
)

// payAgain pays an order that is paid by card once more, by PIX, and returns that
// payment's id.
func payAgain(b *bundle, id string) string {
	b.t.Helper()
	var name, gatewayID string
	require.NoError(b.t,
		b.db.QueryRow(b.t.Context(), "SELECT gateway, gateway_customer_id FROM tickets.orders WHERE id = $1", id).
			Scan(&name, &gatewayID))
	adapter, err := b.payments.Gateway(gateway.Name(name))
	require.NoError(b.t, err)
	charge, err := adapter.CreatePix(b.t.Context(), gateway.PixTerms{
		Reference: objectid.ID(id), Kind: gateway.KindTicketOrder, Amount: 12050, DueDate: b.clock.Now(),
		ExpiresIn: time.Hour,
		Payer: gateway.Payer{
			CustomerID: b.customer.ID, GatewayID: gatewayID, Name: "Ana Souza", Email: b.customer.Email,
			TaxID: "52998224725",
		},
	})
	require.NoError(b.t, err)
	if name == "gwa" {
		_, err = b.gateways.Sandbox.GWA.Pay(charge.Payment.ID)
	} else {
		err = b.gateways.Sandbox.GWB.PayPIX(charge.Payment.ID)
	}
	require.NoError(b.t, err)
	b.settle()
	return charge.Payment.ID
}

// An order that was paid twice keeps one of the payments at most: a refund of the
// second one that failed after it was believed done is made once more, whether the
// order is still good or its own money went back, too.
func TestASecondPaymentWhoseRefundFailsIsRefundedAgain(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"paid", "refunded"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.listen()
			b.work()
			m := b.me.Post("/store/purchase/gwb/card", cardB(b.event(nil), 1, paymentstest.TokenApproved)).Expect(200).
				Map()
			id, paymentID := order(m)["_id"].(string), order(m)["gateway_payment_id"].(string)
			payAgain(b, id)
			second := func(status string) int {
				return b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND payment_ref <> $2 AND status = $3", id, paymentID, status)
			}
			b.eventually("the first refund", func() bool {
				return second("done") == 1 &&
					b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'tickets_refund' AND state = 'completed'") == 1
			})
			if end == "refunded" {
				_, err := b.gateways.B.Refund(t.Context(), gateway.RefundTerms{
					RefundID: objectid.New(), Amount: 12050, RequestedAt: time.Now(),
					Payment: gateway.PaymentRef{PaymentID: paymentID},
				})
				require.NoError(t, err)
				b.settle()
			}
			state, _ := b.orderRow(id)
			require.Equal(t, end, state)
			var refund string
			require.NoError(t,
				b.db.QueryRow(t.Context(),
					"SELECT gateway_refund_id FROM payments.refunds WHERE local_id = $1 AND payment_ref <> $2", id,
					paymentID).Scan(&refund))
			require.NoError(t, b.gateways.Sandbox.GWB.FinishRefund(refund, false))
			b.settle()
			b.eventually("the second refund", func() bool {
				state, _ := b.orderRow(id)
				return state == end && second("failed") == 1 && second("done") == 1
			})
			require.Equal(t, map[string]string{"paid": "available", "refunded": "expired"}[end],
				b.ticketStatus(ticketsOf(m)[0]))
			b.settle()
			require.Equal(t, 1, second("done"), "once")
		})
	}
}

// Gateway A denies refunds that were under way.
func TestASecondPaymentWhoseRefundIsDeniedIsRefundedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	b.work()
	b.gateways.Sandbox.GWA.SetBalance(10_000_000)
	_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *gwastage.Settings) { s.RefundsInProgress = true })
	require.NoError(t, err)
	m := b.me.Post("/store/purchase/gwa/card", cardA(b.event(nil), 1, paymentstest.CardApproved)).Expect(200).Map()
	id := order(m)["_id"].(string)
	second := payAgain(b, id)
	refunds := func(status string) int {
		return b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND payment_ref = $2 AND status = $3",
			id, second, status)
	}
	b.eventually("the first refund", func() bool { return refunds("pending") == 1 })
	_, err = b.gateways.Sandbox.GWA.EndRefund(second, true)
	require.NoError(t, err)
	b.settle()
	b.eventually("the second refund", func() bool { return refunds("failed") == 1 && refunds("pending") == 1 })
	_, err = b.gateways.Sandbox.GWA.EndRefund(second, false)
	require.NoError(t, err)
	b.settle()
	b.eventually("the second refund's end", func() bool { return refunds("done") == 1 })
	state, _ := b.orderRow(id)
	require.Equal(t, "paid", state)
}
