package main

import (
	"fmt"
	"image/color"
	"strings"
)

var (
	blue = color.RGBA{B: 255, A: 255}
	red  = color.RGBA{R: 255, A: 255}
)

// The gateways' public test cards.
const (
	cardA     = "5162306219378829"
	declinedA = "5184019740373151"
	visa      = "pm_card_visa"
)

func gwaCard(number string, more ...object) object {
	body := object{
		"plan_id": "plus",
		"credit_card": object{
			"holderName": "ANA SOUZA", "number": number, "expiryMonth": "05", "expiryYear": "2035", "ccv": "318",
		},
		"credit_card_holder_info": object{
			"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
			"addressNumber": "150", "phone": "1138830000",
		},
	}
	for _, m := range more {
		for k, v := range m {
			if body[k] = v; v == nil {
				delete(body, k)
			}
		}
	}
	return body
}

// plans: what is sold.
func (s *story) plans() {
	s.begin("plans")
	s.get(nil, "/plans")
	s.get(s.admin, "/plans/admin")
	id := s.post(s.admin, "/plans", []object{{"plan_id": "solo", "name": "Solo", "amount": 990, "tier": 1}}).id()
	s.post(s.admin, "/plans", []object{{"plan_id": "solo", "name": "Solo", "amount": 990}})
	s.post(s.admin, "/plans", []object{{"plan_id": "cheap", "name": "Cheap", "amount": 1}})
	s.post(s.admin, "/plans", []object{{"plan_id": "Bad Id", "name": "Bad", "amount": 990}})
	s.put(s.admin, "/plans", []object{{"_id": id, "amount": 1090, "description": "For one"}})
	s.put(s.admin, "/plans", []object{{"_id": id, "plan_id": "other"}})
	s.post(s.admin, "/plans/solo/sync-gwb", nil)
	s.post(s.admin, "/plans/basic/sync-gwb", nil)
	s.post(s.admin, "/plans/premium/sync-gwb", nil)
	s.post(s.admin, "/plans/nothing/sync-gwb", nil)
	s.post(s.admin, "/plans/solo/inactivate", nil)
	s.get(nil, "/plans")
	s.post(s.admin, "/plans/solo/activate", nil)
	s.post(s.admin, "/plans/solo/activate", nil)
	s.put(s.admin, "/plans", []object{{"_id": id, "amount": 1190}})
	s.get(s.admin, "/plans/admin", "sort", `{"amount":1}`)
	s.post(s.admin, "/plans/solo/inactivate", nil)
	s.remove(s.admin, "/plans", []object{{"_id": id}})
	s.get(nil, "/plans", "qty_docs_page", "1", "current_page", "1")
	s.collect()
}

// customerView is what a customer sees of a subscription.
func (s *story) customerView(who *person) reply {
	a := s.get(who, "/customers/me/subscription")
	s.get(who, "/videos", "qty_docs_page", "1")
	return a
}

// chargebackOf is the newest chargeback of a subscription.
func (s *story) chargebackOf(id string) string {
	return firstOf(s.get(s.admin, "/subscriptions/"+id+"/refunds"), "chargebacks/0/chargeback_id")
}

// payments is what an admin sees of it.
func (s *story) payments(id string) reply {
	a := s.get(s.admin, "/subscriptions/"+id+"/payments")
	s.get(s.admin, "/subscriptions/"+id+"/refunds")
	return a
}

func (s *story) sub(who *person) reply {
	return s.get(s.admin, "/subscriptions", "query", fmt.Sprintf(`{"customer_id":"%s"}`, who.id), "sort",
		`{"register_date":-1}`)
}

// cardsAtB: subscriptions at gateway B.
func (s *story) cardsAtB() {
	s.begin("cards at gateway B")
	bea := s.signUp("bea")
	s.customerView(bea)
	s.post(bea, "/gwb/subscribe", object{"plan_id": "nothing", "payment_method_id": visa})
	s.post(bea, "/gwb/subscribe", object{"plan_id": "plus"})
	s.post(bea, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": "pm_nothing"})
	s.post(bea, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": "pm_card_visa_chargeDeclined"})
	s.post(bea, "/gwb/subscribe", object{
		"plan_id": "plus", "payment_method_id": "pm_card_visa_chargeDeclinedInsufficientFunds",
	})
	s.post(bea, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": "pm_card_chargeDeclinedExpiredCard"})
	s.post(bea, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": "pm_card_chargeCustomerFail"})
	s.customerView(bea)
	s.post(bea, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa}, key("bea-1"))
	s.post(bea, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa}, key("bea-1"))
	s.post(bea, "/gwb/subscribe", object{"plan_id": "basic", "payment_method_id": visa}, key("bea-1"))
	s.post(bea, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
	s.customerView(bea)
	s.get(bea, "/gwb/subscription")
	s.get(bea, "/gwa/subscription")
	s.get(bea, "/customers/me/pix-qr")
	s.post(bea, "/customers/me/subscribe", nil)
	s.put(bea, "/gwb/subscription/payment-method", object{"payment_method_id": "pm_card_mastercard"})
	s.put(bea, "/gwb/subscription/payment-method", object{"payment_method_id": "pm_card_visa_chargeDeclined"})
	s.put(bea, "/gwb/subscription/payment-method", object{"payment_method_id": "nothing"})
	s.put(bea, "/gwa/subscription/credit-card", gwaCard(cardA, object{"plan_id": nil}))
	s.remove(bea, "/customers/me/subscription", nil, requesting("at", "x"))
	s.remove(bea, "/customers/me/subscription", nil, requesting("at", "period_end"))
	s.remove(bea, "/customers/me/subscription", nil, requesting("at", "period_end"))
	s.customerView(bea)
	s.put(bea, "/customers/me/subscription/renew", object{})
	s.customerView(bea)
	s.remove(bea, "/gwb/subscription", nil)
	s.remove(bea, "/gwb/subscription", nil)
	s.customerView(bea)
	id := s.sub(bea).id()
	s.payments(id)
	s.put(bea, "/customers/me/subscription/renew", object{"payment_method_id": visa}, key("bea-2"))
	s.put(bea, "/customers/me/subscription/renew", object{"payment_method_id": visa}, key("bea-2"))
	s.customerView(bea)
	s.sub(bea)

	// 3-D Secure, done and failed.
	for _, name := range []string{"cleo", "cyd"} {
		who := s.signUp(name)
		a := s.post(who, "/gwb/subscribe", object{
			"plan_id": "plus", "payment_method_id": "pm_card_authenticationRequired",
		})
		s.customerView(who)
		secret := firstOf(a, "info/client_secret", "info/payment/client_secret", "client_secret",
			"info/payment_intent/client_secret")
		intent, _, _ := strings.Cut(secret, "_secret")
		if name == "cleo" {
			s.control("gwb", "POST", "/intents/"+intent+"/authenticate", nil)
		} else {
			s.control("gwb", "POST", "/intents/"+intent+"/fail-authentication", nil)
		}
		s.customerView(who)
		s.payments(s.sub(who).id())
	}

	// A trial, once.
	tess := s.signUp("tess")
	s.post(tess, "/gwb/subscribe", object{"plan_id": "premium", "payment_method_id": visa})
	s.customerView(tess)
	s.get(tess, "/customers/me/data")
	s.remove(tess, "/gwb/subscription", nil)
	s.post(tess, "/gwb/subscribe", object{"plan_id": "premium", "payment_method_id": visa})
	s.customerView(tess)
	s.sub(tess)
	s.payments(s.sub(tess).id())
	s.collect()
}

// cardsAtA: subscriptions at gateway A.
func (s *story) cardsAtA() {
	s.begin("cards at gateway A")
	dan := s.signUp("dan")
	s.post(dan, "/gwa/subscribe", gwaCard(declinedA))
	s.post(dan, "/gwa/subscribe", gwaCard("1234"))
	s.post(dan, "/gwa/subscribe", gwaCard(cardA, object{"plan_id": "nothing"}))
	s.post(dan, "/gwa/subscribe", gwaCard(cardA, object{"credit_card": nil}))
	s.post(dan, "/gwa/subscribe", gwaCard(cardA, object{"promo_code": "NOCODE"}))
	s.customerView(dan)
	s.post(dan, "/gwa/subscribe", gwaCard(cardA), key("dan-1"))
	s.post(dan, "/gwa/subscribe", gwaCard(cardA), key("dan-1"))
	s.post(dan, "/gwa/subscribe", gwaCard(cardA))
	s.customerView(dan)
	s.get(dan, "/gwa/subscription")
	s.get(dan, "/gwb/subscription")
	s.put(dan, "/gwa/subscription/credit-card", gwaCard("4444444444444444", object{"plan_id": nil}))
	s.put(dan, "/gwa/subscription/credit-card", gwaCard(declinedA, object{"plan_id": nil}))
	s.put(dan, "/gwb/subscription/payment-method", object{"payment_method_id": visa})
	s.remove(dan, "/gwa/subscription", nil, requesting("at", "period_end"))
	s.customerView(dan)
	s.put(dan, "/customers/me/subscription/renew", gwaCard(cardA, object{"plan_id": nil}))
	s.customerView(dan)
	s.sub(dan)
	s.payments(s.sub(dan).id())

	dot := s.signUp("dot")
	s.post(dot, "/gwa/subscribe", gwaCard(cardA, object{"plan_id": "basic"}))
	s.remove(dot, "/gwa/subscription", nil)
	s.customerView(dot)
	s.remove(dot, "/gwa/subscription", nil)

	edo := s.signUp("edo")
	s.post(edo, "/gwa/subscribe", gwaCard(cardA, object{"plan_id": "premium"}))
	s.customerView(edo)
	s.post(edo, "/customers/me/subscription/withdraw", nil, key("edo-1"))
	s.customerView(edo)
	s.collect()

	fay := s.signUp("fay")
	s.post(fay, "/gwa/subscribe", gwaCard(cardA))
	id := s.sub(fay).id()
	s.post(fay, "/customers/me/subscription/withdraw", nil, key("fay-1"))
	s.post(fay, "/customers/me/subscription/withdraw", nil, key("fay-1"))
	s.post(fay, "/customers/me/subscription/withdraw", nil)
	s.settle()
	s.customerView(fay)
	s.payments(id)
	s.collect()
}

// pix: codes of both gateways, and automatic PIX.
func (s *story) pix() {
	s.begin("PIX")
	gus := s.signUp("gus")
	a := s.post(gus, "/gwa/subscribe/pix", object{"plan_id": "plus"}, key("gus-1"))
	s.post(gus, "/gwa/subscribe/pix", object{"plan_id": "plus"}, key("gus-1"))
	s.post(gus, "/gwa/subscribe/pix", object{"plan_id": "nothing"})
	s.get(gus, "/customers/me/pix-qr")
	s.customerView(gus)
	s.control("gwa", "POST", "/pix/pay", object{"payload": a.text("info/pix/payload")})
	s.customerView(gus)
	s.get(gus, "/customers/me/pix-qr")
	s.get(gus, "/gwa/subscription")
	s.payments(s.sub(gus).id())
	s.post(gus, "/customers/me/subscription/renew/pix", nil)
	s.control("gwa", "POST", "/pix/pay", object{"payload": a.text("info/pix/payload")})

	hal := s.signUp("hal")
	b := s.post(hal, "/gwb/subscribe/pix", object{"plan_id": "plus"})
	s.get(hal, "/customers/me/pix-qr")
	s.customerView(hal)
	s.control("gwb", "POST", "/payment_intents/"+s.intent(b)+"/pay", nil)
	s.customerView(hal)
	s.get(hal, "/gwb/subscription")
	s.payments(s.sub(hal).id())

	// Unpaid ones: expired at the gateway, and given up.
	ida := s.signUp("ida")
	b = s.post(ida, "/gwb/subscribe/pix", object{"plan_id": "basic"})
	s.control("gwb", "POST", "/payment_intents/"+s.intent(b)+"/expire", nil)
	s.customerView(ida)
	s.get(ida, "/customers/me/pix-qr")
	a = s.post(ida, "/gwa/subscribe/pix", object{"plan_id": "basic"})
	s.customerView(ida)
	s.remove(ida, "/customers/me/subscription", nil)
	s.customerView(ida)
	s.control("gwa", "POST", "/pix/pay", object{"payload": a.text("info/pix/payload")}) // money for what was given up
	s.get(s.admin, "/admin/finance/unapplied-payments")

	// Automatic PIX.
	joe := s.signUp("joe")
	s.put(s.admin, "/admin/config/pix-subscription-mode", object{"mode": "recurring"})
	a = s.post(joe, "/gwa/subscribe/pix-automatico", object{"plan_id": "plus"}, key("joe-1"))
	s.post(joe, "/gwa/subscribe/pix-automatico", object{"plan_id": "plus"}, key("joe-1"))
	s.customerView(joe)
	s.get(joe, "/customers/me/pix-qr")
	s.control("gwa", "POST", "/pix/pay", object{
		"payload": firstOf(a, "info/pix/payload", "info/payload", "info/authorization/payload"),
	})
	s.customerView(joe)
	s.get(joe, "/gwa/subscription")
	s.payments(s.sub(joe).id())

	kim := s.signUp("kim")
	s.post(kim, "/gwa/subscribe/pix-automatico", object{"plan_id": "plus"})
	auth := s.sub(kim).text("docs/0/gwa_pix_auth_id")
	s.control("gwa", "POST", "/authorizations/"+auth+"/refuse", nil)
	s.customerView(kim)
	s.post(kim, "/gwa/subscribe/pix-automatico", object{"plan_id": "basic"})
	auth = s.sub(kim).text("docs/0/gwa_pix_auth_id")
	s.control("gwa", "POST", "/authorizations/"+auth+"/activate", nil)
	s.customerView(kim)
	s.control("gwa", "POST", "/authorizations/"+auth+"/cancel", object{"reason": "CANCELLED_BY_PAYER"})
	s.customerView(kim)
	s.collect()

	lee := s.signUp("lee")
	a = s.post(lee, "/gwa/subscribe/pix-automatico", object{"plan_id": "plus"})
	s.control("gwa", "POST", "/pix/pay", object{
		"payload": firstOf(a, "info/pix/payload", "info/payload", "info/authorization/payload"),
	})
	s.remove(lee, "/customers/me/subscription", nil)
	s.customerView(lee)
	s.put(s.admin, "/admin/config/pix-subscription-mode", object{"mode": "manual"})
	s.collect()
}

// intent is the payment intent of an answer with a PIX code of gateway B.
func (s *story) intent(r reply) string {
	id := firstOf(r, "info/payment_intent_id", "info/pix/payment_intent_id", "info/payment/id", "payment/id",
		"order/gateway_payment_id", "info/pix/id", "info/pix/payment_id", "info/payment_id")
	return id
}

// hooks: what anybody may send to the addresses of the webhooks.
func (s *story) hooks() {
	s.begin("webhooks")
	ready := func(path string) string { return at(s.pairs[0].Answer, "b/"+path) }
	token, secret := ready("webhooks/gwa_token"), ready("webhooks/gwb_secret")
	a := func(token, body string) {
		s.post(nil, "/webhooks/gwa", body, func(r *request) {
			if token != "" {
				r.Headers["asaas-access-token"] = token
			}
		})
	}
	b := func(secret, age, body string) {
		s.post(nil, "/webhooks/gwb", body, func(r *request) { r.Sign = &signature{secret, age} })
	}
	confirmed := `{"id":"evt_05b708f961d739ea7eba7e4db318f621&1000001","event":"PAYMENT_CONFIRMED","dateCreated":"2031-03-03 12:00:00","payment":{"object":"payment","id":"pay_nobodys000000001","customer":"cus_000000000001","value":29.9,"billingType":"CREDIT_CARD","status":"CONFIRMED"}}`
	a("", confirmed)
	a("wrong", confirmed)
	a(token+"x", confirmed)
	a(token, confirmed)
	a(token, confirmed)
	a(token, strings.Replace(confirmed, "PAYMENT_CONFIRMED", "PAYMENT_UNHEARD_OF", 1))
	for i, name := range []string{
		"PAYMENT_RECEIVED", "PAYMENT_REFUNDED", "PAYMENT_OVERDUE", "PAYMENT_DELETED", "PAYMENT_CHARGEBACK_REQUESTED",
		"PAYMENT_CREATED", "PAYMENT_UPDATED", "PAYMENT_PARTIALLY_REFUNDED", "PAYMENT_REFUND_IN_PROGRESS",
	} {
		a(token, strings.NewReplacer("PAYMENT_CONFIRMED", name, "1000001", "200000"+string(rune('0'+i))).
			Replace(confirmed))
	}
	for i, name := range []string{"SUBSCRIPTION_DELETED", "SUBSCRIPTION_UPDATED", "SUBSCRIPTION_INACTIVATED"} {
		a(token, `{"id":"evt_05b708f961d739ea7eba7e4db318f622&30000`+string(rune('0'+i))+`","event":"`+name+
			`","dateCreated":"2031-03-03 12:00:00","subscription":{"object":"subscription","id":"sub_nobodys000000001","customer":"cus_000000000001","value":29.9,"status":"ACTIVE"}}`)
	}
	a(token, `{`)
	a(token, `{}`)
	a(token, `[]`)
	a(token, `{"id":"","event":"PAYMENT_CONFIRMED"}`)
	a(token, `{"id":"evt_1&1","event":"PAYMENT_CONFIRMED","payment":{"id":12}}`)
	paid := `{"id":"evt_1SO7fHWaNks3YOHIw33U8gS9","object":"event","type":"invoice.paid","created":1930316400,"livemode":false,"data":{"object":{"id":"in_1SO7fHWaNks3YOHIw33U8gS9","object":"invoice","customer":"cus_nobodys0000001","subscription":"sub_1SO7fHWaNks3YOHIw33U8gS9","amount_paid":2990,"currency":"brl","status":"paid","created":1930316400}}}`
	s.post(nil, "/webhooks/gwb", paid)
	s.post(nil, "/webhooks/gwb", paid, header("Stripe-Signature", "t=1,v1=00"))
	s.post(nil, "/webhooks/gwb", paid, header("Stripe-Signature", "nonsense"))
	b("whsec_other", "", paid)
	b(secret, "10m", paid)
	b(secret, "", paid)
	b(secret, "", paid)
	for i, name := range []string{
		"customer.subscription.updated", "customer.subscription.deleted", "charge.refunded", "charge.dispute.created",
		"payment_intent.succeeded", "invoice.payment_failed", "unheard.of",
	} {
		b(secret, "", strings.NewReplacer("invoice.paid", name, "S9\",\"object\":\"event",
			string(rune('a'+i))+"9\",\"object\":\"event").Replace(paid))
	}
	b(secret, "", `{`)
	b(secret, "", `{}`)
	b(secret, "", `{"id":"evt_1","type":"invoice.paid"}`)
	s.do(nil, "GET", "/webhooks/gwa", nil)
	s.do(nil, "PUT", "/webhooks/gwb", nil)
	logs := s.get(s.admin, "/webhook-logs", "sort", `{"register_date":-1}`, "qty_docs_page", "30")
	s.get(s.admin, "/webhook-logs", "query", `{"gateway":"gwa"}`, "qty_docs_page", "50")
	s.get(s.admin, "/webhook-logs", "query", `{"gateway":"gwb"}`, "qty_docs_page", "50")
	s.get(s.admin, "/webhook-logs/stats")
	s.get(s.admin, "/webhook-logs/stats", "start", "2031-03-01", "end", "2031-03-04")
	s.post(s.admin, "/webhook-logs/"+logs.id()+"/replay", nil, requesting("dry_run", "true"))
	s.post(s.admin, "/webhook-logs/"+logs.id()+"/replay", nil)
	s.post(s.admin, "/webhook-logs/"+nobodys+"/replay", nil)

	// The gateways' own: repeated, of another shape, unknown names, held back.
	s.control("gwb", "PUT", "/shape", object{"shape": "pre-basil"})
	ned := s.signUp("ned")
	s.post(ned, "/gwb/subscribe", object{"plan_id": "basic", "payment_method_id": visa})
	s.customerView(ned)
	sub := s.sub(ned)
	s.control("gwb", "POST", "/subscriptions/"+sub.text("docs/0/gwb_subscription_id")+"/renew", nil)
	s.customerView(ned)
	s.payments(sub.id())
	s.control("gwb", "PUT", "/shape", object{"shape": "dahlia"})
	s.control("gwb", "POST", "/events", object{
		"type": "customer.subscription.updated", "object": sub.text("docs/0/gwb_subscription_id"),
	})
	s.control("gwb", "POST", "/events", object{"type": "some.thing", "object": sub.text("docs/0/gwb_subscription_id")})
	s.customerView(ned)
	oli := s.signUp("oli")
	s.post(oli, "/gwa/subscribe", gwaCard(cardA))
	sub = s.sub(oli)
	s.control("gwa", "POST", "/subscriptions/"+sub.text("docs/0/gwa_subscription_id")+"/renew", object{"fail": false})
	s.customerView(oli)
	s.control("gwa", "POST", "/subscriptions/"+sub.text("docs/0/gwa_subscription_id")+"/renew", object{"fail": true})
	s.customerView(oli)
	s.payments(sub.id())
	s.control("gwa", "POST", "/events", object{
		"event": "SUBSCRIPTION_UPDATED", "id": sub.text("docs/0/gwa_subscription_id"),
	})
	s.control("gwa", "POST", "/events", object{
		"event": "SUBSCRIPTION_DELETED", "id": sub.text("docs/0/gwa_subscription_id"),
	})
	s.customerView(oli)
	s.collect()
}

// promoCodes: made, tried, redeemed.
func (s *story) promoCodes() {
	s.begin("promo codes")
	discount := s.post(s.admin, "/admin/promo-codes", []object{
		{"title": "Ten off", "code": "TENOFF", "code_type": "promo", "discount_first_month": 10, "is_active": true},
	})
	s.post(s.admin, "/admin/promo-codes", []object{{"title": "Ten off", "code": "TENOFF", "code_type": "promo"}})
	s.post(s.admin, "/admin/promo-codes", []object{{"title": "Bad", "code": "TOO LONG", "code_type": "promo"}})
	s.post(s.admin, "/admin/promo-codes", []object{
		{"title": "Bad", "code": "NEGATV", "code_type": "promo", "discount_first_month": -1},
	})
	event := s.post(s.admin, "/events", []object{
		{
			"title": "A gift", "event_date": "2031-06-20T20:00:00Z", "location": "Cine Ipiranga", "capacity": 30,
			"ticket_value": 40, "is_sale_box_office": true,
		},
	}).id()
	gift := s.post(s.admin, "/admin/promo-codes", []object{
		{
			"title": "A ticket", "code": "TICKET", "code_type": "ticket", "event_id": event, "bonus_tickets": 2,
			"is_active": true,
		},
	})
	old := s.post(s.admin, "/admin/promo-codes", []object{
		{
			"title": "Over", "code": "OLDONE", "code_type": "promo", "discount_first_month": 5,
			"valid_until": "2031-03-01T00:00:00Z", "is_active": true,
		},
	})
	id := discount.id()
	s.put(s.admin, "/admin/promo-codes/"+id, object{"subtitle": "Only today"})
	s.put(s.admin, "/admin/promo-codes/"+id, []object{{"_id": id, "subtitle": "Only today"}})
	s.get(s.admin, "/admin/promo-codes/"+id)
	s.get(s.admin, "/admin/promo-codes")
	s.do(s.admin, "POST", "/admin/promo-codes/"+id+"/image", nil, upload("promo.png", picture(80, 40, blue)))
	s.do(s.admin, "POST", "/admin/promo-codes/"+id+"/image", nil, upload("promo.txt", []byte("none")))
	s.get(s.admin, "/admin/promo-codes/"+id)
	s.remove(s.admin, "/admin/promo-codes/"+id+"/image", nil)
	pia := s.signUp("pia")
	for _, code := range []string{"TENOFF", "tenoff", "TICKET", "OLDONE", "NOCODE", ""} {
		s.get(nil, "/customers/validate-promo-code", "code", code)
		s.get(pia, "/customers/validate-promo-code", "code", code)
	}
	s.put(pia, "/customers/me/redeem-promo-code", nil, requesting("code", "NOCODE"))
	s.put(pia, "/customers/me/redeem-promo-code", nil, requesting("code", "OLDONE"))
	s.put(pia, "/customers/me/redeem-promo-code", nil, requesting("code", "TICKET"))
	s.put(pia, "/customers/me/redeem-promo-code", nil, requesting("code", "TICKET"))
	s.get(pia, "/customers/me/promo-codes")
	s.get(pia, "/me/tickets")
	s.post(pia, "/gwa/subscribe", gwaCard(cardA, object{"promo_code": "TENOFF"}))
	s.customerView(pia)
	s.payments(s.sub(pia).id())
	quin := s.signUp("quin")
	a := s.post(quin, "/gwa/subscribe/pix", object{"plan_id": "plus", "promo_code": "TENOFF"})
	s.control("gwa", "POST", "/pix/pay", object{"payload": a.text("info/pix/payload")})
	s.customerView(quin)
	s.payments(s.sub(quin).id())
	rae := s.newcomer("rae")
	rae["promo_code"], rae["verify_email_now"] = "TENOFF", false
	s.post(nil, "/customers/signup", []object{rae})
	s.get(s.admin, "/admin/promo-codes/stats")
	s.get(s.admin, "/admin/events-dashboard/promo-codes")
	s.remove(s.admin, "/admin/promo-codes/"+id, nil)
	s.remove(s.admin, "/admin/promo-codes/"+old.id(), nil)
	s.remove(s.admin, "/admin/promo-codes/"+old.id(), nil)
	s.get(s.admin, "/admin/promo-codes/"+gift.id())
	s.collect()
}
