package main

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
		"title": "A film", "slug": "a-film", "video_id": "https://films.example/a.m3u8", "duration": 90,
		"release_date": "2030-01-01T00:00:00Z",
		"category_id":  []string{ids["/categories"]}, "tags_id": []string{ids["/tags"]}, "season_id": ids["/seasons"],
		"enable": true, "description": "What it is about", "author": "Somebody",
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
	s.remove(watcher, "/me/watch-history", nil, requesting("video_id", id))
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
	s.remove(s.admin, "/categories", nil, requesting("_id", nobodys))
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
		return s.post(s.admin, "/admin/requisition-status",
			[]object{{"name": name, "index": index, "color": "#00ff00"}}).id()
	}
	open, done := status("Open", 1), status("Done", 2)
	s.post(s.admin, "/admin/requisition-status", []object{{"name": "Bad", "color": "green"}})
	s.put(s.admin, "/admin/requisition-status", []object{{"_id": done, "name": "Finished"}})
	s.get(s.admin, "/admin/requisition-status", "sort", `{"index":1}`)
	id := s.post(s.admin, "/admin/requisitions",
		[]object{{"name": "A lamp", "status_id": open, "priority": "high", "description": []string{"It is dark"}}}).id()
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
