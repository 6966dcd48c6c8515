package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
)

const renewPath = "/customers/me/subscription/renew"

func TestCustomerCancels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, begin := range map[string]func(*bundle, *testing.T) objectid.ID{
		"gwa": (*bundle).paidGWA, "gwb": (*bundle).paidGWB,
	} {
		t.Run(name, func(t *testing.T) {
			b.newcomer(t)
			b.expect(t, 404, http.MethodDelete, "/customers/me/subscription", nil)
			id := begin(b, t)
			a := b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
			require.Equal(t, id.String(), a["subscription_id"])
			require.Equal(t, "cancelled", a["status"])
			require.NotEmpty(t, a["message"])
			require.Empty(t, b.current(t))
			require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"), "the recurrence is stopped")
			b.settle(t)
			require.Equal(t, "active>cancelled customer_cancelled customer", b.history(t, id)[2],
				"and its echo says nothing new")
			require.Len(t, b.history(t, id), 3)
		})
	}
}

func TestCustomerDropsAPix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	for name, path := range map[string]string{
		"gwa": "/gwa/subscribe/pix", "gwb": "/gwb/subscribe/pix", "automatic": "/gwa/subscribe/pix-automatico",
	} {
		t.Run(name, func(t *testing.T) {
			b.newcomer(t)
			id := idOf(b.expect(t, 201, http.MethodPost, path, object{"plan_id": plan}))
			b.expect(t, 409, http.MethodPost, path, object{"plan_id": plan})
			qr := b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)["pix"].(object)
			require.NotEmpty(t, qr["qr_code"])
			require.NotEmpty(t, qr["qr_code_image"])
			require.NotEmpty(t, qr["payment_id"])
			require.Equal(t, "cancelled",
				b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)["status"])
			b.expect(t, 404, http.MethodGet, "/customers/me/pix-qr", nil)
			b.settle(t)
			require.Empty(t, b.current(t))
			require.Equal(t, "cancelled", b.status(t, id))
			b.expect(t, 201, http.MethodPost, path, object{"plan_id": plan})
		})
	}
}

func TestPixOfGatewayB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pix.months = 12
	b.listen()
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan})
	id := idOf(a)
	require.Equal(t, 12*4990.0, info(a)["amount"], "cents")
	require.Equal(t, 12.0, info(a)["months"])
	require.NotEmpty(t, info(a)["client_secret"])
	require.Equal(t, column[string](t, b, id, "pix_payment_id"), info(a)["payment_intent_id"])
	require.NotEmpty(t, info(a)["pix"].(object)["payload"])
	require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(column[string](t, b, id, "pix_payment_id")))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.WithinDuration(t, time.Now().AddDate(1, 0, 0), column[time.Time](t, b, id, "expires_at"), 25*time.Hour)
	require.Equal(t, "active", doc(b.expect(t, 200, http.MethodDelete, "/gwb/subscription", nil))["status"],
		"paid until the end")
	require.True(t, b.access(t))
}

func TestPixCodeThatRanOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan}))
	b.set(t, id, "pix_expires_at = $2", b.clock.Now().Add(-time.Second))
	b.expect(t, 410, http.MethodGet, "/customers/me/pix-qr", nil)
	b.listen()
	require.NoError(t, b.gateways.Sandbox.GWB.ExpirePIX(column[string](t, b, id, "pix_payment_id")))
	b.settle(t)
	require.Equal(t, "cancelled", b.status(t, id), "payment_intent.payment_failed")
	require.Empty(t, b.current(t))
	b.expect(t, 404, http.MethodGet, "/customers/me/pix-qr", nil)
}

func TestPixOlderThanADayMakesRoom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	old := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	payment := column[string](t, b, old, "pix_payment_id")
	b.clock.Advance(24*time.Hour + time.Minute)
	b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	require.Equal(t, "cancelled", b.status(t, old))
	_, err := b.gateways.Sandbox.GWA.Pay(payment)
	require.Error(t, err, "the payment is deleted at the gateway")
}

func TestRenew(t *testing.T) {
	t.Parallel()
	card := gwaCard(paymentstest.CardApproved)
	delete(card, "plan_id")
	for name, tc := range map[string]struct {
		begin func(*bundle, *testing.T) objectid.ID
		body  object
		field string
	}{
		"gwa": {(*bundle).paidGWA, card, "credit_card"},
		"gwb": {(*bundle).paidGWB, object{"payment_method_id": paymentstest.TokenApproved}, "payment_method_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.expect(t, 404, http.MethodPut, renewPath, tc.body)
			old := tc.begin(b, t)
			refused(t, b.expect(t, 400, http.MethodPut, renewPath, object{}), "VALIDATION_ERROR", tc.field)
			_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET is_active = false")
			require.NoError(t, err)
			refused(t, b.expect(t, 400, http.MethodPut, renewPath, tc.body), "VALIDATION_ERROR", "plan_id")
			_, err = b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET is_active = true")
			require.NoError(t, err)
			b.set(t, old, "status = 'suspended'")
			refused(t, b.expect(t, 400, http.MethodPut, renewPath, tc.body), "VALIDATION_ERROR", "")
			b.set(t, old, "status = 'active'")
			require.Equal(t, "active", b.status(t, old), "no refusal touched it")

			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{}) // silence: the answer alone
			a := b.expect(t, 200, http.MethodPut, renewPath, tc.body)
			renewed := a["subscription"].(object)
			id := objectid.ID(renewed["id"].(string))
			require.Equal(t, "pending", renewed["status"])
			require.Equal(t, plan, renewed["plan_id"])
			require.Equal(t, name, renewed["gateway"])
			require.Equal(t, id, b.current(t))
			require.Equal(t, "active>cancelled replaced customer", b.history(t, old)[2])
			require.Equal(t, ">pending renewed subscribe", b.history(t, id)[0])
			b.listen()
			require.NoError(t, b.gateways.Sandbox.GWA.Advance(time.Minute))
			b.settle(t)
			if b.status(t, id) == "pending" { // its webhook fell into the silence
				b.set(t, id, "intent_open = true")
				require.NoError(t, b.service.Recover(t.Context(), id))
			}
			require.Equal(t, "active", b.status(t, id))
			require.Equal(t, id, b.current(t), "the echo of the old one's end leaves the new one current")
			require.NotNil(t, column[*time.Time](t, b, old, "gateway_ended_at"))
		})
	}
}

func TestChangeOfCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	card := gwaCard(paymentstest.CardApproved)
	delete(card, "plan_id")
	b.expect(t, 404, http.MethodPut, "/gwa/subscription/credit-card", card)
	b.expect(t, 404, http.MethodGet, "/gwa/subscription", nil)
	b.expect(t, 404, http.MethodDelete, "/gwa/subscription", nil)
	id := b.paidGWA(t)
	require.NotEmpty(t, info(b.expect(t, 200, http.MethodGet, "/gwa/subscription", nil))["message"])
	require.Equal(t, id, idOf(b.expect(t, 200, http.MethodPut, "/gwa/subscription/credit-card", card)))
	declined := gwaCard(paymentstest.CardDeclined)
	delete(declined, "plan_id")
	refused(t, b.expect(t, 400, http.MethodPut, "/gwa/subscription/credit-card", declined), "VALIDATION_ERROR",
		"credit_card")
	refused(t, b.expect(t, 400, http.MethodPut, "/gwa/subscription/credit-card", object{}), "VALIDATION_ERROR",
		"credit_card")
	b.expect(t, 400, http.MethodPut, "/gwb/subscription/payment-method", object{"payment_method_id": "pm_card_visa"})
	b.expect(t, 400, http.MethodDelete, "/gwb/subscription", nil)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, "cancelled", doc(b.expect(t, 200, http.MethodDelete, "/gwa/subscription", nil))["status"])
	require.Empty(t, b.current(t))
}

// renewalDeclined has the card of gateway B decline the next month, which suspends.
func renewalDeclined(t *testing.T, b *bundle, id objectid.ID) {
	t.Helper()
	b.expect(t, 200, http.MethodPut, "/gwb/subscription/payment-method",
		object{"payment_method_id": paymentstest.TokenDeclined})
	require.NoError(t, b.gateways.Sandbox.GWB.Renew(column[string](t, b, id, "gwb_subscription_id")))
	b.settle(t)
	require.Equal(t, "suspended", b.status(t, id))
}

func TestNewCardPaysWhatIsOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	renewalDeclined(t, b, id)
	refused(t, b.expect(t, 400, http.MethodPut, "/gwb/subscription/payment-method", object{}), "VALIDATION_ERROR",
		"payment_method_id")
	a := b.expect(t, 200, http.MethodPut, "/gwb/subscription/payment-method",
		object{"payment_method_id": paymentstest.TokenApproved})
	require.Equal(t, "active", doc(a)["status"])
	require.Equal(t, 0.0, doc(a)["payment_failures"])
	b.settle(t)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
}

func TestGatewayBCancelsAtPeriodEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, jobFirst := range []bool{false, true} {
		id := b.paidGWB(t)
		a := b.expect(t, 200, http.MethodDelete, "/gwb/subscription", nil)
		require.Equal(t, "active", doc(a)["status"])
		require.Equal(t, true, doc(a)["cancel_at_period_end"])
		require.NotNil(t, doc(a)["expires_at"])
		b.settle(t)
		require.True(t, b.access(t))
		expires := column[time.Time](t, b, id, "expires_at")
		month := expires.Sub(b.clock.Now()) + time.Second
		b.clock.Advance(month)
		require.False(t, b.access(t))
		source := "webhook"
		if jobFirst {
			source = "job"
			require.NoError(t, b.service.Expire(t.Context(), id))
		}
		b.clock.Advance(-month) // webhooks are signed in real time
		_, err := b.gateways.Sandbox.GWB.Stage().Clock.AdvanceTo(expires.Add(time.Minute))
		require.NoError(t, err)
		b.settle(t)
		b.clock.Advance(month)
		require.NoError(t, b.service.Expire(t.Context(), id))
		require.Equal(t, "active>cancelled customer_cancelled "+source, b.history(t, id)[2], "whichever came first")
		require.Len(t, b.history(t, id), 3)
		require.Empty(t, b.current(t))
		b.clock.Advance(-month)
		b.newcomer(t)
	}
}
