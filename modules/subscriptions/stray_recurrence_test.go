package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// payerOf is the customer as gateway A knows them.
func payerOf(t *testing.T, b *bundle, gatewayID string) gateway.Payer {
	t.Helper()
	return gateway.Payer{
		CustomerID: b.customer.ID, GatewayID: gatewayID, Name: "Ana Souza", Email: b.customer.Email,
		Phone: "11987654321", TaxID: "52998224725",
	}
}

// TestARecurrenceThatNoRowOwnsIsEnded: a second one that was made for the same
// subscription goes on charging.
func TestARecurrenceThatNoRowOwnsIsEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	recurrence := column[string](t, b, id, "gwa_subscription_id")
	b.gateways.Sandbox.GWA.SetBalance(10_000_000)
	second, err := b.gateways.A.Subscribe(t.Context(), gateway.SubscriptionTerms{
		SubscriptionID: id, Payer: payerOf(t, b, column[string](t, b, id, "gwa_customer_id")), PlanID: plan,
		PlanName: "Plus", Amount: 4990,
		FirstDue: b.clock.Now(), Instrument: paymentstest.Card(paymentstest.CardApproved),
	})
	require.NoError(t, err)
	require.NotEqual(t, recurrence, second.GatewayID)
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(time.Minute))
	b.settle(t)
	payment := b.text(t, "SELECT gateway_payment_id FROM payments.unapplied_payments")
	require.Equal(t, "duplicate", b.listed(t, payment)["kind"])
	b.refundUnapplied(t)
	require.Equal(t, "refunded", b.listed(t, payment)["state"])
	require.True(t, givenBack(t, b, payment))
	running, err := b.gateways.A.ReadSubscription(t.Context(), second.GatewayID, id)
	require.NoError(t, err)
	require.Equal(t, gateway.RemoteActive, running.Status)
	b.work(t)
	eventually(t, "its end", func() bool {
		remote, err := b.gateways.A.ReadSubscription(t.Context(), second.GatewayID, id)
		return err != nil || remote.Status == gateway.RemoteCanceled
	})
	current, err := b.gateways.A.ReadSubscription(t.Context(), recurrence, id)
	require.NoError(t, err)
	require.Equal(t, gateway.RemoteActive, current.Status, "the row's own goes on")
	require.Equal(t, "active", b.status(t, id))
}

// TestReconciliationListsMoneyOfOurCustomers that is for nothing here, and has it given
// back; what others pay into the account is their affair.
func TestReconciliationListsMoneyOfOurCustomers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ours := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	b.clock.Advance(-3 * time.Hour)
	strangers, err := b.gateways.A.EnsureCustomer(t.Context(), paymentstest.Payer())
	require.NoError(t, err)
	paid := map[string]string{}
	for whose, gatewayID := range map[string]string{
		"ours": column[string](t, b, ours, "gwa_customer_id"), "a stranger's": strangers,
	} {
		reference := objectid.New()
		if gatewayID == strangers {
			reference = "invoice 7" // of the form of ours it would be listed for people
		}
		charge, err := b.gateways.A.CreatePix(t.Context(), gateway.PixTerms{
			Reference: reference, Kind: gateway.KindSubscriptionPix, Payer: payerOf(t, b, gatewayID), Amount: 990,
			DueDate: paymentstest.Now(), ExpiresIn: time.Hour,
		})
		require.NoError(t, err)
		_, err = b.gateways.Sandbox.GWA.Pay(charge.Payment.ID)
		require.NoError(t, err)
		paid[whose] = charge.Payment.ID
	}
	b.clock.Advance(30 * time.Hour)
	_, err = b.service.Reconcile(t.Context(),
		payments.ReconcileOptions{Since: b.clock.Now().Add(-72 * time.Hour), DryRun: true})
	require.NoError(t, err)
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"), "listed only")
	_, err = b.service.Reconcile(t.Context(), payments.ReconcileOptions{Since: b.clock.Now().Add(-72 * time.Hour)})
	require.NoError(t, err)
	b.confirmLate(t)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
	row := b.listed(t, paid["ours"])
	require.Equal(t, "foreign", row["kind"])
	require.Equal(t, b.customer.ID.String(), row["customer_id"])
	require.EqualValues(t, 990, row["amount"])
	b.gateways.Sandbox.GWA.SetBalance(10_000_000)
	b.refundUnapplied(t)
	require.Equal(t, "refunded", b.listed(t, paid["ours"])["state"])
}
