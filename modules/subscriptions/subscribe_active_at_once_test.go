package subscriptions_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

func TestGatewayBApprovedCardIsActiveAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.False(t, b.access(t))
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	require.Equal(t, "active", doc(a)["status"])
	require.Equal(t, "gwb", doc(a)["gateway"])
	require.Equal(t, "credit_card", doc(a)["payment_method"])
	require.EqualValues(t, 0, doc(a)["payment_failures"])
	require.Nil(t, doc(a)["expires_at"])
	require.NotNil(t, doc(a)["started_at"])
	require.NotNil(t, doc(a)["next_billing_date"])
	require.NotContains(t, doc(a), "gwa_subscription_id")
	require.Equal(t, "succeeded", info(a)["payment_status"])
	require.Nil(t, info(a)["client_secret"])
	require.Contains(t, info(a), "client_secret")
	require.NotContains(t, info(a), "payment_failed")

	id := idOf(a)
	require.Equal(t, id, b.current(t))
	require.True(t, b.access(t))
	require.Equal(t, []string{">pending subscribed subscribe", "pending>active payment_settled subscribe"},
		b.history(t, id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1 AND amount_cents = 4990",
		id))

	b.listen() // the webhooks of the same payment change nothing
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
	require.Len(t, b.history(t, id), 2)

	status := b.expect(t, 200, http.MethodGet, "/customers/me/subscription", nil)
	require.Equal(t, string(id), doc(status)["_id"])
	read := b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil)
	require.Equal(t, "active", doc(read)["status"])
	require.Nil(t, info(read)["client_secret"])

	refused(t, b.expect(t, 409, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved)), "CONFLICT", "")
	refused(t, b.expect(t, 409, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved)), "CONFLICT", "")
	refused(t, b.expect(t, 409, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}), "CONFLICT", "")
}

func TestGatewayBDeclinedCardIsCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	for _, token := range []string{paymentstest.TokenDeclined, paymentstest.TokenRefused} {
		t.Run(token, func(t *testing.T) {
			b.newcomer(t)
			a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(token))
			require.Equal(t, "cancelled", doc(a)["status"])
			require.Equal(t, "requires_payment_method", info(a)["payment_status"])
			require.Equal(t, true, info(a)["payment_failed"])
			require.Nil(t, info(a)["client_secret"])
			require.Empty(t, b.current(t))
			b.settle(t)
			require.Equal(t, "cancelled", b.status(t, idOf(a)), "events of the declined subscription move nothing")
			require.Equal(t, 0, column[int](t, b, idOf(a), "payment_failures"))
			b.expect(t, 404, http.MethodGet, "/customers/me/subscription", nil)

			again := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
			require.Equal(t, "active", doc(again)["status"])
		})
	}
}

func TestGatewayBAuthentication(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication))
	require.Equal(t, "pending", doc(a)["status"])
	require.Equal(t, "requires_action", info(a)["payment_status"])
	require.NotEmpty(t, info(a)["client_secret"])
	id := idOf(a)
	require.Equal(t, id, b.current(t))
	require.False(t, b.access(t), "pending opens nothing")

	polled := b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil)
	require.Equal(t, "pending", doc(polled)["status"], "polling during the challenge does not cancel")
	require.Equal(t, info(a)["client_secret"], info(polled)["client_secret"])

	require.NoError(t, b.gateways.Sandbox.GWB.CompleteChallenge(intentOf(a)))
	b.listen()
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.True(t, b.access(t))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
}

func TestGatewayBLiveReadResolvesAPendingSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	t.Run("paid meanwhile", func(t *testing.T) {
		b.newcomer(t)
		a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication))
		require.NoError(t, b.gateways.Sandbox.GWB.CompleteChallenge(intentOf(a)))
		read := b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil)
		require.Equal(t, "active", doc(read)["status"])
		require.Equal(t, "pending>active payment_settled live_read", b.history(t, idOf(a))[1])
	})
	t.Run("authentication failed", func(t *testing.T) {
		b.newcomer(t)
		a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication))
		require.NoError(t, b.gateways.Sandbox.GWB.FailChallenge(intentOf(a)))
		read := b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil)
		require.Equal(t, "cancelled", doc(read)["status"])
		require.Empty(t, b.current(t))
		b.expect(t, 404, http.MethodGet, "/gwb/subscription", nil)
	})
	t.Run("abandoned for a day", func(t *testing.T) {
		b.newcomer(t)
		b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication))
		b.clock.Advance(24 * time.Hour)
		read := b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil)
		require.Equal(t, "cancelled", doc(read)["status"])
	})
	t.Run("gateway silent", func(t *testing.T) {
		b.newcomer(t)
		b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication))
		require.NoError(t, b.gateways.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
			Kind: stage.FaultStatus, Status: 500, Times: 10,
		}))
		read := b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil)
		require.Equal(t, "pending", doc(read)["status"])
	})
}

func TestGatewayBPendingCardIsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication))
	second := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	require.Equal(t, "active", doc(second)["status"])
	require.Equal(t, "cancelled", b.status(t, idOf(first)))
	require.Contains(t, b.history(t, idOf(first)), "pending>cancelled replaced subscribe")
	b.listen()
	b.settle(t)
	require.Equal(t, idOf(second), b.current(t), "the echo of the old one's end leaves the new one current")
	require.True(t, b.access(t))
	require.Error(t, b.gateways.Sandbox.GWB.CompleteChallenge(intentOf(first)), "nobody can pay the old one")
}

func TestGatewayBPendingCardPaidJustBeforeItIsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication))
	require.NoError(t, b.gateways.Sandbox.GWB.CompleteChallenge(intentOf(first))) // its webhook has not come
	b.expect(t, 409, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	require.Equal(t, "active", b.status(t, idOf(first)))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
}

func TestWhatEndedHereEndsAtTheGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	id := idOf(a)
	gw, err := b.payments.Gateway(gateway.GWB)
	require.NoError(t, err)
	read := func() gateway.RemoteStatus {
		remote, err := gw.ReadSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id"), id)
		require.NoError(t, err)
		return remote.Status
	}
	require.NoError(t, b.service.EndAtGateway(t.Context(), id))
	require.Equal(t, gateway.RemoteActive, read(), "a live one is left alone")
	b.set(t, id, "status = 'cancelled', ended_at = $2", paymentstest.Now())
	for range 2 {
		require.NoError(t, b.service.EndAtGateway(t.Context(), id))
		require.Equal(t, gateway.RemoteCanceled, read())
	}
}

func TestGatewayBTrialOncePerCustomer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET trial_enabled = true, trial_days = 7")
	require.NoError(t, err)
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	require.Equal(t, "active", doc(a)["status"])
	require.Equal(t, "succeeded", info(a)["payment_status"])
	require.Equal(t, "pending>active trial_started subscribe", b.history(t, idOf(a))[1])
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.payments"))
	b.listen()
	b.settle(t)
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.payments"), "an invoice of nothing is no payment")

	b.set(t, idOf(a), "status = 'cancelled', ended_at = $2", paymentstest.Now())
	again := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	require.Contains(t, b.history(t, idOf(again))[1], "pending>active payment_settled", "no second trial")
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
}

func TestGatewayBRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.expect(t, 404, http.MethodGet, "/customers/me/subscription", nil)
	b.expect(t, 404, http.MethodGet, "/gwb/subscription", nil)
	for name, tc := range map[string]struct {
		body   object
		status int
		code   string
		field  string
	}{
		"no payment method": {object{"plan_id": plan}, 400, "VALIDATION_ERROR", "payment_method_id"},
		"empty payment method": {
			object{"plan_id": plan, "payment_method_id": ""}, 400, "VALIDATION_ERROR", "payment_method_id",
		},
		"null payment method": {
			object{"plan_id": plan, "payment_method_id": nil}, 400, "VALIDATION_ERROR", "payment_method_id",
		},
		"numeric payment method": {
			object{"plan_id": plan, "payment_method_id": 7}, 400, "VALIDATION_ERROR", "payment_method_id",
		},
		"malformed payment method": {
			object{"plan_id": plan, "payment_method_id": "pm/../x"}, 400, "VALIDATION_ERROR", "payment_method_id",
		},
		"no plan": {object{"payment_method_id": "pm_card_visa"}, 422, "VALIDATION_ERROR", "plan_id"},
		"plan of a wrong type": {
			object{"plan_id": 1, "payment_method_id": "pm_card_visa"}, 422, "VALIDATION_ERROR", "plan_id",
		},
		"unknown field": {
			object{"plan_id": plan, "payment_method_id": "pm_card_visa", "amount": 1},
			422, "VALIDATION_ERROR",
			"amount",
		},
		"unknown plan": {
			object{"plan_id": "none-such", "payment_method_id": "pm_card_visa"}, 404, "NOT_FOUND", "",
		},
		"token nobody knows": {
			object{"plan_id": plan, "payment_method_id": "pm_nobody"}, 400, "VALIDATION_ERROR", "payment_method_id",
		},
	} {
		a := b.expect(t, tc.status, http.MethodPost, "/gwb/subscribe", tc.body)
		require.NotNil(t, a["error"], name)
		refused(t, a, tc.code, tc.field)
	}
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions WHERE status <> 'cancelled'"))

	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET is_active = false")
	require.NoError(t, err)
	refused(t, b.expect(t, 400, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa")), "VALIDATION_ERROR",
		"plan_id")
	_, err = b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET is_active = true")
	require.NoError(t, err)
	for _, taxID := range []any{nil, "52998224724"} {
		_, err = b.db.Exec(t.Context(), "UPDATE accounts.users SET tax_id = $2 WHERE id = $1", b.customer.ID, taxID)
		require.NoError(t, err)
		refused(t, b.expect(t, 400, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa")), "VALIDATION_ERROR",
			"tax_id")
	}
	b.expect(t, 501, http.MethodPost, "/customers/me/subscribe", object{})

	admin := accountstest.Admin(t, b.db)
	b.token = accountstest.Token(t, b.db, admin.Username)
	refused(t, b.expect(t, 403, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa")), "FORBIDDEN", "")
	b.token = "nonsense"
	b.expect(t, 403, http.MethodGet, "/customers/me/subscription", nil)
}

func TestUnsyncedPlanIsSynchronisedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	var product, price objectid.ID
	read := func() {
		require.NoError(t,
			b.db.QueryRow(t.Context(),
				"SELECT gwb_product_id, gwb_price_id FROM subscriptions.plans WHERE plan_id = $1", plan).Scan(&product,
				&price))
	}
	read()
	before := price
	require.NotEmpty(t, before)
	b.forged()
	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = $1",
		paymentstest.Now())
	require.NoError(t, err)
	b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	read()
	require.Equal(t, before, price, "the price is kept")
	_, err = b.db.Exec(t.Context(), "UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = $1",
		paymentstest.Now())
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET amount_cents = 5990")
	require.NoError(t, err)
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	read()
	require.NotEqual(t, before, price, "another amount needs another price")
	require.Equal(t, string(price), doc(a)["gwb_price_id"])
	require.Equal(t, 5990, column[int](t, b, idOf(a), "price_cents"))
}

// intentOf is the payment intent that an answer's client secret opens.
func intentOf(o object) string {
	id, _, _ := strings.Cut(info(o)["client_secret"].(string), "_secret_")
	return id
}
