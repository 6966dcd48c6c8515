package gwb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"

	"marquee/testutil/sandbox/gwb"
	"marquee/testutil/sandbox/gwb/account"
)

const day = 24 * time.Hour

func TestSubscribeApproved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	require.Equal(t, stripe.SubscriptionStatusActive, s.Status)
	end := time.Unix(s.Items.Data[0].CurrentPeriodEnd, 0)
	require.WithinDuration(t, time.Now().AddDate(0, 1, 0), end, 4*day)
	require.Contains(t, s.LatestInvoice.ConfirmationSecret.ClientSecret, "_secret_")
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, b.intentOf(s).Status)
	require.Equal(t, map[string]string{
		"local_subscription_id": "s1", "local_customer_id": "c1", "kind": "subscription",
	}, s.Metadata)
	require.Equal(t, []string{
		"customer.created", "payment_method.attached", "product.created", "price.created",
		"customer.subscription.created", "invoice.created", "invoice.finalized", "payment_intent.created",
		"payment_intent.succeeded", "charge.succeeded", "invoice.paid", "invoice.payment_succeeded",
		"customer.subscription.updated",
	}, b.types())
	created := b.last("customer.subscription.created")
	require.Equal(t, "incomplete", created.Data.Object["status"], "events are snapshots")
	require.NotEmpty(t, created.Request.ID)
	updated := b.last("customer.subscription.updated")
	require.Equal(t, "active", updated.Data.Object["status"])
	require.Equal(t, "incomplete", updated.Data.PreviousAttributes["status"])
}

func TestSubscribeDeclinedStaysIncompleteAndExpiresAfter23Hours(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_chargeCustomerFail")
	require.Equal(t, stripe.SubscriptionStatusIncomplete, s.Status)
	p := b.intentOf(s)
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, p.Status)
	require.Equal(t, stripe.ErrorCodeCardDeclined, p.LastPaymentError.Code)
	require.Subset(t, b.types(), []string{"charge.failed", "payment_intent.payment_failed", "invoice.payment_failed"})
	b.advance(22 * time.Hour)
	require.Equal(t, stripe.SubscriptionStatusIncomplete, b.subscription(s.ID).Status)
	b.advance(time.Hour)
	require.Equal(t, stripe.SubscriptionStatusIncompleteExpired, b.subscription(s.ID).Status)
	inv, err := b.sc.V1Invoices.Retrieve(t.Context(), s.LatestInvoice.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.InvoiceStatusVoid, inv.Status)
	require.Equal(t, stripe.PaymentIntentStatusCanceled, b.intentOf(s).Status)
}

func TestDeclinedSubscriptionIsPaidByAnotherCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_chargeCustomerFail")
	p, err := b.sc.V1PaymentIntents.Confirm(t.Context(), b.intentOf(s).ID,
		&stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String("pm_card_visa")})
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, p.Status)
	require.Equal(t, stripe.SubscriptionStatusActive, b.subscription(s.ID).Status)
}

func TestCancelAfterDeclineClosesTheInvoice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_chargeCustomerFail")
	intent := b.intentOf(s).ID
	_, err := b.sc.V1Subscriptions.Cancel(t.Context(), s.ID, &stripe.SubscriptionCancelParams{
		InvoiceNow: stripe.Bool(false), Prorate: stripe.Bool(false),
	})
	require.NoError(t, err)
	require.Contains(t, b.types(), "customer.subscription.deleted")
	_, err = b.sc.V1PaymentIntents.Confirm(t.Context(), intent,
		&stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String("pm_card_visa")})
	wantError(t, err, 400, "payment_intent_unexpected_state")
	_, err = b.sc.V1Subscriptions.Cancel(t.Context(), s.ID, nil)
	wantError(t, err, 404, "resource_missing")
}

func TestSubscribeWithAuthentication(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_authenticationRequired")
	require.Equal(t, stripe.SubscriptionStatusIncomplete, s.Status)
	p := b.intentOf(s)
	require.Equal(t, stripe.PaymentIntentStatusRequiresAction, p.Status)
	require.Equal(t, p.ClientSecret, s.LatestInvoice.ConfirmationSecret.ClientSecret)
	require.Subset(t, b.types(), []string{
		"payment_intent.requires_action", "invoice.payment_action_required", "invoice.payment_failed",
	})
	b.forget()
	require.NoError(t, b.g.CompleteChallenge(p.ID))
	require.Equal(t, []string{
		"payment_intent.succeeded", "charge.succeeded", "invoice.paid", "invoice.payment_succeeded",
		"customer.subscription.updated",
	}, b.types())
	require.Equal(t, stripe.SubscriptionStatusActive, b.subscription(s.ID).Status)
	require.Empty(t, b.last("invoice.paid").Request.ID, "nobody called")

	// Off session the same card is declined, as its holder is not there.
	b.forget()
	require.NoError(t, b.g.Renew(s.ID))
	require.Equal(t, stripe.SubscriptionStatusPastDue, b.subscription(s.ID).Status)
	last := b.last("payment_intent.payment_failed").Data.Object["last_payment_error"].(map[string]any)
	require.Equal(t, "authentication_required", last["code"])
}

func TestFailedAuthentication(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_authenticationRequired")
	p := b.intentOf(s)
	status, _ := b.control("POST", "/_sandbox/intents/"+p.ID+"/fail-authentication", nil)
	require.Equal(t, 200, status)
	p = b.intentOf(s)
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, p.Status)
	require.Equal(t, "payment_intent_authentication_failure", string(p.LastPaymentError.Code))
	status, _ = b.control("POST", "/_sandbox/intents/"+p.ID+"/authenticate", nil)
	require.Equal(t, 409, status)
	status, _ = b.control("POST", "/_sandbox/intents/pi_unknown/authenticate", nil)
	require.Equal(t, 404, status)
}

func TestPaymentBehaviors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()

	params := b.subscriptionRequest(c, b.attach("pm_card_chargeCustomerFail", c).ID)
	params.PaymentBehavior = stripe.String("error_if_incomplete")
	_, err := b.sc.V1Subscriptions.Create(t.Context(), params)
	wantError(t, err, 402, "card_declined")
	require.Empty(t, b.sc.V1Subscriptions.List(t.Context(), &stripe.SubscriptionListParams{
		Customer: &c.ID, Status: stripe.String("all"),
	}).Data())

	params = b.subscriptionRequest(c, b.attach("pm_card_visa", c).ID)
	params.PaymentBehavior = stripe.String("default_incomplete")
	s, err := b.sc.V1Subscriptions.Create(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, stripe.SubscriptionStatusIncomplete, s.Status)
	p := b.intentOf(s)
	require.Equal(t, stripe.PaymentIntentStatusRequiresConfirmation, p.Status)
	_, err = b.sc.V1PaymentIntents.Confirm(t.Context(), p.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.SubscriptionStatusActive, b.subscription(s.ID).Status)
}

func TestTrialStartsWithAPaidInvoiceOfZero(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	params := b.subscriptionRequest(c, b.attach("pm_card_visa", c).ID)
	params.TrialPeriodDays = stripe.Int64(7)
	s, err := b.sc.V1Subscriptions.Create(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, stripe.SubscriptionStatusTrialing, s.Status)
	require.Equal(t, s.TrialEnd, s.Items.Data[0].CurrentPeriodEnd)
	require.Zero(t, s.LatestInvoice.AmountPaid)
	require.Equal(t, stripe.InvoiceStatusPaid, s.LatestInvoice.Status)
	require.Contains(t, b.types(), "invoice.paid")
	b.forget()
	b.advance(7*day + time.Minute)
	s = b.subscription(s.ID)
	require.Equal(t, stripe.SubscriptionStatusActive, s.Status)
	require.EqualValues(t, 4990, b.last("invoice.paid").Data.Object["amount_paid"])
}

func TestRenewalsAtPeriodEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	b.forget()
	b.advance(95 * day)
	require.Equal(t, stripe.SubscriptionStatusActive, b.subscription(s.ID).Status)
	invoices := b.sc.V1Invoices.List(t.Context(), &stripe.InvoiceListParams{Subscription: &s.ID}).Data()
	require.Len(t, invoices, 4)
	require.Equal(t, stripe.InvoiceBillingReasonSubscriptionCycle, invoices[0].BillingReason)
	require.Greater(t, invoices[0].Created, invoices[1].Created, "newest first, each at its own date")
	require.Len(t, b.sc.V1Charges.List(t.Context(), &stripe.ChargeListParams{Customer: stripe.String(s.Customer.ID)}).
		Data(), 4)
}

func TestFailedRenewalIsRetriedThenGivenUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	require.NoError(t, b.g.SetOutcome(s.DefaultPaymentMethod.ID, "pm_card_chargeCustomerFail"))
	b.forget()
	require.NoError(t, b.g.Renew(s.ID))
	require.Equal(t, stripe.SubscriptionStatusPastDue, b.subscription(s.ID).Status)
	failed := b.last("invoice.payment_failed").Data.Object
	require.EqualValues(t, 1, failed["attempt_count"])
	require.InDelta(t, time.Now().Add(3*day).Unix(), failed["next_payment_attempt"], 60)
	types := b.types()
	require.Equal(t, []string{"invoice.payment_failed", "customer.subscription.updated"}, types[len(types)-2:])

	b.advance(3*day + time.Minute)
	require.EqualValues(t, 2, b.last("invoice.payment_failed").Data.Object["attempt_count"])
	b.advance(13 * day)
	last := b.last("invoice.payment_failed").Data.Object
	require.EqualValues(t, 4, last["attempt_count"])
	require.Nil(t, last["next_payment_attempt"])
	require.Equal(t, stripe.SubscriptionStatusCanceled, b.subscription(s.ID).Status)
	require.Contains(t, b.types(), "customer.subscription.deleted")
}

func TestPastDueRecoversByPayingTheInvoice(t *testing.T) {
	t.Parallel()
	b := setupWith(t, gwb.Options{AfterDunning: account.AfterDunningUnpaid})
	s := b.subscribe("pm_card_visa")
	require.NoError(t, b.g.SetOutcome(s.DefaultPaymentMethod.ID, "pm_card_chargeCustomerFail"))
	require.NoError(t, b.g.Renew(s.ID))
	s = b.subscription(s.ID)
	_, err := b.sc.V1Invoices.Pay(t.Context(), s.LatestInvoice.ID, nil)
	wantError(t, err, 402, "card_declined")
	for range 2 {
		require.NoError(t, b.g.RetryInvoice(s.LatestInvoice.ID))
	}
	require.Equal(t, stripe.SubscriptionStatusUnpaid, b.subscription(s.ID).Status)
	require.NoError(t, b.g.SetOutcome(s.DefaultPaymentMethod.ID, "pm_card_visa"))
	inv, err := b.sc.V1Invoices.Pay(t.Context(), s.LatestInvoice.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.InvoiceStatusPaid, inv.Status)
	require.Equal(t, stripe.SubscriptionStatusActive, b.subscription(s.ID).Status)
	_, err = b.sc.V1Invoices.Pay(t.Context(), s.LatestInvoice.ID, nil)
	wantError(t, err, 400, "invoice_already_paid")
}

func TestCancelAtPeriodEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	s, err := b.sc.V1Subscriptions.Update(t.Context(), s.ID,
		&stripe.SubscriptionUpdateParams{CancelAtPeriodEnd: stripe.Bool(true)})
	require.NoError(t, err)
	require.Equal(t, stripe.SubscriptionStatusActive, s.Status)
	require.Equal(t, s.Items.Data[0].CurrentPeriodEnd, s.CancelAt)
	require.NotZero(t, s.CanceledAt)
	b.advance(32 * day)
	s = b.subscription(s.ID)
	require.Equal(t, stripe.SubscriptionStatusCanceled, s.Status)
	require.NotZero(t, s.EndedAt)
	require.Equal(t, "customer.subscription.deleted", b.types()[len(b.types())-1])
}

func TestSubscriptionLists(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	_, err := b.sc.V1Subscriptions.Cancel(t.Context(), s.ID, nil)
	require.NoError(t, err)
	customer := s.Customer.ID
	require.Empty(t, b.sc.V1Subscriptions.List(t.Context(), &stripe.SubscriptionListParams{Customer: &customer}).Data())
	all := b.sc.V1Subscriptions.List(t.Context(), &stripe.SubscriptionListParams{
		Customer: &customer, Status: stripe.String("all"),
	}).Data()
	require.Len(t, all, 1)
	require.Equal(t, "s1", all[0].Metadata["local_subscription_id"])
}

func TestCardIsChangedInPlaceWithoutACharge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	c := &stripe.Customer{ID: s.Customer.ID}
	next := b.attach("pm_card_mastercard", c)
	b.forget()
	s, err := b.sc.V1Subscriptions.Update(t.Context(), s.ID,
		&stripe.SubscriptionUpdateParams{DefaultPaymentMethod: &next.ID})
	require.NoError(t, err)
	require.Equal(t, next.ID, s.DefaultPaymentMethod.ID)
	b.settle()
	_, err = b.sc.V1Customers.Update(t.Context(), c.ID, &stripe.CustomerUpdateParams{
		InvoiceSettings: &stripe.CustomerUpdateInvoiceSettingsParams{DefaultPaymentMethod: &next.ID},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"customer.subscription.updated", "customer.updated"}, b.types())
}
