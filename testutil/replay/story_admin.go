package main

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
		s.control("gwa", "POST", "/pix/pay", object{
			"payload": firstOf(a, "info/pix/payload", "info/payload", "info/authorization/payload"),
		})
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
	s.customerView(who)
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
	s.customerView(who)

	who, sub = s.subscribed("yan", "gwb")
	id = sub.id()
	s.get(s.admin, "/admin/gwb/subscriptions/"+id+"/payments")
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/refund", object{"reason": "A part", "amount": 1000})
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/refund", object{"reason": "Another part", "amount": 500})
	s.get(s.admin, "/admin/gwb/subscriptions/"+id+"/refunds")
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/refund", object{"reason": "The rest"})
	s.post(s.admin, "/admin/gwa/subscriptions/"+id+"/refund", object{"reason": "Elsewhere"})
	s.customerView(who)

	// A PIX whose refund takes its time.
	for _, name := range []string{"zed", "zoe"} {
		who, sub = s.subscribed(name, map[string]string{"zed": "pix", "zoe": "pixb"}[name])
		s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "They asked"})
		s.payments(sub.id())
		s.customerView(who)
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
		s.customerView(who)
	}

	// Disputes at both gateways, won and lost.
	for _, end := range []string{"win", "lose"} {
		who, sub := s.subscribed("bob"+end, "gwb")
		intent := firstOf(s.payments(sub.id()), "payments/0/payment_intent", "payments/0/id")
		d := s.control("gwb", "POST", "/charges/"+intent+"/dispute", object{"reason": "fraudulent", "inquiry": false})
		s.customerView(who)
		s.payments(sub.id())
		s.post(s.admin, "/subscriptions/"+sub.id()+"/refund", object{"reason": "Under a dispute"})
		s.control("gwb", "POST", "/disputes/"+d.text("id")+"/"+end, nil)
		s.customerView(who)
		s.payments(sub.id())

		who, sub = s.subscribed("cat"+end, "gwa")
		payment := paymentID(s.payments(sub.id()))
		s.control("gwa", "POST", "/payments/"+payment+"/chargeback", object{"step": "requested"})
		s.customerView(who)
		s.control("gwa", "POST", "/payments/"+payment+"/chargeback", object{"step": "disputed"})
		s.control("gwa", "POST", "/payments/"+payment+"/chargeback",
			object{"step": map[string]string{"win": "won", "lose": "lost"}[end]})
		s.customerView(who)
		s.payments(sub.id())
	}
	// A card of which a dispute comes by itself, and a bank that takes a PIX back.
	dee := s.signUp("dee")
	s.post(dee, "/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": "pm_card_createDispute"})
	s.customerView(dee)
	eli, sub := s.subscribed("eli", "pix")
	s.control("gwa", "POST", "/payments/"+paymentID(s.payments(sub.id()))+"/take-back", object{"value": 0})
	s.customerView(eli)
	s.payments(sub.id())
	s.collect()
}

// adminsAtWork: what admins do with subscriptions.
func (s *story) adminsAtWork() {
	s.begin("admins at work")
	fox, sub := s.subscribed("fox", "gwb")
	id := sub.id()
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "plan_id": "premium"}})
	s.customerView(fox)
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "plan_id": "nothing"}})
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "status": "x"}})
	s.put(s.admin, "/subscriptions", []object{{"_id": nobodys, "plan_id": "basic"}})
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{"days": 10})
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{"days": -1})
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{"expires_at": "2031-05-01"})
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{})
	s.post(s.admin, "/admin/subscriptions/"+id+"/activate", object{"reason": "Why not"})
	s.customerView(fox)
	s.post(s.admin, "/subscriptions/"+id+"/chargeback", object{"reason": "The bank wrote", "amount": 1000})
	s.customerView(fox)
	s.payments(id)
	dispute := s.chargebackOf(id)
	s.remove(s.admin, "/subscriptions/"+id+"/chargebacks/"+nobodys, object{"reason": "A mistake"})
	s.remove(s.admin, "/subscriptions/"+id+"/chargebacks/"+dispute, object{"reason": "A mistake"})
	s.customerView(fox)
	s.post(s.admin, "/subscriptions/"+id+"/cancel", object{"reason": "They called"})
	s.post(s.admin, "/subscriptions/"+id+"/cancel", object{"reason": "They called"})
	s.customerView(fox)
	s.post(s.admin, "/admin/subscriptions/"+id+"/activate", object{"reason": "Back again"})
	s.customerView(fox)
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "status": "expired"}})
	s.customerView(fox)

	gil, sub := s.subscribed("gil", "gwa")
	id = sub.id()
	s.put(s.admin, "/subscriptions", []object{{"_id": id, "plan_id": "basic"}})
	s.customerView(gil)
	s.post(s.admin, "/admin/subscriptions/"+id+"/extend", object{"days": 5})
	s.customerView(gil)
	s.post(s.admin, "/admin/gwa/subscriptions/"+id+"/cancel", object{"reason": "They called"})
	s.customerView(gil)
	s.post(s.admin, "/admin/gwb/subscriptions/"+id+"/cancel", object{"reason": "Elsewhere"})
	hue, sub := s.subscribed("hue", "gwb")
	s.post(s.admin, "/admin/gwb/subscriptions/"+sub.id()+"/cancel", object{"reason": "They called"})
	s.customerView(hue)
	ivo, sub := s.subscribed("ivo", "pix")
	s.put(s.admin, "/subscriptions", []object{{"_id": sub.id(), "plan_id": "premium"}})
	s.post(s.admin, "/admin/subscriptions/"+sub.id()+"/extend", object{"days": 3})
	s.customerView(ivo)
	jan, sub := s.subscribed("jan", "auto")
	s.put(s.admin, "/subscriptions", []object{{"_id": sub.id(), "plan_id": "premium"}})
	s.post(s.admin, "/admin/subscriptions/"+sub.id()+"/extend", object{"days": 3})
	s.customerView(jan)

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
		s.customerView(who)
		s.get(s.admin, "/admin/finance/unapplied-payments", "_id", id)
	}
	s.control("gwa", "POST", "/pix/transfer", object{"value": 12.5})
	s.get(s.admin, "/admin/finance/unapplied-payments")
	s.post(s.admin, "/admin/finance/unapplied-payments/"+nobodys+"/refund", object{})
	for _, path := range []string{
		"/subscriptions", "/subscriptions/stats", "/admin/gwa/subscriptions", "/admin/gwa/subscriptions/stats",
		"/admin/gwb/subscriptions", "/admin/gwb/subscriptions/stats", "/admin/subscriptions/dashboard",
		"/admin/subscriptions/insights",
	} {
		s.get(s.admin, path)
	}
	s.collect()
}
