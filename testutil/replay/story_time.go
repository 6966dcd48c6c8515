package main

// faults: gateways that do not answer as they should.
func (s *story) faults() {
	s.begin("gateways that fail")
	fail := func(gateway, kind, method, path string, status int) {
		s.control(gateway, "POST", "/faults",
			object{"kind": kind, "method": method, "path": path, "status": status, "times": 1})
	}
	try := func(name, gateway, kind, path, way string, body object) {
		who := s.signUp(name)
		fail(gateway, kind, "POST", path, 500)
		s.post(who, way, body)
		s.customerView(who)
		s.wait("3m30s")
		s.customerView(who)
		s.wait("40m")
		s.customerView(who)
		s.payments(s.sub(who).id())
	}
	try("kay1", "gwb", "status", "/v1/subscriptions", "/gwb/subscribe",
		object{"plan_id": "plus", "payment_method_id": visa})
	try("kay2", "gwb", "status_after", "/v1/subscriptions", "/gwb/subscribe",
		object{"plan_id": "plus", "payment_method_id": visa})
	try("kay3", "gwa", "status", "/v3/subscriptions", "/gwa/subscribe", gwaCard(cardA))
	try("kay4", "gwa", "status_after", "/v3/subscriptions", "/gwa/subscribe", gwaCard(cardA))
	try("kay5", "gwa", "status_after", "/v3/payments", "/gwa/subscribe/pix", object{"plan_id": "plus"})
	try("kay6", "gwb", "bad_gateway", "/v1/payment_intents", "/gwb/subscribe/pix", object{"plan_id": "plus"})
	try("kay7", "gwa", "reset_after", "/v3/pix/automatic/authorizations", "/gwa/subscribe/pix-automatico",
		object{"plan_id": "plus"})
	event := s.post(s.admin, "/events", []object{
		{
			"title": "Shaky", "event_date": "2031-04-28T22:00:00Z", "location": "Cine", "capacity": 20,
			"ticket_value": 20, "is_sale_box_office": true,
		},
	}).id()
	lou := s.signUp("lou")
	for _, f := range [][3]string{
		{"gwb", "status_after", "/v1/payment_intents"},
		{"gwb", "status", "/v1/payment_intents"},
		{"gwb", "reset_before", "/v1/payment_intents"},
	} {
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
	s.customerView(nia)
	s.wait("40m")
	s.remove(nia, "/gwa/subscription", nil)
	s.customerView(nia)
	_, sub = s.subscribed("ole", "gwb")
	fail("gwb", "status_after", "POST", "/v1/subscriptions", 500)
	s.put(s.admin, "/subscriptions", []object{{"_id": sub.id(), "plan_id": "basic"}})
	s.wait("40m")
	s.get(s.admin, "/subscriptions", "_id", sub.id())
	s.collect()
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
			s.customerView(who)
			s.payments(subs[i].id())
		}
		s.collect()
	}
	s.day(9)
	for _, who := range all {
		s.post(who, "/customers/me/subscription/withdraw", nil)
	}
	see()
	s.begin("cards begin to fail")
	s.control("gwa", "PUT", "/subscriptions/"+raySub.text("docs/0/gwa_subscription_id")+"/card",
		object{"declines": true})
	s.put(pat, "/gwb/subscription/payment-method", object{"payment_method_id": "pm_card_chargeCustomerFail"})
	s.begin("PIX is renewed")
	s.day(26)
	see()
	a := s.post(ros, "/customers/me/subscription/renew/pix", nil, key("ros-1"))
	s.post(ros, "/customers/me/subscription/renew/pix", nil, key("ros-1"))
	s.get(ros, "/customers/me/pix-qr")
	s.control("gwa", "POST", "/pix/pay", object{
		"payload": firstOf(a, "info/pix/payload", "pix/payload", "info/payload"),
	})
	s.customerView(ros)
	s.payments(rosSub.id())
	s.begin("the month ends")
	s.day(33)
	see()
	s.begin("dunning")
	s.day(38)
	see()
	s.put(ray, "/gwa/subscription/credit-card", gwaCard(cardA, object{"plan_id": nil}))
	s.put(pat, "/gwb/subscription/payment-method", object{"payment_method_id": visa})
	s.control("gwa", "PUT", "/subscriptions/"+raySub.text("docs/0/gwa_subscription_id")+"/card",
		object{"declines": false})
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
	for _, q := range [][]string{
		{"period", "day"},
		{"period", "month"},
		{"period", "week"},
		{"period", "x"},
		{"start", "2031-03-01", "end", "2031-03-31"},
		{"start", "2031-04-01", "end", "2031-03-01"},
	} {
		s.get(s.admin, "/admin/finance/revenue", q...)
	}
	s.get(s.admin, "/admin/finance/churn", "months", "3")
	s.get(s.admin, "/admin/finance/overdue", "page", "1", "limit", "2")
	for _, format := range []string{"csv", "xlsx", "json"} {
		s.get(s.admin, "/admin/finance/export", "format", format, "start", "2031-03-01", "end", "2031-04-30")
		s.get(s.admin, "/admin/customers/export", "format", format)
		s.get(s.admin, "/admin/events-dashboard/events/export", "format", format)
	}
	a := s.get(s.admin, "/admin/finance/export", "format", "csv", "async", "true", "start", "2031-03-01", "end",
		"2031-04-30")
	s.settle()
	id := firstOf(a, "_id", "info/_id", "export_id", "id", "docs/0/_id")
	export := s.get(s.admin, "/admin/exports/"+id)
	if link := firstOf(export, "download_url", "url", "file_url", "link"); link != "missing" {
		s.link(link)
	}
	s.get(s.admin, "/admin/exports/"+id+"/file")
	s.remove(s.admin, "/admin/exports/"+id, nil)
	s.get(s.admin, "/admin/exports/"+id)
	for _, path := range []string{
		"/admin/subscriptions/dashboard", "/admin/subscriptions/insights", "/subscriptions/stats",
		"/admin/gwa/subscriptions/stats", "/admin/gwb/subscriptions/stats", "/admin/customers/tenure",
		"/admin/promo-codes/stats", "/webhook-logs/stats",
	} {
		s.get(s.admin, path)
	}
	s.get(s.admin, "/admin/subscriptions/insights", "months", "2")
	for _, path := range []string{
		"/subscriptions", "/customers", "/tickets", "/events", "/audit-log", "/webhook-logs",
		"/admin/finance/unapplied-payments", "/admin/events-dashboard/orders",
	} {
		s.get(s.root, path, "sort", `{"register_date":1}`, "qty_docs_page", "50")
	}
}

// link follows a link that an answer gave.
func (s *story) link(address string) {
	base := s.player.base("api")
	if len(address) > len(base) && address[:len(base)] == base {
		address = address[len(base):]
	}
	s.requested["GET "+address]++
	s.step(request{To: "api", Method: "GET", Path: address})
}
