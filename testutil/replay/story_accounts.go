package main

// accounts: signing up, in, and out of trouble.
func (s *story) accounts() {
	s.begin("accounts")
	s.get(nil, "/customers/check-availability", "email", "ana@example.com")
	s.get(nil, "/customers/check-availability", "tax_id", "52998224725")
	s.get(nil, "/customers/check-availability", "email", "customer@example.com")
	s.get(nil, "/customers/check-availability")
	ana := s.newcomer("ana")
	wrong := func(field string, value any) {
		body := object{}
		for k, v := range ana {
			body[k] = v
		}
		body[field] = value
		s.post(nil, "/customers/signup", []object{body})
	}
	wrong("password", "short")
	wrong("password", "password123")
	wrong("password", "ana@example.com")
	wrong("email", "nonsense")
	wrong("email", "customer@example.com")
	wrong("username", "customer")
	wrong("username", "suporte")
	wrong("username", " ")
	wrong("tax_id", "11111111111")
	wrong("tax_id", "12ABC34501DE35")
	wrong("phone", "123")
	wrong("full_name", "A\u202eB")
	wrong("verification_code", "000000")
	wrong("promo_code", "NOCODE")
	wrong("_id", nobodys)
	s.post(nil, "/customers/signup", []object{ana, ana})
	s.post(nil, "/customers/signup", []object{})
	s.post(nil, "/customers/signup", []object{ana})
	s.post(nil, "/customers/signup", []object{ana}) // within the cooldown
	code := s.code("ana@example.com")
	ana["verification_code"] = "999999"
	s.post(nil, "/customers/signup", []object{ana})
	ana["verification_code"] = code
	who := &person{name: "ana", address: "ana@example.com"}
	who.token = s.post(nil, "/customers/signup", []object{ana}, header("Accept-Language", "en")).
		text("info/auth/access_token")
	s.post(nil, "/customers/signup", []object{ana})
	me := s.get(who, "/current-user")
	who.id = me.text("user_id")
	s.get(who, "/customers/me")
	s.get(who, "/videos")
	s.put(who, "/customers/me", []object{{"full_name": "Ana de Souza", "phone": "+5511912345678"}})
	s.put(who, "/customers/me", []object{
		{
			"address": object{
				"street": "Rua A", "number": "1", "locality": "Centro", "city": "São Paulo", "region_code": "SP",
				"country": "BRA", "postal_code": "01310100",
			},
		},
	})
	s.put(who, "/customers/me", []object{{"email": "other@example.com"}})
	s.put(who, "/customers/me", []object{{"my_list": []string{nobodys}}})
	s.put(who, "/customers/me", []object{{"username": "ana.nova"}})
	s.get(who, "/customers/me")
	s.get(who, "/customers/me/data")

	tokens := s.do(nil, "POST", "/token", nil, form("username=ana%40example.com&password=a+long+password+of+the+story"),
		urlencoded)
	s.do(nil, "POST", "/token", nil, form("username=ana&password=wrong"), urlencoded)
	s.do(nil, "POST", "/token", nil, form("username=nobody&password=wrong"), urlencoded)
	s.do(nil, "POST", "/token", nil, form("username=ana"), urlencoded)
	s.do(nil, "POST", "/token", nil, form(""), urlencoded)
	s.do(nil, "POST", "/token", `{"username":"ana","password":"x"}`)
	s.do(nil, "POST", "/token", nil, form("username=ana&password=wrong"), urlencoded,
		header("Device-Token", tokens.Headers["Device-Token"]))
	fresh := s.post(nil, "/auth/refresh-token", object{"refresh_token": tokens.text("refresh_token")})
	s.post(nil, "/auth/refresh-token", object{"refresh_token": tokens.text("refresh_token")})
	s.post(nil, "/auth/refresh-token", object{"refresh_token": tokens.text("access_token")})
	s.post(nil, "/auth/refresh-token", object{"refresh_token": "x"})
	s.get(&person{token: fresh.text("access_token")}, "/current-user")
	s.get(&person{token: tokens.text("refresh_token")}, "/current-user")
	s.get(&person{token: "x.y.z"}, "/current-user")
	s.get(nil, "/current-user")
	s.post(who, "/auth/refresh-archive-token", nil)

	s.post(who, "/auth/change-password", object{"current_password": "wrong", "new_password": "another long password"})
	s.post(who, "/auth/change-password", object{"current_password": password, "new_password": "short"})
	s.post(who, "/auth/change-password", object{"current_password": password, "new_password": password})
	s.post(who, "/auth/change-password", object{"current_password": password, "new_password": "another long password"})
	s.get(&person{token: fresh.text("access_token")}, "/current-user")
	who = s.logIn("ana.nova", "another+long+password")
	s.get(who, "/current-user")

	s.wait("2m")
	s.post(nil, "/auth/forgot-password", object{"email": "ana@example.com"})
	s.post(nil, "/auth/forgot-password", object{"email": "nobody@example.com"})
	s.post(nil, "/auth/forgot-password", object{"email": "nonsense"})
	code = s.code("ana@example.com")
	s.post(nil, "/auth/reset-password", object{"email": "ana@example.com", "code": "000000", "new_password": password})
	s.post(nil, "/auth/reset-password", object{"email": "ana@example.com", "code": code, "new_password": "short"})
	s.post(nil, "/auth/reset-password", object{"email": "nobody@example.com", "code": code, "new_password": password})
	s.post(nil, "/auth/reset-password", object{"email": "ana@example.com", "code": code, "new_password": password})
	s.post(nil, "/auth/reset-password", object{"email": "ana@example.com", "code": code, "new_password": password})
	s.get(who, "/current-user")
	who = s.logIn("ana.nova", "a+long+password+of+the+story")

	s.wait("2m")
	s.post(who, "/customers/me/change-email", object{"new_email": "customer@example.com"})
	s.post(who, "/customers/me/change-email", object{"new_email": "nonsense"})
	s.post(who, "/customers/me/change-email", object{"new_email": "ana.new@example.com", "current_password": "wrong"})
	s.post(who, "/customers/me/change-email", object{"new_email": "ana.new@example.com", "current_password": password})
	code = s.code("ana.new@example.com")
	s.post(who, "/customers/me/confirm-email", object{"verification_code": "000000"})
	s.post(who, "/customers/me/confirm-email", object{"verification_code": code})
	s.get(who, "/current-user")
	s.settle()
	s.collect()
	s.get(nil, "/auth/undo-email-change")
	undo := s.found("ana@example.com", `undo-email-change#(\S+)`)
	s.post(nil, "/auth/undo-email-change", object{"token": "x"})
	s.post(nil, "/auth/undo-email-change", object{"token": undo, "new_password": "short"})
	s.post(nil, "/auth/undo-email-change", object{"token": undo, "new_password": password})
	s.post(nil, "/auth/undo-email-change", object{"token": undo, "new_password": password})
	who = s.logIn("ana.nova", "a+long+password+of+the+story")
	s.get(who, "/current-user")

	// Without a code at signup: verified later.
	ben := s.newcomer("ben")
	ben["verify_email_now"] = false
	a := s.post(nil, "/customers/signup", []object{ben})
	b := &person{name: "ben", token: a.text("info/auth/access_token")}
	if b.token == "" {
		b = s.logIn("ben", "a+long+password+of+the+story")
	}
	s.collect()
	s.wait("2m")
	s.post(nil, "/auth/resend-verification", object{"email": "ben@example.com"})
	s.post(nil, "/auth/resend-verification", object{"email": "nobody@example.com"})
	code = s.code("ben@example.com")
	s.post(b, "/customers/me/verify-email", object{"code": "000000"})
	s.post(b, "/customers/me/verify-email", object{"code": code})
	s.post(b, "/customers/me/verify-email", object{"code": code})

	// A code that is tried too often, and one that is too old.
	s.wait("2m")
	s.post(nil, "/auth/forgot-password", object{"email": "ben@example.com"})
	code = s.code("ben@example.com")
	for range 6 {
		s.post(nil, "/auth/reset-password", object{
			"email": "ben@example.com", "code": "000000", "new_password": password,
		})
	}
	s.post(nil, "/auth/reset-password", object{"email": "ben@example.com", "code": code, "new_password": password})
	s.post(nil, "/auth/forgot-password", object{"email": "ana@example.com"})
	code = s.code("ana@example.com")
	s.wait("40m")
	s.post(nil, "/auth/reset-password", object{"email": "ana@example.com", "code": code, "new_password": password})

	// Who came from the old platform.
	ready := func(path string) string { return at(s.pairs[0].Answer, "b/"+path) }
	s.logIn("migrated", "whatever")
	s.logIn("migrated_flagged", ready("users/migrated_flagged/password"))
	s.post(nil, "/auth/forgot-password", object{"email": "migrated@example.com"})
	code = s.code("migrated@example.com")
	s.post(nil, "/auth/reset-password", object{"email": "migrated@example.com", "code": code, "new_password": password})
	s.logIn("migrated", "a+long+password+of+the+story")

	// Avatars.
	s.do(b, "POST", "/me/avatar", nil, upload("me.png", picture(64, 48, blue)))
	avatar := firstOf(s.get(b, "/customers/me"), "docs/0/avatar_id", "avatar_id")
	s.get(nil, "/avatars/"+avatar)
	s.get(nil, "/avatars/"+avatar, "w", "32", "q", "70", "fmt", "jpeg")
	s.get(nil, "/avatars/"+avatar, "w", "99999")
	s.get(nil, "/avatars/"+avatar, "fmt", "x")
	s.do(nil, "HEAD", "/avatars/"+avatar, nil)
	s.do(b, "POST", "/me/avatar", nil, upload("me.txt", []byte("no picture")))
	s.do(b, "POST", "/me/avatar", nil, upload("me.png", picture(64, 48, red)))
	s.get(nil, "/avatars/"+avatar)
	s.remove(b, "/me/avatar", nil)
	s.remove(b, "/me/avatar", nil)

	gone := s.signUp("gone")
	s.remove(gone, "/customers/me", nil)
	s.get(gone, "/customers/me")
	s.logIn("gone", "a+long+password+of+the+story")
	s.settle()
	s.collect()
}

func urlencoded(r *request) { r.Headers["Content-Type"] = "application/x-www-form-urlencoded" }

// office: what admins do with users and customers.
func (s *story) office() {
	s.begin("users and customers")
	rights := s.post(s.root, "/users-type", []object{
		{
			"name": "Readers", "view": []string{"requisition_get"}, "create": []string{}, "update": []string{},
			"delete": []string{},
		},
	}).id()
	s.post(s.root, "/users-type", []object{
		{
			"name": "Readers", "view": []string{"unheard_of"}, "create": []string{}, "update": []string{},
			"delete": []string{},
		},
	})
	s.post(s.admin, "/users-type", []object{{"name": "Mine"}})
	s.put(s.root, "/users-type", []object{{"_id": rights, "name": "Those who read"}})
	s.get(s.root, "/users-type", "_id", rights)
	made := s.post(s.root, "/users", []object{
		{
			"username": "vera", "email": "vera@example.com", "name": "Vera", "password": password, "user_type": "admin",
			"type_user": []string{rights},
		},
	})
	s.post(s.root, "/users", []object{
		{"username": "vera", "email": "vera@example.com", "name": "Vera", "password": password, "user_type": "admin"},
	})
	s.post(s.admin, "/users", []object{
		{"username": "wim", "email": "wim@example.com", "name": "Wim", "password": password, "is_root": true},
	})
	s.post(s.admin, "/users", []object{
		{"username": "wim", "email": "wim@example.com", "name": "Wim", "password": password},
	})
	vera := s.logIn("vera", "a+long+password+of+the+story")
	s.get(vera, "/my-user")
	s.put(vera, "/my-user", []object{{"_id": vera.id, "name": "Vera V"}})
	s.put(vera, "/my-user", []object{{"_id": vera.id, "is_root": true}})
	s.put(vera, "/my-user", []object{{"_id": vera.id, "email": "vera.new@example.com", "current_password": "wrong"}})
	s.put(vera, "/my-user", []object{{"_id": s.admin.id, "name": "Other"}})
	s.get(vera, "/admin/requisitions")
	s.get(vera, "/admin/requisition-status")
	s.put(s.root, "/users", []object{{"_id": made.id(), "enable": false}})
	s.get(vera, "/my-user")
	s.logIn("vera", "a+long+password+of+the+story")
	s.put(s.root, "/users", []object{{"_id": nobodys, "enable": false}})
	s.put(s.root, "/users", []object{{"_id": s.root.id, "enable": false}})
	s.remove(s.root, "/users", []object{{"_id": s.root.id}})
	s.remove(s.root, "/users", []object{{"_id": made.id()}})
	s.remove(s.root, "/users", []object{{"_id": made.id()}})
	s.remove(s.root, "/users-type", []object{{"_id": rights}})
	s.remove(s.root, "/users-type", []object{{"_id": rights}})
	s.get(s.root, "/users")
	s.get(s.root, "/users", "sort", `{"username":1}`, "qty_docs_page", "2")

	cora := s.newcomer("cora")
	cora["verify_email_now"] = false
	s.post(nil, "/customers/signup", []object{cora})
	c := s.logIn("cora", "a+long+password+of+the+story")
	list := s.get(s.root, "/customers", "query", `{"username":"cora"}`)
	id := list.id()
	s.get(s.root, "/customers")
	s.get(s.root, "/customers", "sort", `{"email":-1}`, "qty_docs_page", "2", "current_page", "1")
	s.get(s.admin, "/admin/customers/360", "_id", id)
	s.get(s.admin, "/admin/customers/360", "email", "cora@example.com")
	s.get(s.admin, "/admin/customers/360", "email", "nobody@example.com")
	s.get(s.admin, "/admin/customers/360")
	s.get(s.admin, "/admin/customers/tenure")
	s.get(s.admin, "/admin/customers/export", "format", "csv")
	s.get(s.admin, "/admin/customers/export", "format", "xlsx")
	s.get(s.admin, "/admin/customers/export", "format", "json", "query", `{"username":"cora"}`)
	s.post(s.admin, "/admin/customers/"+id+"/verify-email", nil)
	s.post(s.admin, "/admin/customers/"+id+"/verify-email", nil)
	s.post(s.admin, "/admin/customers/"+id+"/toggle-active", nil)
	s.get(c, "/customers/me")
	s.logIn("cora", "a+long+password+of+the+story")
	s.post(s.admin, "/admin/customers/"+id+"/toggle-active", nil)
	c = s.logIn("cora", "a+long+password+of+the+story")
	s.put(s.admin, "/customers", []object{{"_id": id, "full_name": "Cora C"}})
	s.put(s.admin, "/customers", []object{{"_id": id, "email": "customer@example.com"}})
	s.put(s.admin, "/customers", []object{{"_id": id, "email": "cora.new@example.com"}})
	s.remove(s.admin, "/customers", []object{{"_id": id}})
	s.remove(s.admin, "/customers", []object{{"_id": id}})
	s.get(c, "/customers/me")
	s.get(s.root, "/audit-log")
	s.get(s.root, "/audit-log", "query", `{"collection":"users"}`, "qty_docs_page", "3")
	s.collect()
}
