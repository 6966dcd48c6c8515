package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// closeAccount closes the customer's account; no job runs yet.
func closeAccount(t *testing.T, b *bundle) {
	t.Helper()
	require.NoError(t, b.accounts.DeleteCustomer(t.Context(), b.customer.ID, b.customer.ID))
}

// reportCharge tells of a settled card payment of gateway B.
func reportCharge(t *testing.T, b *bundle, id objectid.ID, payment string, at time.Time) {
	t.Helper()
	b.apply(t, gateway.Event{
		Gateway: gateway.GWB, Reference: id, CreatedAt: at,
		Payload: gateway.SettledPayment{Payment: gateway.Payment{
			ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "succeeded", Method: gateway.MethodCard,
			Amount: 4990, SettledAt: &at,
		}},
	})
}

// TestACodePaidWhileItsCustomerIsDeletedIsRefunded: the gateway could not drop it.
func TestACodePaidWhileItsCustomerIsDeletedIsRefunded(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} { // the payment's event
		t.Run(map[bool]string{false: "told", true: "found by the deletion"}[lost], func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if !lost {
				b.listen()
			}
			id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
			payment := column[string](t, b, id, "pix_payment_id")
			faults := b.gateways.Sandbox.GWA.Stage().Faults
			require.NoError(t, faults.Plan(stage.Fault{
				Method: http.MethodDelete, Path: "/v3/payments", Kind: stage.FaultStatus, Status: 500, Times: 50,
			}))
			closeAccount(t, b)
			require.Error(t, b.service.StopBilling(t.Context(), b.customer.ID))
			require.Equal(t, "pending", b.status(t, id))
			faults.Clear()
			_, err := b.gateways.Sandbox.GWA.Pay(payment)
			require.NoError(t, err)
			if !lost {
				b.settle(t)
				require.Equal(t, "cancelled", b.status(t, id))
			}
			require.NoError(t, b.service.StopBilling(t.Context(), b.customer.ID))
			require.Len(t, b.history(t, id), 2, "it was never active")
			require.Equal(t, "cancelled", b.status(t, id))
			b.gateways.Sandbox.GWA.SetBalance(10_000_000)
			b.refundUnapplied(t)
			require.Equal(t, "refunded", b.listed(t, payment)["state"])
			require.True(t, givenBack(t, b, payment))
		})
	}
}

// TestACardChargedWhileItsCustomerIsDeletedIsRefunded, whether it is told before or after
// the deletion has ended the subscription. So is a charge from before the deletion that is
// told after the end: it added no paid time.
func TestACardChargedWhileItsCustomerIsDeletedIsRefunded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := subscribedAtB(t, b)
	before := b.clock.Now().Add(-time.Minute)
	b.clock.Advance(time.Hour)
	closeAccount(t, b)
	b.clock.Advance(time.Minute)
	within := b.clock.Now()
	next := column[*time.Time](t, b, id, "next_billing_date")
	reportCharge(t, b, id, "pi_live", within)
	require.Equal(t, "active", b.status(t, id), "the deletion ends it")
	require.Equal(t, next, column[*time.Time](t, b, id, "next_billing_date"), "no further period is paid")
	b.clock.Advance(time.Minute)
	require.NoError(t, b.service.StopBilling(t.Context(), b.customer.ID))
	require.Equal(t, "cancelled", b.status(t, id))
	reportCharge(t, b, id, "pi_told_late", within)
	reportCharge(t, b, id, "pi_before", before)
	for _, payment := range []string{"pi_live", "pi_told_late"} {
		row := b.listed(t, payment)
		require.Equal(t, "open", row["state"], payment)
		require.Contains(t, row["note"], "deleted the account")
	}
	require.Contains(t, b.listed(t, "pi_before")["note"], "reported after it")
	require.Equal(t, 3, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE automatic"))
}
