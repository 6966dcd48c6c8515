package gwb_test

import (
	"bytes"
	"image/png"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"

	"marquee/testutil/sandbox/gwb/account"
	"marquee/testutil/sandbox/stage"
)

func TestPIXShowsACodeThatABankAccepts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.pix("fill_never@example.com")
	require.Equal(t, stripe.PaymentIntentStatusRequiresAction, p.Status)
	require.Equal(t, stripe.PaymentIntentNextActionType("pix_display_qr_code"), p.NextAction.Type)
	code := p.NextAction.PixDisplayQRCode
	require.NoError(t, stage.CheckBRCode(code.Data))
	require.Contains(t, code.Data, "5406598.80")
	require.InDelta(t, time.Now().Add(day).Unix(), code.ExpiresAt, 60)

	resp, err := http.Get(code.ImageURLPNG)
	require.NoError(t, err)
	defer resp.Body.Close()
	img, err := png.Decode(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 300, img.Bounds().Dx())
	svg, err := http.Get(code.ImageURLSVG)
	require.NoError(t, err)
	defer svg.Body.Close()
	var text bytes.Buffer
	_, _ = text.ReadFrom(svg.Body)
	require.Contains(t, text.String(), "<svg")
}

func TestPIXOutcomeFollowsTheEmail(t *testing.T) {
	t.Parallel()
	for email, want := range map[string]struct {
		after  time.Duration
		status stripe.PaymentIntentStatus
		event  string
	}{
		"succeed_immediately@example.com": {
			after: 2 * time.Second, status: stripe.PaymentIntentStatusSucceeded, event: "payment_intent.succeeded",
		},
		"expire_immediately@example.com": {
			after: 2 * time.Second, status: stripe.PaymentIntentStatusRequiresPaymentMethod,
			event: "payment_intent.payment_failed",
		},
		"expire_with_delay@example.com": {
			after: 4 * time.Minute, status: stripe.PaymentIntentStatusRequiresPaymentMethod,
			event: "payment_intent.payment_failed",
		},
		"fill_never@example.com": {
			after: day + time.Minute, status: stripe.PaymentIntentStatusRequiresPaymentMethod,
			event: "payment_intent.payment_failed",
		},
		"ana@example.com": {
			after: 4 * time.Minute, status: stripe.PaymentIntentStatusSucceeded, event: "payment_intent.succeeded",
		},
	} {
		t.Run(email, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			p := b.pix(email)
			b.advance(want.after)
			p, err := b.sc.V1PaymentIntents.Retrieve(t.Context(), p.ID, nil)
			require.NoError(t, err)
			require.Equal(t, want.status, p.Status)
			require.Nil(t, p.NextAction)
			require.Equal(t, p.ID, b.last(want.event).Data.Object["id"])
			if want.status == stripe.PaymentIntentStatusRequiresPaymentMethod {
				require.Equal(t, "payment_intent_payment_attempt_expired", string(p.LastPaymentError.Code))
			}
		})
	}
}

func TestPIXControls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paid, expired := b.pix("fill_never@example.com"), b.pix("fill_never@example.com")
	status, _ := b.control("POST", "/_sandbox/payment_intents/"+paid.ID+"/pay", nil)
	require.Equal(t, 200, status)
	status, _ = b.control("POST", "/_sandbox/payment_intents/"+expired.ID+"/expire", nil)
	require.Equal(t, 200, status)
	status, _ = b.control("POST", "/_sandbox/payment_intents/"+paid.ID+"/pay", nil)
	require.Equal(t, 409, status)
	status, _ = b.control("POST", "/_sandbox/payment_intents/pi_x/pay", nil)
	require.Equal(t, 404, status)

	charges := b.sc.V1Charges.List(t.Context(), &stripe.ChargeListParams{PaymentIntent: &paid.ID}).Data()
	require.Len(t, charges, 1)
	require.Equal(t, "subscription_pix", charges[0].Metadata["kind"], "the intent's metadata is copied")
	_, err := b.sc.V1PaymentIntents.Cancel(t.Context(), paid.ID,
		&stripe.PaymentIntentCancelParams{CancellationReason: stripe.String("abandoned")})
	se := wantError(t, err, 400, "payment_intent_unexpected_state")
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, se.PaymentIntent.Status)
}

func TestCancelledPIXIsNeverPaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.pix("ana@example.com")
	_, err := b.sc.V1PaymentIntents.Cancel(t.Context(), p.ID,
		&stripe.PaymentIntentCancelParams{CancellationReason: stripe.String("abandoned")})
	require.NoError(t, err)
	b.advance(2 * day)
	require.NotContains(t, b.types(), "payment_intent.succeeded")
	require.NotContains(t, b.types(), "payment_intent.payment_failed")
	require.Contains(t, b.types(), "payment_intent.canceled")
}

func TestCardsByIDAndByNumber(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	for _, card := range account.TestCards() {
		minted, err := b.g.CreateCard(account.Card{Number: card.Number, ExpMonth: 4, ExpYear: 2035, CVC: "123"})
		require.NoError(t, err)
		_, byID := b.sc.V1PaymentMethods.Attach(t.Context(), card.ID,
			&stripe.PaymentMethodAttachParams{Customer: &c.ID})
		_, byNumber := b.sc.V1PaymentMethods.Attach(t.Context(), minted,
			&stripe.PaymentMethodAttachParams{Customer: &c.ID})
		require.Equal(t, byID == nil, byNumber == nil, card.ID)
	}
	for card, want := range map[string][2]string{
		"pm_card_visa_chargeDeclined":                  {"card_declined", "generic_decline"},
		"pm_card_chargeDeclined":                       {"card_declined", "generic_decline"},
		"pm_card_visa_chargeDeclinedInsufficientFunds": {"card_declined", "insufficient_funds"},
		"pm_card_visa_chargeDeclinedLostCard":          {"card_declined", "lost_card"},
		"pm_card_visa_chargeDeclinedStolenCard":        {"card_declined", "stolen_card"},
		"pm_card_chargeDeclinedExpiredCard":            {"expired_card", "expired_card"},
		"pm_card_chargeDeclinedIncorrectCvc":           {"incorrect_cvc", "incorrect_cvc"},
		"pm_card_chargeDeclinedProcessingError":        {"processing_error", "processing_error"},
	} {
		_, err := b.sc.V1PaymentMethods.Attach(t.Context(), card, &stripe.PaymentMethodAttachParams{Customer: &c.ID})
		se := wantError(t, err, 402, want[0])
		require.Equal(t, stripe.ErrorTypeCard, se.Type)
		require.Equal(t, want[1], string(se.DeclineCode))
	}
	status, body := b.control("POST", "/_sandbox/payment_methods", map[string]any{"number": "4111 1111 1111 1111"})
	require.Equal(t, 400, status)
	require.Contains(t, body["error"], "non test card")
	status, body = b.control("POST", "/_sandbox/payment_methods", map[string]any{
		"number": "4242 4242 4242 4242", "cvc": "123",
	})
	require.Equal(t, 200, status)
	require.Contains(t, body["id"], "pm_1")
}

func TestAttachRules(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, two := b.customer(), b.customer()
	m := b.attach("pm_card_visa", one)
	require.Contains(t, m.ID, "pm_1")
	require.Equal(t, m.ID, b.attach(m.ID, one).ID, "attaching again is allowed")
	_, err := b.sc.V1PaymentMethods.Attach(t.Context(), m.ID, &stripe.PaymentMethodAttachParams{Customer: &two.ID})
	wantError(t, err, 400, "payment_method_unexpected_state")
	_, err = b.sc.V1PaymentMethods.Attach(t.Context(), "pm_unknown",
		&stripe.PaymentMethodAttachParams{Customer: &two.ID})
	wantError(t, err, 404, "resource_missing")
	_, err = b.sc.V1Subscriptions.Create(t.Context(), b.subscriptionRequest(two, m.ID))
	wantError(t, err, 400, "")
}

func (b *bundle) buy(card string, change func(*stripe.PaymentIntentCreateParams)) (*stripe.PaymentIntent, error) {
	b.t.Helper()
	c := b.customer()
	p := &stripe.PaymentIntentCreateParams{
		Amount: stripe.Int64(10000), Currency: stripe.String("brl"), Customer: &c.ID, PaymentMethod: &card,
		PaymentMethodTypes: []*string{stripe.String("card")}, Confirm: stripe.Bool(true),
		Metadata: map[string]string{"kind": "ticket_order"},
	}
	if change != nil {
		change(p)
	}
	bought, err := b.sc.V1PaymentIntents.Create(b.t.Context(), p)
	b.settle()
	return bought, err
}

func TestTicketPurchaseByCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p, err := b.buy("pm_card_visa", nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, p.Status)

	_, err = b.buy("pm_card_chargeCustomerFail", nil)
	se := wantError(t, err, 402, "card_declined")
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, se.PaymentIntent.Status)
	require.NotEmpty(t, se.ChargeID)

	_, err = b.buy("pm_card_authenticationRequired",
		func(p *stripe.PaymentIntentCreateParams) { p.ErrorOnRequiresAction = stripe.Bool(true) })
	wantError(t, err, 402, "authentication_required")
	p, err = b.buy("pm_card_authenticationRequired", nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusRequiresAction, p.Status)

	_, err = b.buy("pm_card_visa", func(p *stripe.PaymentIntentCreateParams) { p.Amount = stripe.Int64(49) })
	wantError(t, err, 400, "amount_too_small")
	_, err = b.buy("pm_card_visa", func(p *stripe.PaymentIntentCreateParams) { p.Amount = nil })
	wantError(t, err, 400, "parameter_missing")
}

func TestSetUpCardNeedsNoSecondAuthentication(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	si, err := b.sc.V1SetupIntents.Create(t.Context(), &stripe.SetupIntentCreateParams{
		Customer: &c.ID, PaymentMethod: stripe.String("pm_card_authenticationRequiredOnSetup"),
		Confirm:            stripe.Bool(true),
		PaymentMethodTypes: []*string{stripe.String("card")}, Usage: stripe.String("off_session"),
	})
	require.NoError(t, err)
	require.Equal(t, stripe.SetupIntentStatusRequiresAction, si.Status)
	require.NoError(t, b.g.CompleteChallenge(si.ID))
	si, err = b.sc.V1SetupIntents.Retrieve(t.Context(), si.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.SetupIntentStatusSucceeded, si.Status)
	s, err := b.sc.V1Subscriptions.Create(t.Context(), b.subscriptionRequest(c, si.PaymentMethod.ID))
	require.NoError(t, err)
	require.Equal(t, stripe.SubscriptionStatusActive, s.Status)
	require.Equal(t, stripe.SubscriptionStatusIncomplete, b.subscribe("pm_card_authenticationRequiredOnSetup").Status)
}

func TestRefundsAreCumulative(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p, err := b.buy("pm_card_visa", nil)
	require.NoError(t, err)
	b.forget()
	refund := func(amount *int64, reason string) (*stripe.Refund, error) {
		return b.sc.V1Refunds.Create(t.Context(), &stripe.RefundCreateParams{
			PaymentIntent: &p.ID, Amount: amount, Reason: &reason, Metadata: map[string]string{"reason": "free text"},
		})
	}
	_, err = refund(nil, "free text")
	wantError(t, err, 400, "")
	r, err := refund(stripe.Int64(1000), "requested_by_customer")
	require.NoError(t, err)
	require.Equal(t, stripe.RefundStatusSucceeded, r.Status)
	require.Equal(t, []string{"charge.refunded", "refund.created"}, b.types())
	_, err = refund(stripe.Int64(9001), "requested_by_customer")
	wantError(t, err, 400, "")
	_, err = refund(stripe.Int64(2500), "requested_by_customer")
	require.NoError(t, err)
	ev := b.last("charge.refunded")
	require.EqualValues(t, 3500, ev.Data.Object["amount_refunded"])
	require.EqualValues(t, 1000, ev.Data.PreviousAttributes["amount_refunded"])
	r, err = refund(nil, "requested_by_customer")
	require.NoError(t, err)
	require.EqualValues(t, 6500, r.Amount)
	require.Equal(t, true, b.last("charge.refunded").Data.Object["refunded"])
	_, err = refund(nil, "requested_by_customer")
	wantError(t, err, 400, "charge_already_refunded")
	require.Len(t, b.sc.V1Refunds.List(t.Context(), &stripe.RefundListParams{PaymentIntent: &p.ID}).Data(), 3)
}

func TestRefundsThatFailOrWait(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refund := func(card string) *stripe.Refund {
		p, err := b.buy(card, nil)
		require.NoError(t, err)
		r, err := b.sc.V1Refunds.Create(t.Context(), &stripe.RefundCreateParams{PaymentIntent: &p.ID})
		require.NoError(t, err)
		return r
	}
	status := func(r *stripe.Refund) stripe.RefundStatus {
		r, err := b.sc.V1Refunds.Retrieve(t.Context(), r.ID, nil)
		require.NoError(t, err)
		return r.Status
	}
	fails, pends := refund("pm_card_refundFail"), refund("pm_card_pendingRefund")
	require.Equal(t, stripe.RefundStatusSucceeded, fails.Status)
	b.advance(2 * time.Hour)
	require.Equal(t, stripe.RefundStatusFailed, status(fails))
	require.Equal(t, fails.ID, b.last("refund.failed").Data.Object["id"])
	charge, err := b.sc.V1Charges.Retrieve(t.Context(), fails.Charge.ID, nil)
	require.NoError(t, err)
	require.Zero(t, charge.AmountRefunded)

	require.Equal(t, stripe.RefundStatusPending, status(pends))
	code, _ := b.control("POST", "/_sandbox/refunds/"+pends.ID+"/succeed", nil)
	require.Equal(t, 200, code)
	require.Equal(t, stripe.RefundStatusSucceeded, status(pends))
	code, _ = b.control("POST", "/_sandbox/refunds/"+pends.ID+"/fail", nil)
	require.Equal(t, 200, code)
	require.Equal(t, stripe.RefundStatusFailed, status(pends))
}

func TestDisputes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p, err := b.buy("pm_card_createDispute", nil)
	require.NoError(t, err)
	b.advance(2 * time.Second)
	d := b.last("charge.dispute.created")
	require.Equal(t, p.ID, d.Data.Object["payment_intent"])
	require.Equal(t, "needs_response", d.Data.Object["status"])
	id := d.Data.Object["id"].(string)
	status, _ := b.control("POST", "/_sandbox/disputes/"+id+"/win", nil)
	require.Equal(t, 200, status)
	require.Equal(t, "won", b.last("charge.dispute.closed").Data.Object["status"])
	_, err = b.sc.V1Refunds.Create(t.Context(), &stripe.RefundCreateParams{PaymentIntent: &p.ID})
	require.NoError(t, err, "the money is back, and may be given back")

	p, err = b.buy("pm_card_visa", nil)
	require.NoError(t, err)
	status, body := b.control("POST", "/_sandbox/charges/"+p.ID+"/dispute", map[string]any{"inquiry": true})
	require.Equal(t, 200, status)
	require.Equal(t, "warning_needs_response", b.last("charge.dispute.created").Data.Object["status"])
	require.NoError(t, b.g.CloseDispute(body["id"].(string), false))
	again, err := b.g.OpenDispute(p.LatestCharge.ID, "", false)
	require.NoError(t, err)
	_, err = b.sc.V1Refunds.Create(t.Context(), &stripe.RefundCreateParams{PaymentIntent: &p.ID})
	wantError(t, err, 400, "charge_disputed")
	status, _ = b.control("POST", "/_sandbox/disputes/"+again+"/lose", nil)
	require.Equal(t, 200, status)
	_, err = b.sc.V1Refunds.Create(t.Context(), &stripe.RefundCreateParams{PaymentIntent: &p.ID})
	wantError(t, err, 400, "charge_disputed")
	got, err := b.sc.V1Disputes.Retrieve(t.Context(), again, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.DisputeStatusLost, got.Status)
	require.Len(t, b.sc.V1Disputes.List(t.Context(), &stripe.DisputeListParams{PaymentIntent: &p.ID}).Data(), 2)
}
