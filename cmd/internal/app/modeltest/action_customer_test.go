package modeltest_test

import (
	"context"
	"net/http"
	"strconv"

	"github.com/stretchr/testify/require"
)

// customerActions are what customers do.
var customerActions = []action{
	{name: "gwb card", weight: 6, act: func(h *history, s step) {
		if code, _ := withCode(object{}, s.Pick)["promo_code"].(string); code != "" { // the route takes none
			h.signedUpWith(personOf(h, s), code)
		}
		h.customerRequest(s, http.MethodPost, "/gwb/subscribe",
			object{"plan_id": plan(s), "payment_method_id": token(s.Pick)})
	}},
	{name: "gwa card", weight: 6, act: func(h *history, s step) {
		body := object{"plan_id": plan(s), "credit_card": card(s.Pick), "credit_card_holder_info": holder()}
		h.customerRequest(s, http.MethodPost, "/gwa/subscribe", withCode(body, s.Pick))
	}},
	{name: "gwb pix", weight: 4, act: func(h *history, s step) { customerPix(h, s, "/gwb/subscribe/pix") }},
	{name: "gwa pix", weight: 4, act: func(h *history, s step) { customerPix(h, s, "/gwa/subscribe/pix") }},
	{
		name: "gwa automatic", weight: 5,
		act: func(h *history, s step) { customerPix(h, s, "/gwa/subscribe/pix-automatico") },
	},
	{name: "reads", weight: 2, act: func(h *history, s step) {
		h.customerRequest(s, http.MethodGet, "/gwb/subscription", nil)
		h.customerRequest(s, http.MethodGet, "/customers/me/pix-qr", nil)
	}},
	{name: "sync", weight: 2, act: func(h *history, s step) {
		p := personOf(h, s)
		h.process.run(context.Background(),
			func(ctx context.Context) { h.logError("sync", h.subscriptions.SyncSubscription(ctx, p.id)) })
	}},
	{name: "customer cancels", weight: 3, act: func(h *history, s step) {
		path, _ := pick([]string{
			"/gwa/subscription", "/gwb/subscription", "/customers/me/subscription",
			"/customers/me/subscription?at=period_end", "/gwa/subscription?at=period_end",
		}, s.Pick)
		h.customerRequest(s, http.MethodDelete, path, nil)
	}},
	{name: "gwb card change", weight: 2, act: func(h *history, s step) {
		h.customerRequest(s, http.MethodPut, "/gwb/subscription/payment-method",
			object{"payment_method_id": token(s.Pick)})
	}},
	{name: "gwa card change", weight: 2, act: func(h *history, s step) {
		h.customerRequest(s, http.MethodPut, "/gwa/subscription/credit-card", object{
			"credit_card": card(s.Pick), "credit_card_holder_info": holder(),
		})
	}},
	{
		name: "renews without a card", weight: 1,
		act: func(h *history, s step) {
			h.customerRequest(s, http.MethodPut, "/customers/me/subscription/renew", object{})
		},
	},
	{name: "renews", weight: 3, act: func(h *history, s step) {
		h.customerRequest(s, http.MethodPut, "/customers/me/subscription/renew", object{
			"payment_method_id": token(s.Pick), "credit_card": card(s.Pick), "credit_card_holder_info": holder(),
		})
	}},
	{
		name: "renews by pix", weight: 2,
		act: func(h *history, s step) {
			h.customerRequest(s, http.MethodPost, "/customers/me/subscription/renew/pix", nil)
		},
	},
	{name: "deletes account", weight: 1, act: func(h *history, s step) {
		p := personOf(h, s)
		if a := h.customerRequest(s, http.MethodDelete, "/customers/me", nil); a.status == http.StatusOK ||
			a.status == 0 {
			p.gone = isGone(h, p)
		}
	}},
	{name: "signs up", weight: 1, act: func(h *history, s step) {
		if p := personOf(h, s); p.gone {
			h.people++
			*p = h.newPerson(h.t, h.people)
		}
	}},
}

func personOf(h *history, s step) *person { return &h.persons[s.Who%len(h.persons)] }

// customerRequest is a request of the step's customer.
func (h *history) customerRequest(s step, method, path string, body any) response {
	p := personOf(h, s)
	if p.gone {
		return response{}
	}
	return h.request(method, path, p.token, body)
}

func customerPix(h *history, s step, path string) {
	h.months, _ = pick([]int{1, 1, 1, 3, 12, 6}, s.Pick)
	h.customerRequest(s, http.MethodPost, path, withCode(object{"plan_id": plan(s)}, s.Pick))
}

// isGone reports whether the account can be used no more.
func isGone(h *history, p *person) bool {
	return h.send(context.Background(), http.MethodGet, "/customers/me", p.token, nil).status != http.StatusOK
}

func plan(s step) string {
	if s.Pick%5 == 4 {
		return planTrial
	}
	return planPlus
}

// withCode adds a promo code to a third of the bodies.
func withCode(body object, n int) object {
	switch n % 6 {
	case 2:
		body["promo_code"] = codeTen
	case 5:
		body["promo_code"] = codeFree
	}
	return body
}

// signedUpWith gives a customer the code that they gave at signup.
func (h *history) signedUpWith(p *person, code string) {
	_, err := h.db.Exec(context.Background(), "UPDATE accounts.users SET promo_code_used = $2 WHERE id = $1", p.id,
		code)
	require.NoError(h.t, err)
}

// token is a card of gateway B.
func token(n int) string {
	one, _ := pick([]string{
		"pm_card_visa", "pm_card_visa", "pm_card_visa", "pm_card_authenticationRequired", "pm_card_visa",
		"pm_card_chargeCustomerFail", "pm_card_visa", "pm_card_visa_chargeDeclined", "pm_card_visa",
		"pm_card_pendingRefund", "pm_card_authenticationRequired", "pm_card_refundFail",
	}, n)
	return one
}

// card is a card for gateway A; every sixth is declined.
func card(n int) object {
	number := "5162306219378829"
	if n%6 == 3 {
		number = "5184019740373151"
	}
	return object{"holderName": "ANA SOUZA", "number": number, "expiryMonth": "05", "expiryYear": "2099", "ccv": "318"}
}

func holder() object {
	return object{
		"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
		"addressNumber": "150", "phone": strconv.Itoa(1138830000),
	}
}
