package gwb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"
)

func (b *bundle) coupon(id string, off int64) *stripe.Coupon {
	b.t.Helper()
	c, err := b.sc.V1Coupons.Create(b.t.Context(), couponRequest(id, off))
	require.NoError(b.t, err)
	return c
}

func couponRequest(id string, off int64) *stripe.CouponCreateParams {
	return &stripe.CouponCreateParams{
		ID: &id, AmountOff: &off, Currency: stripe.String("brl"), Duration: stripe.String("once"),
		MaxRedemptions: stripe.Int64(1), Metadata: map[string]string{"local_subscription_id": "s1"},
	}
}

func TestCouponLowersTheFirstInvoiceAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.coupon("first-s1", 3000)
	require.True(t, made.Valid)
	params := b.subscriptionRequest(b.customer(), "")
	params.DefaultPaymentMethod = &b.attach("pm_card_visa", &stripe.Customer{ID: *params.Customer}).ID
	params.Discounts = []*stripe.SubscriptionCreateDiscountParams{{Coupon: &made.ID}}
	params.SetIdempotencyKey("sub-s1")
	s, err := b.sc.V1Subscriptions.Create(t.Context(), params)
	require.NoError(t, err)
	again, err := b.sc.V1Subscriptions.Create(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, s.ID, again.ID, "a repetition redeems nothing again")
	require.Equal(t, stripe.SubscriptionStatusActive, s.Status)
	first, err := b.sc.V1Invoices.Retrieve(t.Context(), s.LatestInvoice.ID, nil)
	require.NoError(t, err)
	require.Equal(t, []int64{
		4990, 1990, 1990, 1990,
	}, []int64{first.Subtotal, first.Total, first.AmountDue, first.AmountPaid})
	require.EqualValues(t, 3000, first.TotalDiscountAmounts[0].Amount)
	require.EqualValues(t, 4990, first.Lines.Data[0].Amount)
	require.EqualValues(t, 3000, first.Lines.Data[0].DiscountAmounts[0].Amount)
	require.EqualValues(t, 1990, b.intentOf(s).AmountReceived)

	b.advance(32 * day)
	next, err := b.sc.V1Invoices.Retrieve(t.Context(), b.subscription(s.ID).LatestInvoice.ID, nil)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, next.ID)
	require.EqualValues(t, 4990, next.AmountPaid, "renewals cost the whole price")
	require.Empty(t, next.TotalDiscountAmounts)

	read, err := b.sc.V1Coupons.Retrieve(t.Context(), made.ID, nil)
	require.NoError(t, err)
	require.False(t, read.Valid)
	require.EqualValues(t, 1, read.TimesRedeemed)
	params.SetIdempotencyKey("sub-s2")
	_, err = b.sc.V1Subscriptions.Create(t.Context(), params)
	wantError(t, err, 400, "coupon_expired")
}

func TestCouponOfTheWholePriceChargesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	params := b.subscriptionRequest(b.customer(), "")
	params.DefaultPaymentMethod = &b.attach("pm_card_chargeCustomerFail", &stripe.Customer{ID: *params.Customer}).ID
	params.Discounts = []*stripe.SubscriptionCreateDiscountParams{{Coupon: &b.coupon("first-s1", 9900).ID}}
	s, err := b.sc.V1Subscriptions.Create(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, stripe.SubscriptionStatusActive, s.Status)
	require.Zero(t, s.LatestInvoice.AmountDue)
	require.Equal(t, stripe.InvoiceStatusPaid, s.LatestInvoice.Status)
	require.Contains(t, b.types(), "invoice.paid")
	require.NotContains(t, b.types(), "payment_intent.created")
}

func TestCouponRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.coupon("first-s1", 3000)
	_, err := b.sc.V1Coupons.Create(t.Context(), couponRequest("first-s1", 3000))
	wantError(t, err, 400, "resource_already_exists")
	_, err = b.sc.V1Coupons.Create(t.Context(), couponRequest("first-s2", 0))
	wantError(t, err, 400, "parameter_invalid_integer")
	bad := couponRequest("first-s2", 3000)
	bad.AddExtra("first_invoice", "true")
	_, err = b.sc.V1Coupons.Create(t.Context(), bad)
	wantError(t, err, 400, "parameter_unknown")
	_, err = b.sc.V1Coupons.Retrieve(t.Context(), "first-s2", nil)
	wantError(t, err, 404, "resource_missing")
	params := b.subscriptionRequest(b.customer(), "")
	params.DefaultPaymentMethod = &b.attach("pm_card_visa", &stripe.Customer{ID: *params.Customer}).ID
	params.Discounts = []*stripe.SubscriptionCreateDiscountParams{{Coupon: stripe.String("first-s2")}}
	_, err = b.sc.V1Subscriptions.Create(t.Context(), params)
	wantError(t, err, 400, "resource_missing")
}
