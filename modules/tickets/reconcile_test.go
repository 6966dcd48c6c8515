package tickets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	gwastage "marquee/testutil/sandbox/gwa/account"
)

// The webhooks of orders get lost, too: paid, disputed, given back.
func TestReconciliationRepairsOrders(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, name string) {
		event := b.event(object{"capacity": 10})
		m := b.me.Post("/store/purchase/"+name+"/pix", pix(event, 2)).Expect(200).Map()
		id := order(m)["_id"].(string)
		pay := order(m)["gateway_payment_id"].(string)
		var err error
		if name == "gwa" {
			_, err = b.gateways.Sandbox.GWA.Pay(pay)
		} else {
			err = b.gateways.Sandbox.GWB.PayPIX(pay)
		}
		require.NoError(t, err)
		dry := b.reconcile(true)
		require.NotZero(t, dry.Verdicts[payments.Repairable], "%+v", dry.Findings)
		state, _ := b.orderRow(id)
		require.Equal(t, "reserved", state)
		wet := b.reconcile(false)
		state, _ = b.orderRow(id)
		require.Equal(t, "paid", state, "%+v", wet.Findings)
		require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[0]))
		require.Zero(t, b.reconcile(false).Verdicts[payments.Repaired])

		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		adapter, err := b.payments.Gateway(gateway.Name(name))
		require.NoError(t, err)
		_, err = adapter.Refund(t.Context(), gateway.RefundTerms{
			RefundID: objectid.New(), Payment: gateway.PaymentRef{PaymentID: pay}, Amount: 24100,
		})
		require.NoError(t, err)
		b.reconcile(false)
		state, _ = b.orderRow(id)
		require.Equal(t, "refunded", state)
		require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
		require.Zero(t, b.issued(event))
		require.Zero(t, b.reconcile(false).Verdicts[payments.Repaired])
		b.listen()
		b.settle()
		require.Equal(t, 1, b.count("SELECT count(*) FROM payments.payments"))
		require.Equal(t, 1, b.count("SELECT count(*) FROM payments.refunds WHERE status = 'done'"))
	})
}

func TestReconciliationFindsDisputesOfOrders(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		event := b.event(object{"capacity": 10})
		body := cardA(event, 1, paymentstest.CardApproved)
		if gateway == "gwb" {
			body = cardB(event, 1, paymentstest.TokenApproved)
		}
		m := b.me.Post("/store/purchase/"+gateway+"/card", body).Expect(200).Map()
		pay := order(m)["gateway_payment_id"].(string)
		var err error
		if gateway == "gwa" {
			_, err = b.gateways.Sandbox.GWA.Chargeback(pay, gwastage.ChargebackRequested, "fraud")
		} else {
			_, err = b.gateways.Sandbox.GWB.OpenDispute(pay, "fraudulent", false)
		}
		require.NoError(t, err)
		b.reconcile(false)
		require.Equal(t, 1,
			b.count("SELECT count(*) FROM payments.disputes WHERE purpose = 'order' AND state = 'open'"))
		require.Zero(t, b.reconcile(false).Verdicts[payments.Repaired])
	})
}
