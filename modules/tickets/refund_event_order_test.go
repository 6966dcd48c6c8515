package tickets_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
)

// TestAPixTakenBackGivesNoTicketsInAnyOrderOfItsEvents: refunded at gateway B by
// somebody else; the refund may be told before the payment.
func TestAPixTakenBackGivesNoTicketsInAnyOrderOfItsEvents(t *testing.T) {
	t.Parallel()
	for _, inTurn := range paymentstest.Permutations("payment_intent.succeeded", "charge.refunded", "refund.created") {
		t.Run(strings.Join(inTurn, " "), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			m, id, payment := paidPixGWB(b)
			b.gateways.RefundAtGWB(t, payment)
			for _, kind := range inTurn {
				res := b.gateways.DeliverGWB(t, b.nobody.URL(), kind, payment)
				require.NotContains(t, res, "unknown subject", kind)
			}
			state, status := b.orderRow(id)
			require.Equal(t, "refunded", state)
			require.Equal(t, "refunded", status)
			for _, ticket := range ticketsOf(m) {
				require.Equal(t, "expired", b.ticketStatus(ticket))
			}
			require.Equal(t, 1,
				b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND kind = 'med' AND status = 'done'", id))
			require.Equal(t, 1, b.count("SELECT count(*) FROM payments.refunds"))
		})
	}
}

// TestARefundToldBeforeThePaymentGivesNoTicketsAtGWA: the same of gateway A.
func TestARefundToldBeforeThePaymentGivesNoTicketsAtGWA(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.me.Post("/store/purchase/gwa/pix", pix(b.event(nil), 1)).Expect(200).Map()
	id, payment := order(m)["_id"].(string), order(m)["gateway_payment_id"].(string)
	_, err := b.gateways.Sandbox.GWA.Pay(payment)
	require.NoError(t, err)
	_, err = b.gateways.Sandbox.GWA.TakeBack(payment, 0)
	require.NoError(t, err)
	all := b.gateways.Sandbox.GWA.Stage().Webhooks.Deliveries()
	for i := len(all) - 1; i >= 0; i-- {
		if !strings.Contains(string(all[i].Body), payment) {
			continue
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.nobody.URL()+"/webhooks/gwa",
			strings.NewReader(string(all[i].Body)))
		require.NoError(t, err)
		req.Header.Set("Asaas-Access-Token", paymentstest.GWAToken)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	b.confirmEvents()
	state, _ := b.orderRow(id)
	require.Equal(t, "refunded", state)
	require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
}
