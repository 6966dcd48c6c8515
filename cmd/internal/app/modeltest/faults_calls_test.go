package modeltest_test

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// customerScenarios are what customers do.
var customerScenarios = []scenario{
	{
		name: "gwb_subscribe", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody(visa)), done: oneLive("active"),
	},
	{
		name: "gwb_subscribe", what: "declined", key: true, good: []int{201},
		do:   customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody("pm_card_visa_chargeDeclined")),
		done: noneLive,
	},
	{
		name: "gwb_subscribe", what: "to authenticate", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody("pm_card_authenticationRequired")),
	},
	{
		name: "gwb_subscribe", what: "in place of one that was not authenticated", key: true, good: []int{201},
		again: []int{409},
		given: before(customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody("pm_card_authenticationRequired"))),
		do:    customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody(visa)), done: oneLive("active"),
	},
	{
		name: "gwb_subscribe_pix", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwb/subscribe/pix", pixBody("")), done: oneCode,
	},
	{
		name: "gwb_subscribe_pix", what: "in place of an old one", key: true, good: []int{201}, again: []int{409},
		given: a(before(customerRequest(http.MethodPost, "/gwb/subscribe/pix", pixBody(""))), sleep(25*time.Hour)),
		do:    customerRequest(http.MethodPost, "/gwb/subscribe/pix", pixBody("")), done: oneCode,
	},
	{
		name: "gwa_subscribe", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, "")), done: oneLive("active"),
	},
	{
		name: "gwa_subscribe", what: "declined", key: true, good: []int{400}, also: []int{201}, again: []int{400},
		do: customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(3, "")), done: noneLive,
	},
	{
		name: "gwa_subscribe", what: "with a discount", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, codeTen)), done: oneLive("active"),
	},
	{
		name: "gwa_subscribe", what: "first month free", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, codeFree)), done: oneLive("active"),
	},
	{
		name: "gwa_subscribe_pix", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwa/subscribe/pix", pixBody("")), done: oneCode,
	},
	{
		name: "gwa_subscribe_pix", what: "with a discount", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwa/subscribe/pix", pixBody(codeTen)), done: oneCode,
	},
	{
		name: "gwa_subscribe_pix", what: "automatic by the setting", key: true, good: []int{201}, again: []int{409},
		given: func(h *history) { h.pixMode = "recurring" },
		do:    customerRequest(http.MethodPost, "/gwa/subscribe/pix", pixBody("")), done: oneCode,
	},
	{
		name: "gwa_subscribe_pix", what: "in place of an old one", key: true, good: []int{201}, again: []int{409},
		given: a(before(customerRequest(http.MethodPost, "/gwa/subscribe/pix", pixBody(""))), sleep(25*time.Hour)),
		do:    customerRequest(http.MethodPost, "/gwa/subscribe/pix", pixBody("")), done: oneCode,
	},
	{
		name: "gwa_subscribe_pix_automatic", key: true, good: []int{201}, again: []int{409},
		do: customerRequest(http.MethodPost, "/gwa/subscribe/pix-automatico", pixBody("")), done: oneCode,
	},
	{
		name: "gwa_subscribe_pix_automatic", what: "in place of an old one", key: true, good: []int{201},
		again: []int{409},
		given: a(before(customerRequest(http.MethodPost, "/gwa/subscribe/pix-automatico", pixBody(""))),
			sleep(25*time.Hour)),
		do: customerRequest(http.MethodPost, "/gwa/subscribe/pix-automatico", pixBody("")), done: oneCode,
	},
	{
		name: "my_pix_qr_get", what: "gwa", good: []int{200}, also: []int{404}, lapses: true,
		given: a(pixA, forgetCode), do: customerRequest(http.MethodGet, "/customers/me/pix-qr", nil), done: oneCode,
	},
	{
		name: "my_pix_qr_get", what: "gwa automatic", good: []int{200}, lapses: true, given: a(automatic, forgetCode),
		do: customerRequest(http.MethodGet, "/customers/me/pix-qr", nil), done: oneCode,
	},
	{
		name: "my_pix_qr_get", what: "gwb", good: []int{200}, given: a(pixB, forgetCode),
		do: customerRequest(http.MethodGet, "/customers/me/pix-qr", nil), done: oneCode,
	},
	{
		name: "gwb_subscription_get", good: []int{200},
		given: a(before(customerRequest(http.MethodPost, "/gwb/subscribe",
			tokenBody("pm_card_authenticationRequired"))), authenticated),
		do: customerRequest(http.MethodGet, "/gwb/subscription", nil), done: oneLive("active"),
	},
	{
		name: "gwb_subscription_card", good: []int{200}, given: cardB,
		do:   customerRequest(http.MethodPut, "/gwb/subscription/payment-method", object{"payment_method_id": visa}),
		done: oneLive("active"),
	},
	{
		name: "gwb_subscription_card", what: "with an open invoice", good: []int{200}, given: a(cardB, failedRenewal),
		do:   customerRequest(http.MethodPut, "/gwb/subscription/payment-method", object{"payment_method_id": visa}),
		done: oneLive("active"),
	},
	{
		name: "gwa_subscription_card", good: []int{200}, given: cardA,
		do: customerRequest(http.MethodPut, "/gwa/subscription/credit-card", object{
			"credit_card": card(0), "credit_card_holder_info": holder(),
		}),
		done: oneLive("active"),
	},
	{
		name: "my_subscription_withdraw", what: "gwa card", good: []int{200}, again: []int{200}, given: cardA,
		do: customerRequest(http.MethodPost, "/customers/me/subscription/withdraw", nil), done: noneLive,
	},
	{
		name: "my_subscription_withdraw", what: "gwb card", rests: 26 * time.Hour, good: []int{200},
		again: []int{200}, given: cardB,
		do:   customerRequest(http.MethodPost, "/customers/me/subscription/withdraw", nil),
		done: noneLive,
	},
	{
		name: "my_subscription_withdraw", what: "automatic PIX", good: []int{200}, again: []int{200},
		given: a(automatic, paid), do: customerRequest(http.MethodPost, "/customers/me/subscription/withdraw", nil),
		done: noneLive,
	},
	{
		name: "my_subscription_cancel", what: "gwa card", good: []int{200}, again: []int{404}, given: cardA,
		do: customerRequest(http.MethodDelete, "/customers/me/subscription", nil), done: noneLive,
	},
	{
		name: "my_subscription_cancel", what: "gwb card", good: []int{200}, again: []int{404}, given: cardB,
		do: customerRequest(http.MethodDelete, "/customers/me/subscription", nil), done: noneLive,
	},
	{
		name: "my_subscription_cancel", what: "gwa PIX", good: []int{200}, again: []int{404}, given: pixA,
		do: customerRequest(http.MethodDelete, "/customers/me/subscription", nil), done: noneLive,
	},
	{
		name: "my_subscription_cancel", what: "gwb PIX", good: []int{200}, again: []int{404}, given: pixB,
		do: customerRequest(http.MethodDelete, "/customers/me/subscription", nil), done: noneLive,
	},
	{
		name: "my_subscription_cancel", what: "automatic PIX unpaid", good: []int{200}, again: []int{404},
		given: automatic, do: customerRequest(http.MethodDelete, "/customers/me/subscription", nil), done: noneLive,
	},
	{
		name: "my_subscription_cancel", what: "automatic PIX", good: []int{200}, again: []int{404},
		given: a(automatic, paid), do: customerRequest(http.MethodDelete, "/customers/me/subscription", nil),
		done: noneLive,
	},
	{
		name: "my_subscription_cancel", what: "gwa card, at the period's end", good: []int{200}, given: cardA,
		do: cancelAtEnd, done: endsWithPeriod,
	},
	{
		name: "my_subscription_cancel", what: "gwb card, at the period's end", good: []int{200}, given: cardB,
		do: cancelAtEnd, done: endsWithPeriod,
	},
	{
		name: "my_subscription_cancel", what: "automatic PIX, at the period's end", good: []int{200},
		given: a(automatic, paid), do: cancelAtEnd, done: endsWithPeriod,
	},
	{
		name: "gwa_subscription_cancel", good: []int{200}, again: []int{404}, given: cardA,
		do: customerRequest(http.MethodDelete, "/gwa/subscription", nil), done: noneLive,
	},
	{
		name: "gwb_subscription_cancel", good: []int{200}, given: cardB,
		do: customerRequest(http.MethodDelete, "/gwb/subscription", nil), done: endsWithPeriod,
	},
	{
		name: "my_subscription_renew", what: "gwa card", key: true, good: []int{200}, again: []int{404}, given: cardA,
		do:   customerRequest(http.MethodPut, "/customers/me/subscription/renew", renewBody()),
		anew: customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, "")), done: oneLive("active"),
	},
	{
		name: "my_subscription_renew", what: "gwb card", key: true, good: []int{200}, again: []int{404}, given: cardB,
		do:   customerRequest(http.MethodPut, "/customers/me/subscription/renew", renewBody()),
		anew: customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody(visa)), done: oneLive("active"),
	},
	{
		name: "my_subscription_renew", what: "gwa PIX", key: true, good: []int{200}, again: []int{404}, given: pixA,
		do:   customerRequest(http.MethodPut, "/customers/me/subscription/renew", renewBody()),
		anew: customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, "")), done: oneLive("active"),
	},
	{
		name: "my_subscription_renew", what: "gwb PIX", key: true, good: []int{200}, again: []int{404}, given: pixB,
		do:   customerRequest(http.MethodPut, "/customers/me/subscription/renew", renewBody()),
		anew: customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody(visa)), done: oneLive("active"),
	},
	{
		name: "my_subscription_renew", what: "taken back", good: []int{200}, again: []int{400},
		given: a(cardB, before(cancelAtEnd)),
		do:    customerRequest(http.MethodPut, "/customers/me/subscription/renew", object{}),
		done:  recurs,
	},
	{
		name: "my_subscription_renew_pix", what: "gwa", key: true, good: []int{201}, given: a(pixA, paid, nearTheEnd),
		do: customerRequest(http.MethodPost, "/customers/me/subscription/renew/pix", nil), done: oneRenewalCode,
	},
	{
		name: "my_subscription_renew_pix", what: "gwb", key: true, good: []int{201}, given: a(pixB, paid, nearTheEnd),
		do: customerRequest(http.MethodPost, "/customers/me/subscription/renew/pix", nil), done: oneRenewalCode,
	},
	{
		name: "subscription_activate", good: []int{200}, given: a(cardB, before(cancelAtEnd)),
		do: admin(http.MethodPost, "/admin/subscriptions/%s/activate", nil), done: recurs,
	},
	{name: "token_post", beside: true, what: "gwa card", good: []int{200}, given: cardA, do: logIn},
	{name: "token_post", beside: true, what: "gwb card", good: []int{200}, given: cardB, do: logIn},
	{name: "token_post", beside: true, what: "gwa PIX", good: []int{200}, given: pixA, do: logIn},
	{name: "token_post", beside: true, what: "gwb PIX", good: []int{200}, given: pixB, do: logIn},
}

// signupScenarios are what customers do who gave a promo code at signup.
var signupScenarios = []scenario{
	{
		name: "gwb_subscribe", what: "with the code of the signup", key: true, good: []int{201}, again: []int{409},
		given: signupCode(codeTen), do: customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody(visa)),
		done: oneLive("active"),
	},
	{
		name: "gwb_subscribe", what: "with the code of the signup, first month free", key: true, good: []int{201},
		again: []int{409}, given: signupCode(codeFree),
		do:   customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody(visa)),
		done: oneLive("active"),
	},
}

const visa = "pm_card_visa"

// customerRequest makes a request of the first customer.
func customerRequest(method, path string, body any) func(h *history) response {
	return func(h *history) response { return h.request(method, path, h.persons[0].token, body) }
}

// before makes a request part of what comes before.
func before(do func(h *history) response) func(h *history) {
	return func(h *history) {
		if got := do(h); got.status >= http.StatusBadRequest || got.status == 0 {
			h.fail("what comes before does not work", "%d %s", got.status, got.body)
		}
		h.travel(inOrder)
		h.pass(step{}, time.Minute)
	}
}

// a puts things that come before one after the other.
func a(all ...func(h *history)) func(h *history) {
	return func(h *history) {
		for _, one := range all {
			one(h)
		}
	}
}

var (
	cardA     = before(customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, "")))
	cardB     = before(customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody(visa)))
	pixA      = before(customerRequest(http.MethodPost, "/gwa/subscribe/pix", pixBody("")))
	pixB      = before(customerRequest(http.MethodPost, "/gwb/subscribe/pix", pixBody("")))
	automatic = before(customerRequest(http.MethodPost, "/gwa/subscribe/pix-automatico", pixBody("")))
)

// signupCode: the first customer gave the code at signup.
func signupCode(code string) func(h *history) {
	return func(h *history) { h.signedUpWith(&h.persons[0], code) }
}

func tokenBody(token string) object { return object{"plan_id": planPlus, "payment_method_id": token} }

func cardBody(n int, code string) object {
	body := object{"plan_id": planPlus, "credit_card": card(n), "credit_card_holder_info": holder()}
	if code != "" {
		body["promo_code"] = code
	}
	return body
}

func pixBody(code string) object {
	body := object{"plan_id": planPlus}
	if code != "" {
		body["promo_code"] = code
	}
	return body
}

func renewBody() object {
	return object{"payment_method_id": visa, "credit_card": card(0), "credit_card_holder_info": holder()}
}

// sleep lets time pass in which no job is worked and no webhook comes.
func sleep(span time.Duration) func(h *history) {
	return func(h *history) { h.moveTo(h.now().Add(span)) }
}

func pass(span time.Duration) func(h *history) {
	return func(h *history) { h.pass(step{}, span) }
}

// forgetCode makes the code of a PIX one that the gateway's first answer did not
// bring.
func forgetCode(h *history) {
	h.exec(`UPDATE subscriptions.subscriptions SET pix_payload = NULL, pix_image = NULL, pix_expires_at = NULL`)
}

func (h *history) exec(query string) {
	if _, err := h.db.Exec(context.Background(), query); err != nil {
		h.fail("the database refuses", "%v", err)
	}
}

// authenticated has the payer's bank be content; the platform does not hear of it
// yet.
func authenticated(h *history) {
	actionsByName["authentication done"].act(h, step{})
}

// paid has what waits for a payer be paid.
func paid(h *history) {
	actionsByName["pix paid"].act(h, step{})
	h.gateways.collect()
	h.travel(inOrder)
}

func failedRenewal(h *history) {
	renewAtGateway(h, step{}, "pm_card_chargeCustomerFail")
	h.gateways.collect()
	h.travel(inOrder)
}

func logIn(h *history) response {
	var got response
	h.process.run(context.Background(), func(ctx context.Context) {
		got = h.send(ctx, http.MethodPost, "/token", "", loginForm(h.persons[0].name))
	})
	h.logStep("POST /token: %d", got.status)
	return got
}

// liveStates are the states of the first customer's live subscriptions.
func liveStates(h *history) (states []string) {
	for _, sub := range h.all() {
		if sub.CustomerID == h.persons[0].id &&
			slices.Contains([]string{"active", "pending", "suspended"}, sub.Status) {
			states = append(states, sub.Status)
		}
	}
	return states
}

func oneLive(state string) func(h *history) bool {
	return func(h *history) bool { return slices.Equal(liveStates(h), []string{state}) }
}

func noneLive(h *history) bool { return len(liveStates(h)) == 0 }

// oneCode: there is one PIX to be paid, and its code can be shown.
func oneCode(h *history) bool {
	return slices.Equal(liveStates(h), []string{"pending"}) &&
		customerRequest(http.MethodGet, "/customers/me/pix-qr", nil)(h).status == http.StatusOK
}

// nearTheEnd goes on to some days before the paid month ends.
var nearTheEnd = pass(25 * 24 * time.Hour)

// oneRenewalCode: there is one code that renews, and it can be shown.
func oneRenewalCode(h *history) bool {
	var n int
	err := h.db.QueryRow(context.Background(),
		`SELECT count(*) FROM subscriptions.renewal_charges WHERE state = 'open' AND NOT intent_open`).Scan(&n)
	return err == nil && n == 1 && oneLive("active")(h) &&
		customerRequest(http.MethodGet, "/customers/me/pix-qr", nil)(h).status == http.StatusOK
}

var cancelAtEnd = customerRequest(http.MethodDelete, "/customers/me/subscription?at=period_end", nil)

// recurs: the one subscription has no end.
func recurs(h *history) bool { return oneLive("active")(h) && !endsWithPeriod(h) }

func endsWithPeriod(h *history) bool {
	var n int
	err := h.db.QueryRow(context.Background(),
		`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active' AND cancel_at_period_end AND expires_at IS NOT NULL
		AND (gateway = 'gwb' OR gateway_deleted_at IS NOT NULL)`).Scan(&n)
	return err == nil && n == 1
}
