package main

import "fmt"

// tickets: events, and buying in every way.
func (s *story) tickets() {
	s.begin("tickets")
	event := s.post(s.admin, "/events", []object{{
		"title": "Premiere", "code": "PREM", "event_type": "movie_premiere", "event_date": "2031-04-20T22:00:00Z",
		"location": "Cine Ipiranga", "capacity": 40, "max_per_person": 6, "ticket_value": 60,
		"is_sale_box_office": true,
	}}).id()
	free := s.post(s.admin, "/events", []object{
		{
			"title": "Open door", "event_type": "lecture", "event_date": "2031-04-21T22:00:00Z",
			"location": "Cine Ipiranga", "capacity": 10, "ticket_value": 0, "is_sale_box_office": true,
		},
	}).id()
	tiny := s.post(s.admin, "/events", []object{
		{
			"title": "Two seats", "event_date": "2031-04-22T22:00:00Z", "location": "Cine Ipiranga", "capacity": 2,
			"ticket_value": 10, "is_sale_box_office": true,
		},
	}).id()
	s.post(s.admin, "/events", []object{
		{"title": "Yesterday", "event_date": "2031-03-01T22:00:00Z", "location": "Cine"},
	})
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
	s.collect()

	// Guests.
	buyer := func(n int) object {
		return object{
			"full_name": "Guest Number", "email": fmt.Sprintf("guest%d@example.com", n), "tax_id": taxID(500 + n),
		}
	}
	with := func(o object, k string, v any) object { o[k] = v; return o }
	guest := buy(nil, "checkout/gwb/card",
		object{"event_id": event, "quantity": 2, "payment_method_id": visa, "buyer": buyer(1)}, key("guest-1"))
	buy(nil, "checkout/gwb/card",
		object{"event_id": event, "quantity": 2, "payment_method_id": visa, "buyer": buyer(1)}, key("guest-1"))
	buy(nil, "checkout/gwb/card", object{
		"event_id": event, "quantity": 1, "payment_method_id": visa, "buyer": with(buyer(2), "tax_id", "11111111111"),
	})
	buy(nil, "checkout/gwb/card", object{
		"event_id": event, "quantity": 1, "payment_method_id": visa, "buyer": with(buyer(2), "email", "nonsense"),
	})
	buy(nil, "checkout/gwa/card", with(card(cardA, event, 1), "buyer", buyer(2)))
	g := buy(nil, "checkout/gwa/pix", object{"event_id": event, "quantity": 1, "buyer": buyer(3)})
	s.control("gwa", "POST", "/pix/pay", object{"payload": firstOf(g, "pix/payload")})
	g = buy(nil, "checkout/gwb/pix", object{"event_id": event, "quantity": 1, "buyer": buyer(4)})
	s.control("gwb", "POST", "/payment_intents/"+g.text("order/gateway_payment_id")+"/pay", nil)
	buy(nil, "checkout/gwb/card", object{"event_id": free, "quantity": 1, "buyer": buyer(5)})
	s.settle()
	s.collect()
	link := s.found("guest1@example.com", `/store/ticket-orders/withdraw#(\S+)`)
	s.get(nil, "/store/ticket-orders/withdraw")
	s.post(nil, "/store/ticket-orders/withdraw", object{"token": "x"})
	s.post(nil, "/store/ticket-orders/withdraw", object{"token": link})
	s.post(nil, "/store/ticket-orders/withdraw", object{"token": link})
	s.get(s.admin, "/tickets", "query", fmt.Sprintf(`{"ticket_order_id":"%s"}`, guest.text("order/_id")))
	s.collect()

	// Given back by the buyer, refunded and cancelled by admins.
	s.post(sam, "/me/ticket-orders/"+order+"/withdraw", nil, key("sam-2"))
	s.post(sam, "/me/ticket-orders/"+order+"/withdraw", nil, key("sam-2"))
	s.post(sam, "/me/ticket-orders/"+order+"/withdraw", nil)
	s.post(tom, "/me/ticket-orders/"+order+"/withdraw", nil)
	s.get(sam, "/me/ticket-orders/"+order)
	first := b.text("order/_id")
	s.post(s.admin, "/admin/ticket-orders/"+first+"/refund", object{"reason": " "})
	s.post(s.admin, "/admin/ticket-orders/"+first+"/refund",
		object{"reason": "Half of it", "ticket_ids": []string{b.text("order/ticket_ids/0")}}, key("r-1"))
	s.post(s.admin, "/admin/ticket-orders/"+first+"/refund",
		object{"reason": "Half of it", "ticket_ids": []string{b.text("order/ticket_ids/0")}}, key("r-1"))
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
		d := s.control("gwb", "POST", "/charges/"+o.text("order/gateway_payment_id")+"/dispute",
			object{"reason": "fraudulent", "inquiry": false})
		s.get(una, "/me/ticket-orders/"+o.text("order/_id"))
		s.get(una, "/me/tickets")
		s.post(s.admin, "/admin/ticket-orders/"+o.text("order/_id")+"/refund", object{"reason": "Under a dispute"})
		s.control("gwb", "POST", "/disputes/"+d.text("id")+"/"+end, nil)
		s.get(una, "/me/ticket-orders/"+o.text("order/_id"))
		s.get(una, "/me/tickets")
	}
	s.collect()

	// An event that is moved, and one that is called off.
	s.put(s.admin, "/events", []object{{"_id": tiny, "event_date": "2031-04-25T22:00:00Z"}})
	s.settle()
	s.collect()
	s.post(s.admin, "/admin/events/"+tiny+"/cancel", object{"reason": "It burned down", "refund": "x"})
	s.post(s.admin, "/admin/events/"+tiny+"/cancel", object{"reason": "It burned down", "refund": "on_request"},
		key("e-1"))
	s.get(s.admin, "/admin/events/"+tiny+"/cancellation")
	s.post(s.admin, "/admin/events/"+tiny+"/cancel", object{"reason": "It burned down", "refund": "all"})
	s.wait("1m")
	s.get(s.admin, "/admin/events/"+tiny+"/cancellation")
	s.get(nil, "/store/events/"+tiny)
	s.put(s.admin, "/events", []object{{"_id": tiny, "event_date": "2031-05-25T22:00:00Z"}})
	buy(tom, "gwb/card", object{"event_id": tiny, "quantity": 1, "payment_method_id": visa})
	s.get(tom, "/me/ticket-orders")
	s.collect()
	s.get(s.admin, "/admin/events-dashboard/overview")
	s.get(s.admin, "/admin/events-dashboard/events")
	s.get(s.admin, "/admin/events-dashboard/events", "limit", "1", "page", "2", "event_type", "lecture", "active_only",
		"true")
	s.get(s.admin, "/admin/events-dashboard/events/"+event)
	s.get(s.admin, "/admin/events-dashboard/orders")
	s.get(s.admin, "/admin/events-dashboard/events/export", "format", "csv")
	s.get(s.admin, "/admin/events-dashboard/events/export", "format", "xlsx")
}

// doors: tickets issued by admins, shown, used.
func (s *story) doors() {
	s.begin("at the door")
	event := s.post(s.admin, "/events", []object{
		{
			"title": "At the door", "event_date": "2031-03-20T22:00:00Z", "location": "Cine", "capacity": 20,
			"ticket_value": 20, "is_sale_box_office": true,
		},
	}).id()
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
		{"qr_payload": codes[3], "scanned_at": "2031-03-03T15:00:00Z", "nonce": "b-1"},
		{"qr_payload": codes[0], "scanned_at": "2031-03-03T15:00:00Z", "nonce": "b-2"},
		{"qr_payload": "nonsense", "scanned_at": "2031-03-03T15:00:00Z"},
		{"qr_payload": codes[4], "scanned_at": "2032-03-03T15:00:00Z"},
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
	s.collect()
}

func merged(a, b object) object {
	for k, v := range b {
		a[k] = v
	}
	return a
}
