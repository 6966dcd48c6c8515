package main

import "fmt"

// tickets: events, and buying in every way.
func (s *story) tickets() {
	s.begin("tickets")
	event := s.post(s.admin, "/events", []object{{
		"title": "Premiere", "code": "PREM", "event_type": "movie_premiere", "event_date": "2031-04-20T22:00:00Z", "location": "Cine Ipiranga", "capacity": 40, "max_per_person": 6, "ticket_value": 60, "is_sale_box_office": true,
	}}).id()
	free := s.post(s.admin, "/events", []object{{"title": "Open door", "event_type": "lecture", "event_date": "2031-04-21T22:00:00Z", "location": "Cine Ipiranga", "capacity": 10, "ticket_value": 0, "is_sale_box_office": true}}).id()
	tiny := s.post(s.admin, "/events", []object{{"title": "Two seats", "event_date": "2031-04-22T22:00:00Z", "location": "Cine Ipiranga", "capacity": 2, "ticket_value": 10, "is_sale_box_office": true}}).id()
	s.post(s.admin, "/events", []object{{"title": "Yesterday", "event_date": "2031-03-01T22:00:00Z", "location": "Cine"}})
	s.post(s.admin, "/events", []object{{"title": "", "event_date": "2031-04-21T22:00:00Z"}})
	s.put(s.admin, "/events", []object{{"_id": event, "description": "Come early"}})
	up := s.do(s.admin, "POST", "/upload-file/archive-records/"+event, nil, upload("poster.png", picture(64, 48, blue)))
	image := firstOf(up, "info/file_id", "docs/0/_id", "file_id", "_id", "info/_id")
	s.put(s.admin, "/events", []object{{"_id": event, "image_id": image}})
	s.get(nil, "/store/events/"+event)
	s.get(nil, "/store/events")
	s.get(nil, "/store/events/"+nobodys)
	s.get(s.admin, "/events")
	s.get(s.admin, "/events", "sort", `{"event_date":-1}`)

	sam := s.signUp("sam")
	buy := func(who *person, way string, body object, more ...func(*request)) reply {
		return s.post(who, "/store/purchase/"+way, body, more...)
	}
	b := buy(sam, "gwb/card", object{"event_id": event, "quantity": 2, "payment_method_id": visa}, key("sam-1"))
	buy(sam, "gwb/card", object{"event_id": event, "quantity": 2, "payment_method_id": visa}, key("sam-1"))
	buy(sam, "gwb/card", object{"event_id": event, "quantity": 3, "payment_method_id": visa}, key("sam-1"))
	buy(sam, "gwb/card", object{"event_id": event, "quantity": 0, "payment_method_id": visa})
	buy(sam, "gwb/card", object{"event_id": event, "quantity": 11, "payment_method_id": visa})
	buy(sam, "gwb/card", object{"event_id": event, "quantity": 5, "payment_method_id": visa})
	buy(sam, "gwb/card", object{"event_id": nobodys, "quantity": 1, "payment_method_id": visa})
	buy(sam, "gwb/card", object{"event_id": event, "quantity": 1, "payment_method_id": "pm_card_visa_chargeDeclined"})
	buy(sam, "gwb/card", object{"event_id": event, "quantity": 1})
	card := func(number string, event string, n int) object {
		return gwaCard(number, object{"plan_id": nil, "event_id": event, "quantity": n})
	}
	buy(sam, "gwa/card", card(cardA, event, 1))
	buy(sam, "gwa/card", card(declinedA, event, 1))
	a := buy(sam, "gwa/pix", object{"event_id": event, "quantity": 1})
	s.get(sam, "/me/ticket-orders")
	s.control("gwa", "POST", "/pix/pay", object{"payload": firstOf(a, "pix/payload")})
	order := a.text("order/_id")
	s.get(sam, "/me/ticket-orders/"+order)
	tom := s.signUp("tom")
	c := buy(tom, "gwb/pix", object{"event_id": event, "quantity": 1})
	s.control("gwb", "POST", "/payment_intents/"+c.text("order/gateway_payment_id")+"/pay", nil)
	s.get(tom, "/me/ticket-orders/"+c.text("order/_id"))
	c = buy(tom, "gwb/pix", object{"event_id": event, "quantity": 1})
	s.control("gwb", "POST", "/payment_intents/"+c.text("order/gateway_payment_id")+"/expire", nil)
	s.get(tom, "/me/ticket-orders/"+c.text("order/_id"))
	buy(tom, "gwb/card", object{"event_id": free, "quantity": 2})
	buy(tom, "gwa/pix", object{"event_id": free, "quantity": 1})
	buy(tom, "gwb/card", object{"event_id": tiny, "quantity": 2, "payment_method_id": visa})
	buy(sam, "gwb/card", object{"event_id": tiny, "quantity": 1, "payment_method_id": visa})
	s.get(nil, "/store/events/"+tiny)
	s.get(tom, "/me/tickets")
	s.get(sam, "/me/ticket-orders/"+c.text("order/_id"))
	s.look()

	// Guests.
	buyer := func(n int) object {
		return object{"full_name": "Guest Number", "email": fmt.Sprintf("guest%d@example.com", n), "tax_id": taxID(500 + n)}
	}
	with := func(o object, k string, v any) object { o[k] = v; return o }
	guest := buy(nil, "checkout/gwb/card", object{"event_id": event, "quantity": 2, "payment_method_id": visa, "buyer": buyer(1)}, key("guest-1"))
	buy(nil, "checkout/gwb/card", object{"event_id": event, "quantity": 2, "payment_method_id": visa, "buyer": buyer(1)}, key("guest-1"))
	buy(nil, "checkout/gwb/card", object{"event_id": event, "quantity": 1, "payment_method_id": visa, "buyer": with(buyer(2), "tax_id", "11111111111")})
	buy(nil, "checkout/gwb/card", object{"event_id": event, "quantity": 1, "payment_method_id": visa, "buyer": with(buyer(2), "email", "nonsense")})
	buy(nil, "checkout/gwa/card", with(card(cardA, event, 1), "buyer", buyer(2)))
	g := buy(nil, "checkout/gwa/pix", object{"event_id": event, "quantity": 1, "buyer": buyer(3)})
	s.control("gwa", "POST", "/pix/pay", object{"payload": firstOf(g, "pix/payload")})
	g = buy(nil, "checkout/gwb/pix", object{"event_id": event, "quantity": 1, "buyer": buyer(4)})
	s.control("gwb", "POST", "/payment_intents/"+g.text("order/gateway_payment_id")+"/pay", nil)
	buy(nil, "checkout/gwb/card", object{"event_id": free, "quantity": 1, "buyer": buyer(5)})
	s.settle()
	s.look()
	link := s.found("guest1@example.com", `/store/ticket-orders/withdraw#(\S+)`)
	s.get(nil, "/store/ticket-orders/withdraw")
	s.post(nil, "/store/ticket-orders/withdraw", object{"token": "x"})
	s.post(nil, "/store/ticket-orders/withdraw", object{"token": link})
	s.post(nil, "/store/ticket-orders/withdraw", object{"token": link})
	s.get(s.admin, "/tickets", "query", fmt.Sprintf(`{"ticket_order_id":"%s"}`, guest.text("order/_id")))
	s.look()

	// Given back by the buyer, refunded and cancelled by admins.
	s.post(sam, "/me/ticket-orders/"+order+"/withdraw", nil, key("sam-2"))
	s.post(sam, "/me/ticket-orders/"+order+"/withdraw", nil, key("sam-2"))
	s.post(sam, "/me/ticket-orders/"+order+"/withdraw", nil)
	s.post(tom, "/me/ticket-orders/"+order+"/withdraw", nil)
	s.get(sam, "/me/ticket-orders/"+order)
	first := b.text("order/_id")
	s.post(s.admin, "/admin/ticket-orders/"+first+"/refund", object{"reason": " "})
	s.post(s.admin, "/admin/ticket-orders/"+first+"/refund", object{"reason": "Half of it", "ticket_ids": []string{b.text("order/ticket_ids/0")}}, key("r-1"))
	s.post(s.admin, "/admin/ticket-orders/"+first+"/refund", object{"reason": "Half of it", "ticket_ids": []string{b.text("order/ticket_ids/0")}}, key("r-1"))
	s.get(sam, "/me/ticket-orders/"+first)
	s.post(s.admin, "/admin/ticket-orders/"+first+"/refund", object{"reason": "The rest"})
	s.post(s.admin, "/admin/ticket-orders/"+first+"/refund", object{"reason": "Again"})
	s.get(sam, "/me/ticket-orders/"+first)
	p := buy(tom, "gwa/pix", object{"event_id": event, "quantity": 1})
	s.post(s.admin, "/admin/ticket-orders/"+p.text("order/_id")+"/cancel", object{"reason": "Not wanted"}, key("c-1"))
	s.post(s.admin, "/admin/ticket-orders/"+p.text("order/_id")+"/cancel", object{"reason": "Not wanted"})
	s.control("gwa", "POST", "/pix/pay", object{"payload": firstOf(p, "pix/payload")})
	q := buy(tom, "gwa/card", card(cardA, event, 1))
	s.post(s.admin, "/admin/ticket-orders/"+q.text("order/_id")+"/cancel", object{"reason": "Paid, but not wanted"})
	s.get(tom, "/me/ticket-orders/"+q.text("order/_id"))
	s.get(tom, "/me/ticket-orders")

	// Disputes.
	una := s.signUp("una")
	for _, end := range []string{"win", "lose"} {
		o := buy(una, "gwb/card", object{"event_id": event, "quantity": 1, "payment_method_id": visa})
		d := s.control("gwb", "POST", "/charges/"+o.text("order/gateway_payment_id")+"/dispute", object{"reason": "fraudulent", "inquiry": false})
		s.get(una, "/me/ticket-orders/"+o.text("order/_id"))
		s.get(una, "/me/tickets")
		s.post(s.admin, "/admin/ticket-orders/"+o.text("order/_id")+"/refund", object{"reason": "Under a dispute"})
		s.control("gwb", "POST", "/disputes/"+d.text("id")+"/"+end, nil)
		s.get(una, "/me/ticket-orders/"+o.text("order/_id"))
		s.get(una, "/me/tickets")
	}
	s.look()

	// An event that is moved, and one that is called off.
	s.put(s.admin, "/events", []object{{"_id": tiny, "event_date": "2031-04-25T22:00:00Z"}})
	s.settle()
	s.look()
	s.post(s.admin, "/admin/events/"+tiny+"/cancel", object{"reason": "It burned down", "refund": "x"})
	s.post(s.admin, "/admin/events/"+tiny+"/cancel", object{"reason": "It burned down", "refund": "on_request"}, key("e-1"))
	s.get(s.admin, "/admin/events/"+tiny+"/cancellation")
	s.post(s.admin, "/admin/events/"+tiny+"/cancel", object{"reason": "It burned down", "refund": "all"})
	s.wait("1m")
	s.get(s.admin, "/admin/events/"+tiny+"/cancellation")
	s.get(nil, "/store/events/"+tiny)
	s.put(s.admin, "/events", []object{{"_id": tiny, "event_date": "2031-05-25T22:00:00Z"}})
	buy(tom, "gwb/card", object{"event_id": tiny, "quantity": 1, "payment_method_id": visa})
	s.get(tom, "/me/ticket-orders")
	s.look()
	s.get(s.admin, "/admin/events-dashboard/overview")
	s.get(s.admin, "/admin/events-dashboard/events")
	s.get(s.admin, "/admin/events-dashboard/events", "limit", "1", "page", "2", "event_type", "lecture", "active_only", "true")
	s.get(s.admin, "/admin/events-dashboard/events/"+event)
	s.get(s.admin, "/admin/events-dashboard/orders")
	s.get(s.admin, "/admin/events-dashboard/events/export", "format", "csv")
	s.get(s.admin, "/admin/events-dashboard/events/export", "format", "xlsx")
}

// doors: tickets issued by admins, shown, used.
func (s *story) doors() {
	s.begin("at the door")
	event := s.post(s.admin, "/events", []object{{"title": "At the door", "event_date": "2031-03-20T22:00:00Z", "location": "Cine", "capacity": 20, "ticket_value": 20, "is_sale_box_office": true}}).id()
	vic := s.signUp("vic")
	var codes, ids []string
	for range 5 {
		t := s.post(s.admin, "/tickets", object{"customer_id": vic.id, "event_id": event, "title": "A seat"})
		id := firstOf(t, "docs/0/_id", "_id", "info/_id")
		qr := s.get(vic, "/me/tickets/"+id+"/qr")
		codes, ids = append(codes, qr.text("qr_payload")), append(ids, id)
	}
	s.post(s.admin, "/tickets", object{"customer_id": nobodys, "event_id": event})
	s.post(s.admin, "/tickets", object{"customer_id": vic.id, "event_id": nobodys})
	s.get(vic, "/me/tickets", "qty_docs_page", "2")
	s.get(s.admin, "/me/tickets/"+ids[0]+"/qr")
	s.get(s.admin, "/tickets", "query", fmt.Sprintf(`{"event_id":"%s"}`, event))
	s.get(s.admin, "/events/"+event+"/checkin-bundle")
	use := func(code string, more object) {
		s.post(s.admin, "/tickets/consume-qr", merged(object{"qr_payload": code}, more))
	}
	use(codes[0], object{"event_id": event, "nonce": "n-1"})
	use(codes[0], object{"event_id": event, "nonce": "n-1"})
	use(codes[0], object{"event_id": event})
	use(codes[1], object{"event_id": nobodys})
	use(codes[1]+"A", nil)
	use("nonsense", nil)
	s.put(s.admin, "/tickets/"+ids[1]+"/consume", nil)
	s.put(s.admin, "/tickets/"+ids[1]+"/consume", nil)
	s.put(vic, "/tickets/"+ids[2]+"/consume", nil)
	scan := object{"event_id": event, "scans": []object{
		{"qr_payload": codes[3], "scanned_at": "2031-03-03T15:00:00Z", "nonce": "b-1"}, {"qr_payload": codes[0], "scanned_at": "2031-03-03T15:00:00Z", "nonce": "b-2"},
		{"qr_payload": "nonsense", "scanned_at": "2031-03-03T15:00:00Z"}, {"qr_payload": codes[4], "scanned_at": "2032-03-03T15:00:00Z"},
	}}
	s.post(s.admin, "/tickets/consume-qr/batch", scan)
	s.post(s.admin, "/tickets/consume-qr/batch", scan)
	s.post(s.admin, "/tickets/consume-qr/batch", object{"scans": []object{}})
	s.put(s.admin, "/tickets", []object{{"_id": ids[4], "title": "Another seat"}})
	s.put(s.admin, "/tickets", []object{{"_id": ids[0], "status": "available"}})
	s.get(s.admin, "/events/"+event+"/checkin-bundle")
	s.remove(s.admin, "/tickets", []object{{"_id": ids[4]}})
	s.remove(s.admin, "/tickets", []object{{"_id": ids[4]}})
	s.remove(s.admin, "/events", []object{{"_id": event}})
	s.get(vic, "/me/tickets")
	s.look()
}

func merged(a, b object) object {
	for k, v := range b {
		a[k] = v
	}
	return a
}

// subscribed is a customer with a subscription of a kind, and it.
func (s *story) subscribed(name, way string) (*person, reply) {
	who := s.signUp(name)
	switch way {
	case "gwb":
		s.post(who, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
	case "gwa":
		s.post(who, "/gwa/subscribe", gwaCard(cardA))
	case "pix":
		a := s.post(who, "/gwa/subscribe/pix", object{"plan_id": "plus"})
		s.control("gwa", "POST", "/pix/pay", object{"payload": a.text("info/pix/payload")})
	case "pixb":
		b := s.post(who, "/gwb/subscribe/pix", object{"plan_id": "plus"})
		s.control("gwb", "POST", "/payment_intents/"+s.intent(b)+"/pay", nil)
	case "auto":
		s.put(s.admin, "/admin/config/pix-subscription-mode", object{"mode": "recurring"})
		a := s.post(who, "/gwa/subscribe/pix-automatico", object{"plan_id": "plus"})
		s.control("gwa", "POST", "/pix/pay", object{"payload": firstOf(a, "info/pix/payload", "info/payload", "info/authorization/payload")})
		s.put(s.admin, "/admin/config/pix-subscription-mode", object{"mode": "manual"})
	}
	return who, s.sub(who)
}

// paymentID is the newest payment of a subscription as the gateway calls it.
func paymentID(r reply) string {
	return firstOf(r, "payments/0/gwa_payment_id", "payments/0/id")
}

// refunds: by admins, at once, in part, late, refused; and disputes.
func (s *story) refunds() {
	s.begin("refunds and disputes")
	who, sub := s.subscribed("wes", "gwb")
	s.payments(sub.id())
	s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": " "})
	s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked", "payment_id": "nothing"})
	s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked"}, key("w-1"))
	s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked"}, key("w-1"))
	s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked again"})
	s.mine(who)
	s.payments(sub.id())

	who, sub = s.subscribed("xia", "gwa")
	id := sub.id()
	s.get(s.admin, "/admin/gwa/subscriptions/"+id+"/payments")
	s.post(s.admin, "/admin/gwa/subscriptions/"+id+"/refund", object{"reason": "A part", "value": 10})
	s.get(s.admin, "/admin/gwa/subscriptions/"+id+"/refunds")
	s.post(s.admin, "/admin/gwa/subscriptions/"+id+"/refund", object{"reason": "Too much", "value": 1000})
	s.post(s.admin, "/admin/gwa/subscriptions/"+id+"/refund", object{"reason": "The rest"}, key("x-1"))
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/refund", object{"reason": "Elsewhere"})
	s.get(s.admin, "/admin/gwa/subscriptions/"+id+"/refunds")
	s.mine(who)

	who, sub = s.subscribed("yan", "gwb")
	id = sub.id()
	s.get(s.admin, "/admin/gwb/subscriptions/"+id+"/payments")
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/refund", object{"reason": "A part", "amount": 1000})
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/refund", object{"reason": "Another part", "amount": 500})
	s.get(s.admin, "/admin/gwb/subscriptions/"+id+"/refunds")
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/refund", object{"reason": "The rest"})
	s.post(s.admin, "/admin/gwa/subscriptions/"+id+"/refund", object{"reason": "Elsewhere"})
	s.mine(who)

	// A PIX whose refund takes its time.
	for _, name := range []string{"zed", "zoe"} {
		who, sub = s.subscribed(name, map[string]string{"zed": "pix", "zoe": "pixb"}[name])
		s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked"})
		s.payments(sub.id())
		s.mine(who)
	}
	// A card whose refunds fail later, and one whose wait.
	for _, c := range [][2]string{{"abe", "pm_card_refundFail"}, {"abi", "pm_card_pendingRefund"}} {
		who := s.signUp(c[0])
		s.post(who, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": c[1]})
		sub := s.sub(who)
		s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked"})
		s.payments(sub.id())
		s.wait("2h")
		s.payments(sub.id())
		s.mine(who)
	}

	// Disputes at both gateways, won and lost.
	for _, end := range []string{"win", "lose"} {
		who, sub := s.subscribed("bob"+end, "gwb")
		intent := firstOf(s.payments(sub.id()), "payments/0/payment_intent", "payments/0/id")
		d := s.control("gwb", "POST", "/charges/"+intent+"/dispute", object{"reason": "fraudulent", "inquiry": false})
		s.mine(who)
		s.payments(sub.id())
		s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "Under a dispute"})
		s.control("gwb", "POST", "/disputes/"+d.text("id")+"/"+end, nil)
		s.mine(who)
		s.payments(sub.id())

		who, sub = s.subscribed("cat"+end, "gwa")
		payment := paymentID(s.payments(sub.id()))
		s.control("gwa", "POST", "/payments/"+payment+"/chargeback", object{"step": "requested"})
		s.mine(who)
		s.control("gwa", "POST", "/payments/"+payment+"/chargeback", object{"step": "disputed"})
		s.control("gwa", "POST", "/payments/"+payment+"/chargeback", object{"step": map[string]string{"win": "won", "lose": "lost"}[end]})
		s.mine(who)
		s.payments(sub.id())
	}
	// A card of which a dispute comes by itself, and a bank that takes a PIX back.
	dee := s.signUp("dee")
	s.post(dee, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": "pm_card_createDispute"})
	s.mine(dee)
	eli, sub := s.subscribed("eli", "pix")
	s.control("gwa", "POST", "/payments/"+paymentID(s.payments(sub.id()))+"/take-back", object{"value": 0})
	s.mine(eli)
	s.payments(sub.id())
	s.look()
}

// adminsAtWork: what admins do with subscriptions.
func (s *story) adminsAtWork() {
	s.begin("admins at work")
	fox, sub := s.subscribed("fox", "gwb")
	id := sub.id()
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "plan_id": "premium"}})
	s.mine(fox)
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "plan_id": "nothing"}})
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "status": "x"}})
	s.put(s.admin, "/subscriptions", []object{{"_id": nobodys, "plan_id": "basic"}})
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{"days": 10})
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{"days": -1})
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{"expires_at": "2031-05-01"})
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{})
	s.post(s.admin, "/admin/subscriptions/"+id+"/activate", object{"reason": "Why not"})
	s.mine(fox)
	s.post(s.admin, "/subscriptions/"+id+"/chargeback", object{"reason": "The bank wrote", "amount": 1000})
	s.mine(fox)
	s.payments(id)
	dispute := s.chargebackOf(id)
	s.remove(s.admin, "/subscriptions/"+id+"/chargebacks/"+nobodys, object{"reason": "A mistake"})
	s.remove(s.admin, "/subscriptions/"+id+"/chargebacks/"+dispute, object{"reason": "A mistake"})
	s.mine(fox)
	s.post(s.admin, "/subscriptions/"+id+"/cancel", object{"reason": "They called"})
	s.post(s.admin, "/subscriptions/"+id+"/cancel", object{"reason": "They called"})
	s.mine(fox)
	s.post(s.admin, "/admin/subscriptions/"+id+"/activate", object{"reason": "Back again"})
	s.mine(fox)
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "status": "expired"}})
	s.mine(fox)

	gil, sub := s.subscribed("gil", "gwa")
	id = sub.id()
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "plan_id": "basic"}})
	s.mine(gil)
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{"days": 5})
	s.mine(gil)
	s.post(s.admin, "/admin/gwa/subscriptions/"+id+"/cancel", object{"reason": "They called"})
	s.mine(gil)
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/cancel", object{"reason": "Elsewhere"})
	hue, sub := s.subscribed("hue", "gwb")
	s.post(s.admin, "/admin/gwb/subscriptions/"+sub.id()+"/cancel", object{"reason": "They called"})
	s.mine(hue)
	ivo, sub := s.subscribed("ivo", "pix")
	s.put(s.admin, "/subscriptions", []object{{"_id": sub.id(), "plan_id": "premium"}})
	s.post(s.admin, "/admin/subscriptions/"+sub.id()+"/extend", object{"days": 3})
	s.mine(ivo)
	jan, sub := s.subscribed("jan", "auto")
	s.put(s.admin, "/subscriptions", []object{{"_id": sub.id(), "plan_id": "premium"}})
	s.post(s.admin, "/admin/subscriptions/"+sub.id()+"/extend", object{"days": 3})
	s.mine(jan)

	// Money that belongs to nothing.
	for i, name := range []string{"una1", "una2", "una3"} {
		who := s.signUp(name)
		s.post(who, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": "pm_card_refundFail"})
		sub := s.sub(who)
		s.post(who, "/customers/me/subscription/withdraw", nil)
		s.wait("2h")
		list := s.get(s.admin, "/admin/finance/unapplied-payments", "sort", `{"register_date":-1}`)
		id := list.id()
		switch i {
		case 0:
			s.post(s.admin, "/admin/finance/unapplied-payments/"+id+"/refund", object{"reason": "Theirs"}, key("u-1"))
		case 1:
			s.post(s.admin, "/admin/finance/unapplied-payments/"+id+"/keep", object{"reason": "Ours"})
			s.post(s.admin, "/admin/finance/unapplied-payments/"+id+"/extend", object{})
		case 2:
			s.post(s.admin, "/admin/finance/unapplied-payments/"+id+"/extend", object{"subscription_id": sub.id()})
		}
		s.mine(who)
		s.get(s.admin, "/admin/finance/unapplied-payments", "_id", id)
	}
	s.control("gwa", "POST", "/pix/transfer", object{"value": 12.5})
	s.get(s.admin, "/admin/finance/unapplied-payments")
	s.post(s.admin, "/admin/finance/unapplied-payments/"+nobodys+"/refund", object{})
	for _, path := range []string{"/subscriptions", "/subscriptions/stats", "/admin/gwa/subscriptions", "/admin/gwa/subscriptions/stats", "/admin/gwb/subscriptions", "/admin/gwb/subscriptions/stats", "/admin/subscriptions/dashboard", "/admin/subscriptions/insights"} {
		s.get(s.admin, path)
	}
	s.look()
}

// faults: gateways that do not answer as they should.
func (s *story) faults() {
	s.begin("gateways that fail")
	fail := func(gateway, kind, method, path string, status int) {
		s.control(gateway, "POST", "/faults", object{"kind": kind, "method": method, "path": path, "status": status, "times": 1})
	}
	try := func(name, gateway, kind, path, way string, body object) {
		who := s.signUp(name)
		fail(gateway, kind, "POST", path, 500)
		s.post(who, way, body)
		s.mine(who)
		s.wait("3m30s")
		s.mine(who)
		s.wait("40m")
		s.mine(who)
		s.payments(s.sub(who).id())
	}
	try("kay1", "gwb", "status", "/v1/subscriptions", "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
	try("kay2", "gwb", "status_after", "/v1/subscriptions", "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
	try("kay3", "gwa", "status", "/v3/subscriptions", "/gwa/subscribe", gwaCard(cardA))
	try("kay4", "gwa", "status_after", "/v3/subscriptions", "/gwa/subscribe", gwaCard(cardA))
	try("kay5", "gwa", "status_after", "/v3/payments", "/gwa/subscribe/pix", object{"plan_id": "plus"})
	try("kay6", "gwb", "bad_gateway", "/v1/payment_intents", "/gwb/subscribe/pix", object{"plan_id": "plus"})
	try("kay7", "gwa", "reset_after", "/v3/pix/automatic/authorizations", "/gwa/subscribe/pix-automatico", object{"plan_id": "plus"})
	event := s.post(s.admin, "/events", []object{{"title": "Shaky", "event_date": "2031-04-28T22:00:00Z", "location": "Cine", "capacity": 20, "ticket_value": 20, "is_sale_box_office": true}}).id()
	lou := s.signUp("lou")
	for _, f := range [][3]string{{"gwb", "status_after", "/v1/payment_intents"}, {"gwb", "status", "/v1/payment_intents"}, {"gwb", "reset_before", "/v1/payment_intents"}} {
		fail(f[0], f[1], "POST", f[2], 500)
		s.post(lou, "/store/purchase/gwb/card", object{"event_id": event, "quantity": 1, "payment_method_id": visa})
		s.wait("40m")
		s.get(lou, "/me/ticket-orders")
	}
	fail("gwa", "status_after", "POST", "/v3/payments", 503)
	s.post(lou, "/store/purchase/gwa/pix", object{"event_id": event, "quantity": 1})
	s.wait("40m")
	s.get(lou, "/me/ticket-orders")

	// Refunds, whose answers are lost.
	_, sub := s.subscribed("max", "gwb")
	fail("gwb", "status_after", "POST", "/v1/refunds", 500)
	s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked"}, key("m-1"))
	s.wait("40m")
	s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked"}, key("m-1"))
	s.payments(sub.id())
	nia, _ := s.subscribed("nia", "gwa")
	fail("gwa", "status", "DELETE", "/v3/subscriptions", 500)
	s.remove(nia, "/gwa/subscription", nil)
	s.mine(nia)
	s.wait("40m")
	s.remove(nia, "/gwa/subscription", nil)
	s.mine(nia)
	_, sub = s.subscribed("ole", "gwb")
	fail("gwb", "status_after", "POST", "/v1/subscriptions", 500)
	s.put(s.admin, "/subscriptions", []object{{"_id": sub.id(), "plan_id": "basic"}})
	s.wait("40m")
	s.get(s.admin, "/subscriptions", "_id", sub.id())
	s.look()
}

// months: time passes.
func (s *story) months() {
	s.begin("a week passes")
	pat, patSub := s.subscribed("pat", "gwb")
	ray, raySub := s.subscribed("ray", "gwa")
	ros, rosSub := s.subscribed("ros", "pix")
	sue, sueSub := s.subscribed("sue", "pixb")
	tim, timSub := s.subscribed("tim", "auto")
	all := []*person{pat, ray, ros, sue, tim}
	subs := []reply{patSub, raySub, rosSub, sueSub, timSub}
	see := func() {
		for i, who := range all {
			s.mine(who)
			s.payments(subs[i].id())
		}
		s.look()
	}
	s.day(9)
	for _, who := range all {
		s.post(who, "/customers/me/subscription/withdraw", nil)
	}
	see()
	s.begin("cards begin to fail")
	s.control("gwa", "PUT", "/subscriptions/"+raySub.text("docs/0/gwa_subscription_id")+"/card", object{"declines": true})
	s.put(pat, "/gwb/subscription/payment-method", object{"payment_method_id": "pm_card_chargeCustomerFail"})
	s.begin("PIX is renewed")
	s.day(26)
	see()
	a := s.post(ros, "/customers/me/subscription/renew/pix", nil, key("ros-1"))
	s.post(ros, "/customers/me/subscription/renew/pix", nil, key("ros-1"))
	s.get(ros, "/customers/me/pix-qr")
	s.control("gwa", "POST", "/pix/pay", object{"payload": firstOf(a, "info/pix/payload", "pix/payload", "info/payload")})
	s.mine(ros)
	s.payments(rosSub.id())
	s.begin("the month ends")
	s.day(33)
	see()
	s.begin("dunning")
	s.day(38)
	see()
	s.put(ray, "/gwa/subscription/credit-card", gwaCard(cardA, object{"plan_id": nil}))
	s.put(pat, "/gwb/subscription/payment-method", object{"payment_method_id": visa})
	s.control("gwa", "PUT", "/subscriptions/"+raySub.text("docs/0/gwa_subscription_id")+"/card", object{"declines": false})
	s.settle()
	see()
	s.begin("two months have passed")
	s.day(52)
	see()
	s.post(s.admin, "/webhook-logs/"+s.get(s.admin, "/webhook-logs", "qty_docs_page", "1").id()+"/replay", nil)
}

// figures: what finance sees.
func (s *story) figures() {
	s.begin("figures")
	for _, path := range []string{"overview", "revenue", "overdue", "churn", "definitions"} {
		s.get(s.admin, "/admin/finance/"+path)
		s.get(s.clerk, "/admin/finance/"+path)
	}
	for _, q := range [][]string{{"period", "day"}, {"period", "month"}, {"period", "week"}, {"period", "x"}, {"start", "2031-03-01", "end", "2031-03-31"}, {"start", "2031-04-01", "end", "2031-03-01"}} {
		s.get(s.admin, "/admin/finance/revenue", q...)
	}
	s.get(s.admin, "/admin/finance/churn", "months", "3")
	s.get(s.admin, "/admin/finance/overdue", "page", "1", "limit", "2")
	for _, format := range []string{"csv", "xlsx", "json"} {
		s.get(s.admin, "/admin/finance/export", "format", format, "start", "2031-03-01", "end", "2031-04-30")
		s.get(s.admin, "/admin/customers/export", "format", format)
		s.get(s.admin, "/admin/events-dashboard/events/export", "format", format)
	}
	a := s.get(s.admin, "/admin/finance/export", "format", "csv", "async", "true", "start", "2031-03-01", "end", "2031-04-30")
	s.settle()
	id := firstOf(a, "_id", "info/_id", "export_id", "id", "docs/0/_id")
	shown := s.get(s.admin, "/admin/exports/"+id)
	if link := firstOf(shown, "download_url", "url", "file_url", "link"); link != "missing" {
		s.link(link)
	}
	s.get(s.admin, "/admin/exports/"+id+"/file")
	s.remove(s.admin, "/admin/exports/"+id, nil)
	s.get(s.admin, "/admin/exports/"+id)
	for _, path := range []string{"/admin/subscriptions/dashboard", "/admin/subscriptions/insights", "/subscriptions/stats", "/admin/gwa/subscriptions/stats", "/admin/gwb/subscriptions/stats", "/admin/customers/tenure", "/admin/promo-codes/stats", "/webhook-logs/stats"} {
		s.get(s.admin, path)
	}
	s.get(s.admin, "/admin/subscriptions/insights", "months", "2")
	for _, path := range []string{"/subscriptions", "/customers", "/tickets", "/events", "/audit-log", "/webhook-logs", "/admin/finance/unapplied-payments", "/admin/events-dashboard/orders"} {
		s.get(s.root, path, "sort", `{"register_date":1}`, "qty_docs_page", "50")
	}
}

// link follows a link that an answer gave.
func (s *story) link(address string) {
	base := s.player.base("api")
	if len(address) > len(base) && address[:len(base)] == base {
		address = address[len(base):]
	}
	s.asked["GET "+address]++
	s.step(request{To: "api", Method: "GET", Path: address})
}

// everything is the matrix of routes and callers.
func (s *story) everything() {
	s.begin("every route by everybody")
	s.quiet = true
	plain := s.signUp("plain")
	member, sub := s.subscribed("member", "gwb")
	ids := map[string]string{
		"/subscriptions/": sub.id(), "/admin/subscriptions/": sub.id(), "/admin/gwb/subscriptions/": sub.id(), "/admin/customers/": plain.id, "plan_id": "plus",
		"/events/": s.get(s.admin, "/events").id(), "/store/events/": s.get(s.admin, "/events").id(), "/admin/events-dashboard/events/": s.get(s.admin, "/events").id(),
		"/webhook-logs/": s.get(s.admin, "/webhook-logs").id(),
	}
	s.matrix(map[string]*person{"customer": plain, "subscriber": member, "clerk": s.clerk, "root": s.root}, ids)
	s.quiet = false
	s.settle()
	s.look()
	s.get(s.root, "/audit-log", "sort", `{"register_date":-1}`, "qty_docs_page", "50")
}
