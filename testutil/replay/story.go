package main

import "fmt"

// tell plays the whole story, chapter by chapter.
func (s *story) tell() error {
	s.begin("the start")
	s.step(request{To: "ready"})
	ready := func(path string) string { return at(s.pairs[0].Answer, "b/"+path) }
	s.settle()
	s.look()
	s.root = s.logIn("root", ready("users/root/password"))
	s.admin = s.logIn("admin", ready("users/admin/password"))
	s.get(nil, "/health")
	s.get(s.root, "/routes")
	s.get(nil, "/docs")
	none := s.post(s.root, "/users-type", []object{{"name": "Nothing", "view": []string{}, "create": []string{}, "update": []string{}, "delete": []string{}}}).id()
	s.post(s.root, "/users", []object{{"username": "clerk", "email": "clerk@example.com", "name": "Clerk", "password": password, "user_type": "admin", "type_user": []string{none}}})
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
	who.token = s.post(nil, "/customers/signup", []object{ana}, header("Accept-Language", "en")).text("info/auth/access_token")
	s.post(nil, "/customers/signup", []object{ana})
	me := s.get(who, "/current-user")
	who.id = me.text("user_id")
	s.get(who, "/customers/me")
	s.get(who, "/videos")
	s.put(who, "/customers/me", []object{{"full_name": "Ana de Souza", "phone": "+5511912345678"}})
	s.put(who, "/customers/me", []object{{"address": object{"street": "Rua A", "number": "1", "locality": "Centro", "city": "São Paulo", "region_code": "SP", "country": "BRA", "postal_code": "01310100"}}})
	s.put(who, "/customers/me", []object{{"email": "other@example.com"}})
	s.put(who, "/customers/me", []object{{"my_list": []string{nobodys}}})
	s.put(who, "/customers/me", []object{{"username": "ana.nova"}})
	s.get(who, "/customers/me")
	s.get(who, "/customers/me/data")

	tokens := s.do(nil, "POST", "/token", nil, form("username=ana%40example.com&password=a+long+password+of+the+story"), urlencoded)
	s.do(nil, "POST", "/token", nil, form("username=ana&password=wrong"), urlencoded)
	s.do(nil, "POST", "/token", nil, form("username=nobody&password=wrong"), urlencoded)
	s.do(nil, "POST", "/token", nil, form("username=ana"), urlencoded)
	s.do(nil, "POST", "/token", nil, form(""), urlencoded)
	s.do(nil, "POST", "/token", `{"username":"ana","password":"x"}`)
	s.do(nil, "POST", "/token", nil, form("username=ana&password=wrong"), urlencoded, header("Device-Token", tokens.Headers["Device-Token"]))
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
	s.look()
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
	s.look()
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
		s.post(nil, "/auth/reset-password", object{"email": "ben@example.com", "code": "000000", "new_password": password})
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
	s.look()
}

func urlencoded(r *request) { r.Headers["Content-Type"] = "application/x-www-form-urlencoded" }

// office: what admins do with users and customers.
func (s *story) office() {
	s.begin("users and customers")
	rights := s.post(s.root, "/users-type", []object{{"name": "Readers", "view": []string{"requisition_get"}, "create": []string{}, "update": []string{}, "delete": []string{}}}).id()
	s.post(s.root, "/users-type", []object{{"name": "Readers", "view": []string{"unheard_of"}, "create": []string{}, "update": []string{}, "delete": []string{}}})
	s.post(s.admin, "/users-type", []object{{"name": "Mine"}})
	s.put(s.root, "/users-type", []object{{"_id": rights, "name": "Those who read"}})
	s.get(s.root, "/users-type", "_id", rights)
	made := s.post(s.root, "/users", []object{{"username": "vera", "email": "vera@example.com", "name": "Vera", "password": password, "user_type": "admin", "type_user": []string{rights}}})
	s.post(s.root, "/users", []object{{"username": "vera", "email": "vera@example.com", "name": "Vera", "password": password, "user_type": "admin"}})
	s.post(s.admin, "/users", []object{{"username": "wim", "email": "wim@example.com", "name": "Wim", "password": password, "is_root": true}})
	s.post(s.admin, "/users", []object{{"username": "wim", "email": "wim@example.com", "name": "Wim", "password": password}})
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
	s.look()
}

// catalogue: films and what they are filed under.
func (s *story) catalogue() {
	s.begin("the catalogue")
	s.quiet = true
	ids := map[string]string{}
	for _, path := range []string{"/categories", "/tags", "/seasons"} {
		ids[path] = s.post(s.admin, path, []object{{"name": "Strange", "slug": "strange"}}).id()
		s.post(s.admin, path, []object{{"name": "Strange", "slug": "strange"}})
		s.post(s.admin, path, []object{{"name": "Strange", "slug": "Not A Slug"}})
		s.post(s.admin, path, []object{{"name": "One", "slug": "one"}, {"name": "Two", "slug": "two"}})
		s.put(s.admin, path, []object{{"_id": ids[path], "name": "Stranger"}})
		s.put(s.admin, path, []object{{"_id": nobodys, "name": "Stranger"}})
		s.get(s.admin, path, "sort", `{"name":-1}`, "qty_docs_page", "3")
		s.get(s.admin, path, "query", `{"slug":{"$in":["one","two"]}}`)
		s.get(s.admin, path, "query", `{"name":{"$regex":"^str","$options":"i"}}`)
	}
	film := object{
		"title": "A film", "slug": "a-film", "video_id": "https://films.example/a.m3u8", "duration": 90, "release_date": "2030-01-01T00:00:00Z",
		"category_id": []string{ids["/categories"]}, "tags_id": []string{ids["/tags"]}, "season_id": ids["/seasons"], "enable": true, "description": "What it is about", "author": "Somebody",
	}
	id := s.post(s.admin, "/videos", []object{film}).id()
	s.post(s.admin, "/videos", []object{film})
	s.post(s.admin, "/videos", []object{{"title": "x"}})
	film["slug"], film["video_id"] = "b-film", "javascript:alert(1)"
	s.post(s.admin, "/videos", []object{film})
	s.put(s.admin, "/videos", []object{{"_id": id, "title": "A better film", "main_highlight": true}})
	s.put(s.admin, "/videos", []object{{"_id": id, "category_id": []string{nobodys}}})
	s.remove(s.admin, "/categories", []object{{"_id": ids["/categories"]}})
	ready := func(path string) string { return at(s.pairs[0].Answer, "b/"+path) }
	watcher := s.logIn("customer", ready("users/customer/password"))
	for _, who := range []*person{watcher, s.admin} {
		s.get(who, "/videos")
		s.get(who, "/videos", "qty_docs_page", "2", "current_page", "1")
		s.get(who, "/videos", "docs_range", "(1,3)")
		s.get(who, "/videos", "docs_range", "1,3")
		s.get(who, "/videos", "sort", `{"title":1,"_id":-1}`)
		s.get(who, "/videos", "query", `{"title":{"$regex":"film"}}`)
		s.get(who, "/videos", "query", `{"$or":[{"duration":{"$gt":80}},{"tags":"surreal"}]}`)
		s.get(who, "/videos", "query", `{"release_date":{"$lt":"2007-01-01T00:00:00Z"},"enable":true}`)
		s.get(who, "/videos", "query", `{"category_name":{"$all":["Animation"]},"tags":{"$exists":true}}`)
		s.get(who, "/videos", "query", `{"duration":{"$mod":[2,1]}}`)
		s.get(who, "/videos", "query", `{"$and":[]}`)
		s.get(who, "/videos", "query", `{"title":{"$regex":"(a+)+$"}}`)
		s.get(who, "/videos", "_id", id)
		s.get(who, "/videos", "_id", nobodys)
		s.get(who, "/search/videos", "q", "film")
		s.get(who, "/search/videos", "q", "dream machine", "qty_docs_page", "2")
		s.get(who, "/search/videos", "q", "")
		s.get(who, "/search/customers", "q", "ana")
		s.get(who, "/search/nothing", "q", "film")
	}
	s.get(watcher, "/videos/"+id+"/stream-url")
	s.get(watcher, "/videos/"+nobodys+"/stream-url")
	s.put(watcher, "/me/watch-history", object{"video_id": id, "timeline": 12.5})
	s.put(watcher, "/me/watch-history", object{"video_id": id, "timeline": 30})
	s.put(watcher, "/me/watch-history", object{"video_id": id, "timeline": -1})
	s.put(watcher, "/me/watch-history", object{"video_id": nobodys, "timeline": 1})
	s.get(watcher, "/me/watch-history")
	s.get(watcher, "/me/watch-history", "video_id", id)
	s.remove(watcher, "/me/watch-history", nil, asking("video_id", id))
	s.get(watcher, "/me/watch-history")
	s.put(watcher, "/customers/me", []object{{"my_list": []string{id}}})
	// A file of a film.
	up := s.do(s.admin, "POST", "/upload-file/archive-records/"+id, nil, upload("poster.png", picture(60, 40, red)))
	s.do(s.admin, "POST", "/upload-file/archive-records/"+id, nil, upload("notes.txt", []byte("some notes")))
	s.do(s.admin, "POST", "/upload-file/archive-records/"+nobodys, nil, upload("notes.txt", []byte("some notes")))
	file := firstOf(up, "info/file_id", "docs/0/_id", "file_id", "_id", "info/_id")
	s.get(watcher, "/archive-records/"+file)
	s.get(nil, "/archive-records/"+file)
	s.do(watcher, "GET", "/archive-records/"+file, nil, header("Range", "bytes=0-9"))
	s.do(watcher, "GET", "/archive-records/"+file, nil, header("Range", "bytes=9999-"))
	s.do(watcher, "HEAD", "/archive-records/"+file, nil)
	archive := s.post(watcher, "/auth/refresh-archive-token", nil)
	s.get(nil, "/archive-records-public/"+firstOf(archive, "archive_token", "info/archive_token"), "f", file)
	s.get(nil, "/archive-records-public/x", "f", file)
	s.get(nil, "/archive-records/"+file, "token", watcher.token)
	s.remove(s.admin, "/upload-file/archive-records/"+id+"/"+nobodys, nil)
	s.remove(s.admin, "/upload-file/archive-records/"+id+"/"+file, nil)
	s.get(watcher, "/archive-records/"+file)
	s.put(s.admin, "/videos", []object{{"_id": id, "enable": false}})
	s.get(watcher, "/videos", "_id", id)
	s.get(watcher, "/videos/"+id+"/stream-url")
	s.remove(s.admin, "/videos", []object{{"_id": id}})
	s.remove(s.admin, "/videos", []object{{"_id": id}})
	s.remove(s.admin, "/tags", []object{{"_id": ids["/tags"]}})
	s.remove(s.admin, "/seasons", []object{{"_id": ids["/seasons"]}})
	s.remove(s.admin, "/categories", []object{{"_id": ids["/categories"]}})
	s.remove(s.admin, "/categories", nil, asking("_id", nobodys))
	s.quiet = false
	s.settle()
}

func firstOf(r reply, paths ...string) string {
	for _, path := range paths {
		if text := r.text(path); text != "" {
			return text
		}
	}
	return "missing"
}

// board: the staff's requisitions.
func (s *story) board() {
	s.begin("the board")
	s.quiet = true
	status := func(name string, index int) string {
		return s.post(s.admin, "/admin/requisition-status", []object{{"name": name, "index": index, "color": "#00ff00"}}).id()
	}
	open, done := status("Open", 1), status("Done", 2)
	s.post(s.admin, "/admin/requisition-status", []object{{"name": "Bad", "color": "green"}})
	s.put(s.admin, "/admin/requisition-status", []object{{"_id": done, "name": "Finished"}})
	s.get(s.admin, "/admin/requisition-status", "sort", `{"index":1}`)
	id := s.post(s.admin, "/admin/requisitions", []object{{"name": "A lamp", "status_id": open, "priority": "high", "description": []string{"It is dark"}}}).id()
	if id == "" {
		id = s.post(s.admin, "/admin/requisitions", []object{{"name": "A lamp", "status_id": open}}).id()
	}
	s.post(s.admin, "/admin/requisitions", []object{{"name": "A lamp", "status_id": nobodys}})
	s.post(s.clerk, "/admin/requisitions", []object{{"name": "A lamp", "status_id": open}})
	s.put(s.admin, "/admin/requisitions", []object{{"_id": id, "status_id": done}})
	s.put(s.root, "/admin/requisitions", []object{{"_id": id, "name": "Two lamps"}})
	s.put(s.clerk, "/admin/requisitions", []object{{"_id": id, "name": "Three lamps"}})
	s.get(s.clerk, "/admin/requisitions")
	up := s.do(s.admin, "POST", "/admin/requisitions/"+id+"/files", nil, upload("offer.txt", []byte("an offer")))
	s.do(s.admin, "POST", "/admin/requisitions/"+nobodys+"/files", nil, upload("offer.txt", []byte("an offer")))
	listed := s.get(s.admin, "/admin/requisitions", "_id", id)
	file := firstOf(up, "info/file_id", "file_id", "docs/0/_id", "info/_id", "_id")
	if f := firstOf(listed, "docs/0/files/0/file_id", "docs/0/files/0/_id"); f != "missing" {
		file = f
	}
	s.get(s.admin, "/admin/requisitions/files/"+file)
	s.get(nil, "/admin/requisitions/files/"+file, "token", s.admin.token)
	s.get(s.clerk, "/admin/requisitions/files/"+file)
	s.get(s.admin, "/admin/requisitions/"+id+"/history")
	s.remove(s.admin, "/admin/requisition-status", []object{{"_id": done}})
	s.remove(s.admin, "/admin/requisitions/"+id+"/files/"+file, nil)
	s.remove(s.admin, "/admin/requisitions/"+id+"/files/"+file, nil)
	s.get(s.admin, "/admin/requisitions", "query", `{"priority":"high"}`)
	s.remove(s.admin, "/admin/requisitions", []object{{"_id": id}})
	s.remove(s.admin, "/admin/requisition-status", []object{{"_id": done}, {"_id": open}})
	s.get(s.admin, "/admin/requisitions/"+id+"/history")
}

// configuration: the switches of the platform.
func (s *story) configuration() {
	s.begin("configuration")
	s.quiet = true
	for _, c := range []struct {
		name, field string
		values      []string
	}{
		{"payment-gateway", "gateway", []string{"gwb", "x", "gwa"}},
		{"pix-billing-mode", "mode", []string{"quarterly", "x", "monthly"}},
		{"pix-subscription-mode", "mode", []string{"recurring", "x", "manual"}},
	} {
		s.get(nil, "/config/"+c.name)
		for _, v := range c.values {
			s.put(s.admin, "/admin/config/"+c.name, object{c.field: v})
			s.get(nil, "/config/"+c.name)
		}
	}
	s.get(nil, "/config/client-version")
	s.put(s.admin, "/config/client-version", object{"client_version": "1.2.3"})
	s.put(s.root, "/config/client-version", object{"client_version": "1.2.3", "min_version": "1.0.0"})
	s.put(s.root, "/config/client-version", object{"client_version": "1.2"})
	s.put(s.root, "/config/client-version", object{"client_version": "1.0.0", "min_version": "2.0.0"})
	s.get(nil, "/config/client-version")
	s.get(nil, "/gwb/config")
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
	s.look()
}

// mine is what a customer sees of a subscription.
func (s *story) mine(who *person) reply {
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
	return s.get(s.admin, "/subscriptions", "query", fmt.Sprintf(`{"customer_id":"%s"}`, who.id), "sort", `{"register_date":-1}`)
}
