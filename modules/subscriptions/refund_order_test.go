package subscriptions_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
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
				answer := b.gateways.DeliverGWB(t, b.serve().url, kind, payment)
				require.NotContains(t, answer, "unknown subject", kind)
			}
			b.until(t, "the end", func() bool { return b.status(t, id) == "cancelled" })
			require.Equal(t, "med lost", b.text(t, "SELECT kind || ' ' || state FROM payments.disputes WHERE local_id = $1", id))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds WHERE kind = 'refund'"))
			require.False(t, b.access(t))
			require.Len(t, b.history(t, id), 3, "%v", b.history(t, id))
		})
	}
}
