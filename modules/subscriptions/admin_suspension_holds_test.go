package subscriptions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

// What an admin has suspended is opened by an admin, or by a payment.
func TestAdminsSuspensionHolds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	admin, r := b.admin(t), remoteOf(t, b, id)
	suspend := func() {
		admin.Put("/subscriptions", []object{{"_id": id, "status": "suspended"}}).Expect(200)
	}
	suspend()
	for i, status := range []gateway.RemoteStatus{
		gateway.RemoteActive, gateway.RemoteTrialing, gateway.RemoteIncomplete,
	} {
		result := b.apply(t, r.updated(status, 60+i))
		require.Equal(t, gateway.ResultIgnored, result.Status, status)
		require.EqualValues(t, "suspended by an admin", result.Reason)
		require.Equal(t, "suspended", b.status(t, id), status)
	}
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Equal(t, "suspended", b.status(t, id), "nor does a login open it")

	admin.Put("/subscriptions", []object{{"_id": id, "status": "active"}}).Expect(200)
	require.Equal(t, "active", b.status(t, id))
	suspend()
	b.apply(t, r.paid("in_2", 90))
	require.Equal(t, "active", b.status(t, id))
}

func TestDisputeWonLeavesAnAdminsSuspension(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	b.admin(t).Put("/subscriptions", []object{{"_id": id, "status": "suspended"}}).Expect(200)
	dispute, err := b.gateways.Sandbox.GWB.OpenDispute(intentPaid(t, b), "fraudulent", false)
	require.NoError(t, err)
	b.settle(t)
	replayWaiting(t, b)
	require.True(t, column[bool](t, b, id, "has_chargeback"))
	require.NoError(t, b.gateways.Sandbox.GWB.CloseDispute(dispute, true))
	b.settle(t)
	require.False(t, column[bool](t, b, id, "has_chargeback"))
	require.Equal(t, "suspended", b.status(t, id))
}

// The authorization of an automatic PIX may be known long before the payment of
// its first code, which says when the first period began.
func TestFirstCodesPaymentTellsThePeriodAlsoAfterItsAuthorization(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix-automatico", object{"plan_id": plan}))
	paidAt := b.clock.Now()
	b.clock.Advance(20 * 24 * time.Hour)
	b.apply(t, gateway.Event{
		Gateway: gateway.GWA, AuthorizationID: b.text(t, "SELECT gwa_pix_auth_id FROM subscriptions.subscriptions"),
		CreatedAt: paidAt,
		Payload: gateway.AuthorizationChange{
			Authorization: gateway.PixAuthorization{Status: gateway.AuthorizationStatusActive},
		},
	})
	require.Equal(t, "active", b.status(t, id))
	b.apply(t, gateway.Event{
		Gateway: gateway.GWA, ConciliationID: b.text(t, "SELECT pix_conciliation_id FROM subscriptions.subscriptions"),
		CreatedAt: paidAt,
		Payload: gateway.SettledPayment{
			Payment: gateway.Payment{
				ID: "pay_first", Method: gateway.MethodPix, Amount: 4990, Status: gateway.PaymentStatusSettled,
				NativeStatus: "RECEIVED", SettledAt: &paidAt,
			},
		},
	})
	require.WithinDuration(t, paidAt.AddDate(0, 1, 0), column[time.Time](t, b, id, "next_billing_date"), 4*24*time.Hour)
}
