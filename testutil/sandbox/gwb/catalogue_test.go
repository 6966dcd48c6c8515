package gwb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"
)

func TestPriceIsReplacedAndItsLookupKeyMoves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	prod, err := b.sc.V1Products.Create(t.Context(), &stripe.ProductCreateParams{
		ID: stripe.String("plan_plus"), Name: stripe.String("Plus"),
	})
	require.NoError(t, err)
	require.Equal(t, "plan_plus", prod.ID)
	_, err = b.sc.V1Products.Create(t.Context(), &stripe.ProductCreateParams{
		ID: stripe.String("plan_plus"), Name: stripe.String("Plus"),
	})
	wantError(t, err, 400, "resource_already_exists")

	price := func(amount int64, transfer bool) (*stripe.Price, error) {
		return b.sc.V1Prices.Create(t.Context(), &stripe.PriceCreateParams{
			Product: &prod.ID, Currency: stripe.String("brl"), UnitAmount: &amount,
			LookupKey: stripe.String("plus-monthly"), TransferLookupKey: &transfer,
			Recurring: &stripe.PriceCreateRecurringParams{
				Interval: stripe.String("month"), IntervalCount: stripe.Int64(1),
			},
		})
	}
	old, err := price(4990, false)
	require.NoError(t, err)
	_, err = price(5990, false)
	wantError(t, err, 400, "resource_already_exists")
	next, err := price(5990, true)
	require.NoError(t, err)
	_, err = b.sc.V1Prices.Update(t.Context(), old.ID, &stripe.PriceUpdateParams{Active: stripe.Bool(false)})
	require.NoError(t, err)
	listed := b.sc.V1Prices.List(t.Context(),
		&stripe.PriceListParams{LookupKeys: []*string{stripe.String("plus-monthly")}}).Data()
	require.Len(t, listed, 1)
	require.Equal(t, next.ID, listed[0].ID)

	c := b.customer()
	params := b.subscriptionRequest(c, b.attach("pm_card_visa", c).ID)
	params.Items = []*stripe.SubscriptionCreateItemParams{{Price: &old.ID}}
	_, err = b.sc.V1Subscriptions.Create(t.Context(), params)
	wantError(t, err, 400, "price_inactive")
}

func TestInactivePriceGoesOnServingItsSubscriptions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	_, err := b.sc.V1Prices.Update(t.Context(), s.Items.Data[0].Price.ID,
		&stripe.PriceUpdateParams{Active: stripe.Bool(false)})
	require.NoError(t, err)
	status, _ := b.control("POST", "/_sandbox/subscriptions/"+s.ID+"/renew", nil)
	require.Equal(t, 200, status)
	require.EqualValues(t, "subscription_cycle", b.last("invoice.paid").Data.Object["billing_reason"])
}

func TestCustomerIsUpdatedAndDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	id := s.Customer.ID
	c, err := b.sc.V1Customers.Update(t.Context(), id, &stripe.CustomerUpdateParams{
		Phone:    stripe.String("+5511999990000"),
		Metadata: map[string]string{"local_customer_id": "", "a": "1"},
	})
	require.NoError(t, err)
	require.Equal(t, "+5511999990000", c.Phone)
	require.Equal(t, map[string]string{"a": "1"}, c.Metadata, "an empty value removes a key")
	other := b.customer()
	_, err = b.sc.V1Customers.Update(t.Context(), other.ID, &stripe.CustomerUpdateParams{
		InvoiceSettings: &stripe.CustomerUpdateInvoiceSettingsParams{DefaultPaymentMethod: &s.DefaultPaymentMethod.ID},
	})
	wantError(t, err, 400, "resource_missing")

	_, err = b.sc.V1Customers.Delete(t.Context(), id, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.SubscriptionStatusCanceled, b.subscription(s.ID).Status,
		"its subscriptions end with a customer")
	c, err = b.sc.V1Customers.Retrieve(t.Context(), id, nil)
	require.NoError(t, err)
	require.True(t, c.Deleted)
	_, err = b.sc.V1Customers.Update(t.Context(), id, &stripe.CustomerUpdateParams{Phone: stripe.String("x")})
	wantError(t, err, 404, "resource_missing")
}

func TestControlsOnUnknownObjectsSayNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{
		"subscriptions/sub_x/renew", "invoices/in_x/retry", "charges/ch_x/dispute", "disputes/du_x/win",
		"disputes/du_x/lose",
		"refunds/re_x/succeed", "refunds/re_x/fail", "intents/pi_x/fail-authentication", "payment_intents/pi_x/expire",
	} {
		status, body := b.control("POST", "/_sandbox/"+path, nil)
		require.Equal(t, 404, status, path)
		require.NotEmpty(t, body["error"], path)
	}
	status, _ := b.control("PUT", "/_sandbox/payment_methods/pm_x/outcome", map[string]string{"card": "pm_card_visa"})
	require.Equal(t, 404, status)
}

func TestOutcomeAndRetryControls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	path := "/_sandbox/payment_methods/" + s.DefaultPaymentMethod.ID + "/outcome"
	status, _ := b.control("PUT", path, map[string]string{"card": "pm_card_chargeCustomerFail"})
	require.Equal(t, 200, status)
	require.NoError(t, b.g.Renew(s.ID))
	invoice := b.subscription(s.ID).LatestInvoice.ID
	status, _ = b.control("POST", "/_sandbox/invoices/"+invoice+"/retry", nil)
	require.Equal(t, 200, status)
	require.EqualValues(t, 2, b.last("invoice.payment_failed").Data.Object["attempt_count"])
	status, _ = b.control("PUT", path, map[string]string{"card": "pm_card_visa"})
	require.Equal(t, 200, status)
	status, _ = b.control("POST", "/_sandbox/invoices/"+invoice+"/retry", nil)
	require.Equal(t, 200, status)
	require.Equal(t, stripe.SubscriptionStatusActive, b.subscription(s.ID).Status)
	status, _ = b.control("POST", "/_sandbox/invoices/"+invoice+"/retry", nil)
	require.Equal(t, 409, status)
}

func TestSubscriptionItemTakesAnotherPriceFromTheNextPeriodOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	dearer, err := b.sc.V1Prices.Create(t.Context(), &stripe.PriceCreateParams{
		Product: &s.Items.Data[0].Price.Product.ID, Currency: stripe.String("brl"), UnitAmount: stripe.Int64(9990),
		Recurring: &stripe.PriceCreateRecurringParams{Interval: stripe.String("month")},
	})
	require.NoError(t, err)
	_, err = b.sc.V1Subscriptions.Update(t.Context(), s.ID, &stripe.SubscriptionUpdateParams{
		Items: []*stripe.SubscriptionUpdateItemParams{{ID: &s.Items.Data[0].ID, Price: &dearer.ID}},
	})
	require.NoError(t, err)
	require.NoError(t, b.g.Renew(s.ID))
	require.EqualValues(t, 9990, b.last("invoice.paid").Data.Object["amount_paid"])
}
