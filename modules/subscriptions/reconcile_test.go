package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
)

func TestReconciliationFindsWhatNoWebhookTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	since := b.clock.Now().Add(-time.Hour)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	_, err := b.gateways.Sandbox.GWA.Pay(column[string](t, b, id, "pix_payment_id"))
	require.NoError(t, err)
	report, err := b.service.Reconcile(t.Context(), since)
	require.NoError(t, err)
	require.Equal(t, 1, report.Repaired)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, "pending>active payment_settled reconciliation", b.history(t, id)[1])
	again, err := b.service.Reconcile(t.Context(), since)
	require.NoError(t, err)
	require.Zero(t, again.Repaired)
	require.Len(t, b.history(t, id), 2)
}

func TestReconciliationEndsWhatIsGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved)))
	require.NoError(t, b.gateways.B.CancelSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id")))
	b.set(t, id, "next_billing_date = $2", b.clock.Now().Add(-40*time.Hour))
	report, err := b.service.Reconcile(t.Context(), b.clock.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, report.Ended)
	require.Equal(t, "cancelled", b.status(t, id))
	require.Empty(t, b.current(t))
}
