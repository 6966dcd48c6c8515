package subscriptions_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
)

// TestEverySubscribeRouteRefuses what none of them may take, before anything is
// written.
func TestEverySubscribeRouteRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	exec := func(sql string, args ...any) {
		_, err := b.db.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	for path, good := range subscribes() {
		with := func(name string, value any) object {
			body := maps.Clone(good)
			body[name] = value
			return body
		}
		without := maps.Clone(good)
		delete(without, "plan_id")
		refused(t, b.expect(t, 422, http.MethodPost, path, without), "VALIDATION_ERROR", "plan_id")
		refused(t, b.expect(t, 422, http.MethodPost, path, with("plan_id", 7)), "VALIDATION_ERROR", "plan_id")
		refused(t, b.expect(t, 422, http.MethodPost, path, with("amount", 1)), "VALIDATION_ERROR", "amount")
		refused(t, b.expect(t, 404, http.MethodPost, path, with("plan_id", "none-such")), "NOT_FOUND", "")
		exec("UPDATE subscriptions.plans SET is_active = false WHERE plan_id = $1", plan)
		refused(t, b.expect(t, 400, http.MethodPost, path, good), "VALIDATION_ERROR", "plan_id")
		exec("UPDATE subscriptions.plans SET is_active = true WHERE plan_id = $1", plan)
		exec("UPDATE accounts.users SET tax_id = NULL WHERE id = $1", b.customer.ID)
		refused(t, b.expect(t, 400, http.MethodPost, path, good), "VALIDATION_ERROR", "tax_id")
		exec("UPDATE accounts.users SET tax_id = $2 WHERE id = $1", b.customer.ID, b.customer.TaxID)
		if good["promo_code"] == nil && path != "/gwb/subscribe" &&
			path != "/gwb/subscribe/pix" { // gateway B's take none
			refused(t, b.expect(t, 400, http.MethodPost, path, with("promo_code", "NOSUCH")), "VALIDATION_ERROR",
				"promo_code")
		}
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
	for _, status := range []string{"active", "suspended"} {
		b.newcomer(t)
		subscriptionstest.In(t, b.db, b.customer.ID, status)
		for path, body := range subscribes() {
			refused(t, b.expect(t, 409, http.MethodPost, path, body), "CONFLICT", "")
		}
	}
}

// TestRoutesOfOneGatewayRefuseTheOther, and what is not paid by card.
func TestRoutesOfOneGatewayRefuseTheOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	card := gwaCard(paymentstest.CardApproved)
	delete(card, "plan_id")
	token := object{"payment_method_id": paymentstest.TokenApproved}
	ofRoute := map[string][]func(t *testing.T) object{}
	ofRoute["gwa"] = []func(t *testing.T) object{
		func(t *testing.T) object { return b.expect(t, 400, http.MethodGet, "/gwa/subscription", nil) },
		func(t *testing.T) object { return b.expect(t, 400, http.MethodDelete, "/gwa/subscription", nil) },
		func(t *testing.T) object {
			return b.expect(t, 400, http.MethodPut, "/gwa/subscription/credit-card", card)
		},
	}
	ofRoute["gwb"] = []func(t *testing.T) object{
		func(t *testing.T) object { return b.expect(t, 400, http.MethodGet, "/gwb/subscription", nil) },
		func(t *testing.T) object { return b.expect(t, 400, http.MethodDelete, "/gwb/subscription", nil) },
		func(t *testing.T) object {
			return b.expect(t, 400, http.MethodPut, "/gwb/subscription/payment-method", token)
		},
	}
	for begin, other := range map[string]string{"/gwa/subscribe/pix": "gwb", "/gwb/subscribe/pix": "gwa"} {
		b.newcomer(t)
		id := idOf(b.expect(t, 201, http.MethodPost, begin, object{"plan_id": plan}))
		for _, call := range ofRoute[other] {
			refused(t, call(t), "VALIDATION_ERROR", "")
		}
		change := map[string]func(t *testing.T) object{"gwb": ofRoute["gwa"][2], "gwa": ofRoute["gwb"][2]}[other]
		require.Contains(t, change(t)["detail"], "not paid by card")
		require.Equal(t, "pending", b.status(t, id))
	}
	b.newcomer(t)
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{http.MethodGet, "/customers/me/subscription", nil},
		{http.MethodDelete, "/customers/me/subscription", nil},
		{http.MethodPut, renewPath, token},
		{http.MethodGet, "/customers/me/pix-qr", nil},
		{http.MethodGet, "/gwa/subscription", nil},
		{http.MethodDelete, "/gwa/subscription", nil},
		{http.MethodPut, "/gwa/subscription/credit-card", card},
		{http.MethodGet, "/gwb/subscription", nil},
		{http.MethodDelete, "/gwb/subscription", nil},
		{http.MethodPut, "/gwb/subscription/payment-method", token},
	} {
		refused(t, b.expect(t, 404, call.method, call.path, call.body), "NOT_FOUND", "")
	}
	b.expect(t, 501, http.MethodPost, "/customers/me/subscribe", object{})
}

// TestCodeOfNoPix: what is pending and no PIX has no code, at either gateway; what is
// active has none either.
func TestCodeOfNoPix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, body := range map[string]object{
		"/gwa/subscribe": gwaCard(paymentstest.CardApproved),
		"/gwb/subscribe": gwbCard(paymentstest.TokenAuthentication),
	} {
		b.newcomer(t)
		require.Equal(t, "pending", doc(b.expect(t, 201, http.MethodPost, path, body))["status"])
		refused(t, b.expect(t, 400, http.MethodGet, "/customers/me/pix-qr", nil), "VALIDATION_ERROR", "")
	}
	for _, path := range []string{"/gwa/subscribe/pix", "/gwa/subscribe/pix-automatico", "/gwb/subscribe/pix"} {
		b.newcomer(t)
		id := idOf(b.expect(t, 201, http.MethodPost, path, object{"plan_id": plan}))
		b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)
		b.set(t, id, "pix_expires_at = $2", b.clock.Now())
		b.expect(t, 410, http.MethodGet, "/customers/me/pix-qr", nil)
	}
	for _, status := range []string{"active", "suspended", "cancelled", "expired"} {
		b.newcomer(t)
		subscriptionstest.In(t, b.db, b.customer.ID, status)
		refused(t, b.expect(t, 404, http.MethodGet, "/customers/me/pix-qr", nil), "NOT_FOUND", "")
	}
}

func TestRenewalOfWhatIsPending(t *testing.T) {
	t.Parallel()
	b := setup(t)
	card := gwaCard(paymentstest.CardApproved)
	delete(card, "plan_id")
	token := object{"payment_method_id": paymentstest.TokenApproved}
	for begin, tc := range map[string]struct {
		first, renewal object
		field          string
	}{
		"/gwa/subscribe/pix": {object{"plan_id": plan}, card, "credit_card"},
		"/gwb/subscribe/pix": {object{"plan_id": plan}, token, "payment_method_id"},
		"/gwb/subscribe":     {gwbCard(paymentstest.TokenAuthentication), token, "payment_method_id"},
	} {
		t.Run(begin, func(t *testing.T) {
			b.newcomer(t)
			old := idOf(b.expect(t, 201, http.MethodPost, begin, tc.first))
			refused(t, b.expect(t, 400, http.MethodPut, renewPath, object{}), "VALIDATION_ERROR", tc.field)
			a := b.expect(t, 200, http.MethodPut, renewPath, tc.renewal)["subscription"].(object)
			require.Equal(t, "pending", a["status"])
			require.Equal(t, "credit_card", a["payment_method"])
			require.Equal(t, "cancelled", b.status(t, old))
			require.Equal(t, a["id"], b.current(t).String())
			require.NotNil(t, column[*string](t, b, objectid.ID(a["id"].(string)), "document_created_by_id"))
			if code := column[*string](t, b, old, "pix_payload"); code != nil && begin == "/gwa/subscribe/pix" {
				_, err := b.gateways.Sandbox.GWA.PayPIX(*code)
				require.Error(t, err, "nobody can pay the old code")
			}
		})
	}
	for _, status := range []string{"suspended"} {
		b.newcomer(t)
		subscriptionstest.In(t, b.db, b.customer.ID, status)
		refused(t, b.expect(t, 400, http.MethodPut, renewPath, token), "VALIDATION_ERROR", "")
		require.Equal(t, "cancelled", b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)["status"],
			"the way out")
	}
}

// TestAdminRoutesOfOneSubscription: a malformed id, one that nobody has, one of the
// other gateway.
func TestAdminRoutesOfOneSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	subscriptionIn(t, b, "active")
	admin := b.admin(t)
	id := b.current(t).String() // of gateway B
	reason := object{"reason": "as agreed"}
	routes := []struct {
		method, path string
		body         any
	}{
		{http.MethodGet, "/subscriptions/%/payments", nil},
		{http.MethodGet, "/subscriptions/%/refunds", nil},
		{http.MethodPost, "/subscriptions/%/refund", reason},
		{http.MethodPost, "/subscriptions/%/cancel", nil},
		{http.MethodPost, "/subscriptions/%/chargeback", reason},
		{http.MethodDelete, "/subscriptions/%/chargebacks/66f0a1b2c3d4e5f607182a01", reason},
		{http.MethodPost, "/admin/subscriptions/%/extend", object{"days": 1}},
		{http.MethodPost, "/admin/subscriptions/%/activate", nil},
	}
	for _, gateway := range []string{"gwa", "gwb"} {
		prefix := "/admin/" + gateway + "/subscriptions/%/"
		routes = append(routes, []struct {
			method, path string
			body         any
		}{
			{http.MethodGet, prefix + "payments", nil},
			{http.MethodGet, prefix + "refunds", nil},
			{http.MethodPost, prefix + "refund", reason},
			{http.MethodPost, prefix + "cancel", nil},
		}...)
	}
	at := func(path, id string) string {
		before, after, _ := strings.Cut(path, "%")
		return before + id + after
	}
	for _, r := range routes {
		require.Equal(t, "VALIDATION_ERROR", admin.Do(r.method, at(r.path, "xyz"), r.body).Expect(422).Code(), r.path)
		require.Equal(t, "NOT_FOUND",
			admin.Do(r.method, at(r.path, "66f0a1b2c3d4e5f607182a01"), r.body).Expect(404).Code(), r.path)
		if strings.HasPrefix(r.path, "/admin/gwa/") {
			require.Equal(t, "VALIDATION_ERROR", admin.Do(r.method, at(r.path, id), r.body).Expect(422).Code(), r.path)
		}
		if strings.HasSuffix(r.path, "/refund") || strings.Contains(r.path, "/chargeback") {
			for _, wrong := range []object{
				{}, {"reason": "four"}, {"reason": strings.Repeat("a", 501)}, {"reason": "    a    "},
			} {
				require.Equal(t, "reason",
					admin.Do(r.method, at(r.path, "66f0a1b2c3d4e5f607182a01"), wrong).Expect(422).Field(), r.path)
			}
		}
		status, _ := b.call(t, r.method, at(r.path, id), r.body)
		require.Equal(t, 403, status, r.path)
	}
	require.Equal(t, "active", b.status(t, objectid.ID(id)))
}
