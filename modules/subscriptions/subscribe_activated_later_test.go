package subscriptions_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/testutil/sandbox/stage"
)

func TestGatewayACardIsActivatedByWebhook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved))
	require.Equal(t, "pending", doc(a)["status"])
	require.Equal(t, doc(a)["gwa_subscription_id"], info(a)["gwa_subscription_id"])
	require.NotEmpty(t, info(a)["gwa_subscription_id"])
	require.NotEmpty(t, info(a)["payment_status"])
	require.False(t, b.access(t))
	id := idOf(a)

	refused(t, b.expect(t, 409, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved)), "CONFLICT", "")
	refused(t, b.expect(t, 400, http.MethodGet, "/gwb/subscription", nil), "VALIDATION_ERROR", "")
	refused(t, b.expect(t, 400, http.MethodGet, "/customers/me/pix-qr", nil), "VALIDATION_ERROR", "")

	b.listen()
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(time.Minute)) // the charge runs a little after the call
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.True(t, b.access(t))
	require.Nil(t, column[*time.Time](t, b, id, "expires_at"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
	paid := column[time.Time](t, b, id, "last_payment_at")
	next := column[time.Time](t, b, id, "next_billing_date")
	require.True(t, next.After(b.clock.Now().AddDate(0, 0, 26)), next)

	// The card's money arrives 32 days later, and the next month is charged.
	b.clock.Advance(33 * 24 * time.Hour)
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(33*24*time.Hour))
	b.settle(t)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id),
		"one row a payment, settled or received")
	require.Equal(t, []string{">pending subscribed subscribe", "pending>active payment_settled webhook"},
		b.history(t, id))
	require.True(t, column[time.Time](t, b, id, "last_payment_at").After(paid))
	require.True(t, column[time.Time](t, b, id, "next_billing_date").After(next))
}

func TestGatewayADeclinedCardIs400(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.expect(t, 400, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardDeclined))
	refused(t, a, "VALIDATION_ERROR", "credit_card")
	require.Contains(t, a["detail"], "não autorizada")
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled'"))
	require.Empty(t, b.current(t))
	b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved))
}

func TestGatewayATrialIsActiveAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET trial_enabled = true, trial_days = 7")
	require.NoError(t, err)
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved))
	require.Equal(t, "active", doc(a)["status"])
	require.True(t, b.access(t))
	require.WithinDuration(t, time.Now().AddDate(0, 0, 7), column[time.Time](t, b, idOf(a), "next_billing_date"),
		25*time.Hour)
	b.listen()
	b.settle(t)
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.payments"), "nothing is charged during the trial")
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(8*24*time.Hour))
	b.settle(t)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.Equal(t, "active", b.status(t, idOf(a)))
}

func TestGatewayACardData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	change := func(part, name string, value any) object {
		body := gwaCard(paymentstest.CardApproved)
		if name == "" {
			body[part] = value
		} else {
			body[part].(object)[name] = value
		}
		return body
	}
	without := func(part, name string) object {
		body := gwaCard(paymentstest.CardApproved)
		if name == "" {
			delete(body, part)
		} else {
			delete(body[part].(object), name)
		}
		return body
	}
	const card, holder = "credit_card", "credit_card_holder_info"
	for name, tc := range map[string]struct {
		body  object
		field string
	}{
		"no card":           {without(card, ""), card},
		"card null":         {change(card, "", nil), card},
		"card a text":       {change(card, "", "5162306219378829"), card},
		"no number":         {without(card, "number"), card + ".number"},
		"short number":      {change(card, "number", "123"), card + ".number"},
		"number with marks": {change(card, "number", "5162 3062 1937 8829"), card + ".number"},
		"numeric number":    {change(card, "number", 5162306219378829), card + ".number"},
		"no holderName":     {without(card, "holderName"), card + ".holderName"},
		"month 13":          {change(card, "expiryMonth", "13"), card + ".expiryMonth"},
		"month of a digit":  {change(card, "expiryMonth", "5"), card + ".expiryMonth"},
		"year of 2 digits":  {change(card, "expiryYear", "35"), card + ".expiryYear"},
		"no ccv":            {without(card, "ccv"), card + ".ccv"},
		"long ccv":          {change(card, "ccv", "12345"), card + ".ccv"},
		"no holder":         {without(holder, ""), holder},
		"holder a list":     {change(holder, "", []string{}), holder},
		"no name":           {without(holder, "name"), holder + ".name"},
		"email":             {change(holder, "email", "ana"), holder + ".email"},
		"cpfCnpj":           {change(holder, "cpfCnpj", "529.982.247-25"), holder + ".cpfCnpj"},
		"postalCode":        {change(holder, "postalCode", "01310-100"), holder + ".postalCode"},
		"no addressNumber":  {without(holder, "addressNumber"), holder + ".addressNumber"},
		"phone":             {change(holder, "phone", "(11) 3883"), holder + ".phone"},
	} {
		status, a := b.call(t, http.MethodPost, "/gwa/subscribe", tc.body)
		require.Equal(t, 400, status, "%s: %v", name, a)
		refused(t, a, "VALIDATION_ERROR", tc.field)
		require.NotContains(t, a["detail"], "5162306219378829")
	}
	for _, part := range []string{card, holder} {
		body := change(part, "pin", "5162306219378829")
		status, a := b.call(t, http.MethodPost, "/gwa/subscribe", body)
		require.Equal(t, 422, status, "%v", a)
		refused(t, a, "VALIDATION_ERROR", part+".pin")
		require.NotContains(t, fmt.Sprint(a), "5162306219378829")
	}
	refused(t, b.expect(t, 400, http.MethodPost, "/gwa/subscribe", change("promo_code", "", "NOSUCH")),
		"VALIDATION_ERROR", "promo_code")
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
}

func TestGatewayAPix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pix.months = 3
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	require.Equal(t, "pending", doc(a)["status"])
	require.Equal(t, "pix", doc(a)["payment_method"])
	require.InDelta(t, 149.70, info(a)["amount"], 0.0001)
	require.EqualValues(t, 3, info(a)["months"])
	code := info(a)["pix"].(object)
	require.NotEmpty(t, code["payload"])
	require.NotEmpty(t, code["encoded_image"])
	require.NotEmpty(t, code["expiration_date"])
	require.NotEmpty(t, info(a)["payment_id"])
	id := idOf(a)

	qr := b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)
	require.Equal(t, string(id), qr["subscription_id"])
	require.Equal(t, "pending", qr["status"])
	require.Equal(t, "gwa", qr["gateway"])
	require.Equal(t, object{
		"gateway": "gwa", "payment_id": info(a)["payment_id"], "qr_code": code["payload"],
		"qr_code_image": code["encoded_image"], "expiration_date": code["expiration_date"],
	}, qr["pix"])
	refused(t, b.expect(t, 409, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}), "CONFLICT", "")

	b.listen()
	_, err := b.gateways.Sandbox.GWA.PayPIX(code["payload"].(string))
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.True(t, b.access(t))
	expires := column[time.Time](t, b, id, "expires_at")
	require.WithinDuration(t, time.Now().AddDate(0, 3, 0), expires, 4*24*time.Hour)
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_expire' AND scheduled_at = $1", expires))
	b.expect(t, 404, http.MethodGet, "/customers/me/pix-qr", nil)

	b.clock.Advance(expires.Sub(b.clock.Now()))
	require.False(t, b.access(t), "the date itself closes, before any job")
	require.NoError(t, b.service.Expire(t.Context(), id))
	require.Equal(t, "expired", b.status(t, id))
	require.Empty(t, b.current(t))
	require.Equal(t, "active>expired expired job", b.history(t, id)[2])
}

func TestPixCodeThatTheFirstAnswerDidNotBring(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	b.set(t, idOf(a), "pix_payload = NULL, pix_image = NULL, pix_expires_at = NULL")
	gateway := b.gateways.Sandbox.GWA.Stage()
	require.NoError(t, gateway.Faults.Plan(stage.Fault{Kind: stage.FaultStatus, Status: 500, Times: manyTimes}))
	b.expect(t, 503, http.MethodGet, "/customers/me/pix-qr", nil)
	gateway.Faults.Clear()
	qr := b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)
	require.Equal(t, info(a)["pix"].(object)["payload"], qr["pix"].(object)["qr_code"])
}

func TestPixOlderThanADayIsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	b.clock.Advance(24*time.Hour + time.Second)
	second := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	require.Equal(t, "cancelled", b.status(t, idOf(first)))
	require.Equal(t, "pending>cancelled replaced subscribe", b.history(t, idOf(first))[1])
	require.Equal(t, idOf(second), b.current(t))
	_, err := b.gateways.Sandbox.GWA.PayPIX(info(first)["pix"].(object)["payload"].(string))
	require.Error(t, err, "the old code cannot be paid any more")
}

func TestPixPaidJustBeforeItIsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	paidAt := paymentstest.Now()
	_, err := b.gateways.Sandbox.GWA.PayPIX(info(first)["pix"].(object)["payload"].(string)) // its webhook has not come
	require.NoError(t, err)
	b.clock.Advance(25 * time.Hour)
	b.expect(t, 409, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	require.Equal(t, "active", b.status(t, idOf(first)))
	require.WithinDuration(t, lifecycle.AddMonths(paidAt, 1, reportZone(t)),
		column[time.Time](t, b, idOf(first), "expires_at"), time.Minute,
		"the gateway tells the day alone, and the period does not begin with the day")
	b.listen()
	b.settle(t)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
}

// TestAPixEndsForItsCustomerWhileTheGatewayIsSilent: the code is made unpayable later.
func TestAPixEndsForItsCustomerWhileTheGatewayIsSilent(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id := idOf(b.expect(t, 201, "POST", "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
		faults := b.gateways.Sandbox.GWA.Stage().Faults
		if gateway == "gwb" {
			faults = b.gateways.Sandbox.GWB.Stage().Faults
		}
		require.NoError(t, faults.Plan(stage.Fault{Kind: stage.FaultStatus, Status: 500, Times: manyTimes}))
		require.Equal(t, "cancelled", b.expect(t, 200, "DELETE", "/customers/me/subscription", nil)["status"])
		require.Equal(t, "cancelled", b.status(t, id))
		require.Empty(t, b.current(t))
		require.NoError(t, b.service.EndAtGateway(t.Context(), id), "the checks go on with it")
		require.Nil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'open'"))
	})
}

func TestUnpaidPixIsGivenUpByJob(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	id := idOf(a)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_drop_pix'"))
	require.NoError(t, b.service.DropPix(t.Context(), id))
	require.Equal(t, "pending", b.status(t, id), "not before its time")
	b.clock.Advance(24 * time.Hour)
	require.NoError(t, b.service.Sweep(t.Context()))
	require.Equal(t, "cancelled", b.status(t, id))
	require.Empty(t, b.current(t))
	require.Equal(t, "pending>cancelled pix_unpaid job", b.history(t, id)[1])
}

func TestMoneyThatArrivesAfterAPixWasGivenUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	id := idOf(a)
	b.set(t, id, "status = 'cancelled', ended_at = $2", paymentstest.Now()) // dropped here, but the code was still open at the gateway
	b.listen()
	_, err := b.gateways.Sandbox.GWA.PayPIX(info(a)["pix"].(object)["payload"].(string))
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, "cancelled>active late_money live_read", b.history(t, id)[1],
		"gateway A's webhooks are not signed")
	require.Equal(t, id, b.current(t))
	require.True(t, b.access(t))
}

func TestGatewayAUnavailableBeforeTheCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.gateways.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Kind: stage.FaultStatus, Status: 429, Times: 20,
	}))
	b.expect(t, 503, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved))
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions WHERE status <> 'cancelled'"))
}
