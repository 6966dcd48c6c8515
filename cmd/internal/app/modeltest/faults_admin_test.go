package modeltest_test

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// adminScenarios are what admins do.
var adminScenarios = []scenario{
	{
		name: "subscription_update", what: "plan at gateway A", good: []int{200}, also: []int{409},
		given: a(newPlan, cardA), do: movePlan, done: onPremium,
	},
	{
		name: "subscription_update", what: "plan at gateway B", good: []int{200}, also: []int{409},
		given: a(newPlan, cardB), do: movePlan, done: onPremium,
	},
	{
		name: "subscription_cancel", what: "gwa", good: []int{200}, again: []int{409}, given: cardA,
		do: admin(http.MethodPost, "/subscriptions/%s/cancel", nil), done: noneLive,
	},
	{
		name: "subscription_cancel", what: "gwb", good: []int{200}, again: []int{409}, given: cardB,
		do: admin(http.MethodPost, "/subscriptions/%s/cancel", nil), done: noneLive,
	},
	{
		name: "admin_gwa_subscription_cancel", good: []int{200}, again: []int{409}, given: a(automatic, paid),
		do: admin(http.MethodPost, "/admin/gwa/subscriptions/%s/cancel", nil), done: noneLive,
	},
	{
		name: "admin_gwb_subscription_cancel", good: []int{200}, again: []int{409}, given: pixB,
		do: admin(http.MethodPost, "/admin/gwb/subscriptions/%s/cancel", nil), done: noneLive,
	},
	{
		name: "subscription_refund", what: "gwa", good: []int{200}, again: []int{422}, given: cardA,
		do: admin(http.MethodPost, "/subscriptions/%s/refund", why), done: givenBack(4990),
	},
	{
		name: "subscription_refund", what: "gwb", good: []int{200}, again: []int{422}, rests: 26 * time.Hour,
		given: cardB, do: admin(http.MethodPost, "/subscriptions/%s/refund", why), done: givenBack(4990),
	},
	{
		name: "admin_gwa_subscription_refund", what: "PIX", good: []int{200}, again: []int{422}, given: a(pixA, paid),
		do: admin(http.MethodPost, "/admin/gwa/subscriptions/%s/refund", why), done: givenBack(4990),
	},
	{
		name: "admin_gwa_subscription_refund", what: "a part", good: []int{200}, again: []int{422}, given: cardA,
		do: once(admin(http.MethodPost, "/admin/gwa/subscriptions/%s/refund", object{
			"reason": "as promised", "value": 30.00,
		})),
		done: givenBack(3000),
	},
	{
		name: "admin_gwb_subscription_refund", what: "PIX", good: []int{200}, again: []int{422},
		rests: 26 * time.Hour, given: a(pixB, paid),
		do: admin(http.MethodPost, "/admin/gwb/subscriptions/%s/refund", why), done: givenBack(4990),
	},
	{
		name: "admin_gwb_subscription_refund", what: "by payment intent", good: []int{200}, again: []int{422},
		rests: 26 * time.Hour, given: cardB, do: refundIntent, done: givenBack(4990),
	},
	{
		name: "unapplied_payment_refund", what: "gwa", key: true, good: []int{200}, again: []int{409},
		given: a(cardA, unapplied(false)), do: decide("/refund"), after: unappliedForDays, done: givenBack(4990),
	},
	{
		name: "unapplied_payment_refund", what: "gwb", key: true, good: []int{200}, again: []int{409},
		rests: 26 * time.Hour, given: a(cardB, unapplied(false)), do: decide("/refund"), after: unappliedForDays,
		done: givenBack(4990),
	},
	{
		name: "unapplied_payment_refund", what: "PIX, without a key", good: []int{200}, again: []int{409},
		given: a(pixA, paid, unapplied(false)), do: decide("/refund"), after: unappliedForDays, done: givenBack(4990),
	},
	{
		name: "subscription_payments", what: "gwa", good: []int{200}, given: cardA,
		do: admin(http.MethodGet, "/subscriptions/%s/payments", nil),
	},
	{
		name: "subscription_payments", what: "gwb", good: []int{200}, given: cardB,
		do: admin(http.MethodGet, "/subscriptions/%s/payments", nil),
	},
	{
		name: "admin_gwa_subscription_payments", good: []int{200}, given: a(pixA, paid),
		do: admin(http.MethodGet, "/admin/gwa/subscriptions/%s/payments", nil),
	},
	{
		name: "admin_gwb_subscription_payments", good: []int{200}, given: a(pixB, paid),
		do: admin(http.MethodGet, "/admin/gwb/subscriptions/%s/payments", nil),
	},
	{name: "plan_sync_gwb", what: "new", good: []int{200}, given: newPlan, do: syncPlan},
	{
		name: "plan_sync_gwb", what: "another price and name", good: []int{200},
		given: a(newPlan, before(syncPlan), changePlan), do: syncPlan,
	},
}

var why = object{"reason": "as promised"}

// admin makes a request of the administration about the newest subscription.
func admin(method, path string, body any) func(h *history) response {
	return func(h *history) response { return h.request(method, fmt.Sprintf(path, h.all()[0].ID), h.admin, body) }
}

func movePlan(h *history) response {
	return h.request(http.MethodPut, "/subscriptions", h.admin,
		[]object{{"_id": h.all()[0].ID, "plan_id": planPremium}})
}

func onPremium(h *history) bool {
	var n int
	err := h.db.QueryRow(context.Background(),
		`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active' AND plan_id = $1 AND price_cents = 6990`, planPremium).Scan(&n)
	return err == nil && n == 1
}

// once leaves out the repetition of an action whose second time is another request.
func once(do func(h *history) response) func(h *history) response {
	return func(h *history) response {
		if h.givenBack() > 0 {
			return response{status: http.StatusOK}
		}
		return do(h)
	}
}

// givenBack is what the ledger holds of refunds, made or requested, in cents.
func (h *history) givenBack() (cents int64) {
	err := h.db.QueryRow(context.Background(),
		`SELECT coalesce(sum(amount_cents), 0) FROM payments.refunds WHERE status <> 'failed'`).Scan(&cents)
	if err != nil {
		h.fail("the database refuses", "%v", err)
	}
	return cents
}

func givenBack(cents int64) func(h *history) bool {
	return func(h *history) bool { return h.givenBack() == cents }
}

// refundIntent names the payment as gateway B's panel shows it.
func refundIntent(h *history) response {
	intent := str(h.chargesB()[0], "payment_intent")
	return admin(http.MethodPost, "/admin/gwb/subscriptions/%s/refund", object{
		"reason": "as promised", "payment_intent_id": intent,
	})(h)
}

func syncPlan(h *history) response {
	return h.request(http.MethodPost, "/plans/"+planPremium+"/sync-gwb", h.admin, nil)
}

func changePlan(h *history) {
	h.exec(`UPDATE subscriptions.plans SET amount_cents = 7990, name = 'More' WHERE plan_id = 'premium'`)
}

// newPlan is the plan as nobody has changed it.
func newPlan(h *history) {
	h.exec(`UPDATE subscriptions.plans SET amount_cents = 6990, name = plan_id WHERE plan_id = 'premium'`)
}
