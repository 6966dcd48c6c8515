package main

// story is what is asked of a platform, in chapters: one method each, in the order of tell.
type story struct {
	*recorder

	root, admin, clerk *person // clerk: an admin without rights
}

// play plays the whole story, chapter by chapter.
func (s *story) play() error {
	s.begin("the start")
	s.step(request{To: "ready"})
	ready := func(path string) string { return at(s.pairs[0].Answer, "b/"+path) }
	s.settle()
	s.collect()
	s.root = s.logIn("root", ready("users/root/password"))
	s.admin = s.logIn("admin", ready("users/admin/password"))
	s.get(nil, "/health")
	s.get(s.root, "/routes")
	s.get(nil, "/docs")
	none := s.post(s.root, "/users-type", []object{
		{"name": "Nothing", "view": []string{}, "create": []string{}, "update": []string{}, "delete": []string{}},
	}).id()
	s.post(s.root, "/users", []object{
		{
			"username": "clerk", "email": "clerk@example.com", "name": "Clerk", "password": password,
			"user_type": "admin", "type_user": []string{none},
		},
	})
	s.clerk = s.logIn("clerk", "a+long+password+of+the+story")

	s.accounts()
	s.office()
	s.catalogue()
	s.board()
	s.configuration()
	s.plans()
	s.cardsAtB()
	s.cardsAtA()
	s.pix()
	s.hooks()
	s.promoCodes()
	s.tickets()
	s.doors()
	s.refunds()
	s.adminsAtWork()
	s.faults()
	s.months()
	s.figures()
	if s.err == nil {
		s.everything()
	}
	return s.err
}

// everything is the matrix of routes and callers.
func (s *story) everything() {
	s.begin("every route by everybody")
	s.quiet = true
	plain := s.signUp("plain")
	member, sub := s.subscribed("member", "gwb")
	ids := map[string]string{
		"/subscriptions/": sub.id(), "/admin/subscriptions/": sub.id(), "/admin/gwb/subscriptions/": sub.id(),
		"/admin/customers/": plain.id, "plan_id": "plus",
		"/events/": s.get(s.admin, "/events").id(), "/store/events/": s.get(s.admin, "/events").id(),
		"/admin/events-dashboard/events/": s.get(s.admin, "/events").id(),
		"/webhook-logs/":                  s.get(s.admin, "/webhook-logs").id(),
	}
	all := matrix{
		s.recorder, map[string]*person{"customer": plain, "subscriber": member, "clerk": s.clerk, "root": s.root}, ids,
	}
	all.play()
	s.quiet = false
	s.settle()
	s.collect()
	s.get(s.root, "/audit-log", "sort", `{"register_date":-1}`, "qty_docs_page", "50")
}
