package gwb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"
)

func TestInvoicesOfAPausedSubscriptionAreVoided(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	b.forget()
	paused, err := b.sc.V1Subscriptions.Update(t.Context(), s.ID, &stripe.SubscriptionUpdateParams{
		PauseCollection: &stripe.SubscriptionUpdatePauseCollectionParams{Behavior: stripe.String("void")},
	})
	require.NoError(t, err)
	require.Equal(t, stripe.SubscriptionPauseCollectionBehaviorVoid, paused.PauseCollection.Behavior)
	require.Equal(t, stripe.SubscriptionStatusActive, paused.Status)
	require.Equal(t, []string{"customer.subscription.updated"}, b.types())
	require.Contains(t, b.last("customer.subscription.updated").Data.PreviousAttributes, "pause_collection")

	b.advance(65 * day)
	invoices := b.sc.V1Invoices.List(t.Context(), &stripe.InvoiceListParams{Subscription: &s.ID}).Data()
	require.Len(t, invoices, 3, "periods go on")
	require.Equal(t, stripe.InvoiceStatusVoid, invoices[0].Status)
	require.Equal(t, stripe.InvoiceStatusVoid, invoices[1].Status)
	require.NotContains(t, b.types(), "invoice.paid")
	require.NotContains(t, b.types(), "invoice.payment_failed")

	params := &stripe.SubscriptionUpdateParams{}
	params.AddExtra("pause_collection", "")
	resumed, err := b.sc.V1Subscriptions.Update(t.Context(), s.ID, params)
	require.NoError(t, err)
	require.Nil(t, resumed.PauseCollection)
	b.advance(31 * day)
	require.Contains(t, b.types(), "invoice.paid", "the next period is collected")
	require.Len(t, b.sc.V1Charges.List(t.Context(), &stripe.ChargeListParams{Customer: stripe.String(s.Customer.ID)}).
		Data(), 2)
}

func TestAPauseLeavesOpenInvoicesToBeVoided(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	require.NoError(t, b.g.SetOutcome(s.DefaultPaymentMethod.ID, "pm_card_chargeCustomerFail"))
	require.NoError(t, b.g.Renew(s.ID))
	_, err := b.sc.V1Subscriptions.Update(t.Context(), s.ID, &stripe.SubscriptionUpdateParams{
		PauseCollection: &stripe.SubscriptionUpdatePauseCollectionParams{Behavior: stripe.String("void")},
	})
	require.NoError(t, err)
	open := b.sc.V1Invoices.List(t.Context(), &stripe.InvoiceListParams{
		Subscription: &s.ID, Status: stripe.String("open"),
	}).Data()
	require.Len(t, open, 1)
	voided, err := b.sc.V1Invoices.VoidInvoice(t.Context(), open[0].ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.InvoiceStatusVoid, voided.Status)
	b.forget()
	b.advance(20 * day)
	require.NotContains(t, b.types(), "invoice.payment_failed", "it is retried no more")

	_, err = b.sc.V1Subscriptions.Update(t.Context(), s.ID, &stripe.SubscriptionUpdateParams{
		PauseCollection: &stripe.SubscriptionUpdatePauseCollectionParams{Behavior: stripe.String("sometimes")},
	})
	wantError(t, err, 400, "")
}
