package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/taxid"
	"marquee/testutil/pgbouncer"
	"marquee/testutil/soak"
)

// TestStoriesBehindPgBouncerLong: serve and work behind a pooler in transaction mode, one story a group of routes, all at
// once on the ten sessions that they share. Nothing of one shows in another's session.
func TestStoriesBehindPgBouncerLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		o := newOutside(t)
		o.env = append(o.env, "DATABASE_URL="+program.Start(t, o.database), "DATABASE_POOLER=transaction",
			"DATABASE_DIRECT_URL="+o.database, "LOG_LEVEL=info")
		serving, working := o.serve(""), o.start("work", "")
		s := &tellers{outside: o, root: o.loginAs("root"), called: map[string]bool{}}
		s.event = s.newEvent(t)
		t.Run("stories", func(t *testing.T) {
			for group, tell := range stories {
				t.Run(group, func(t *testing.T) {
					t.Parallel()
					tell(&teller{tellers: s, t: t, token: s.root})
				})
			}
		})
		kept := "without prepared statements"
		if program.Prepares() {
			kept = "with prepared statements"
		}
		for _, p := range []*process{serving, working} {
			require.Contains(t, p.log.String(), `"pooler":"`+kept+`"`)
			require.NotContains(t, p.log.String(), `"level":"ERROR"`)
		}
		listening := o.count(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'marquee listener'`)
		require.Equal(t, 1, listening, "work hears of jobs")
		s.requireEveryGroup(t)
		o.run("doctor")
	})
}

// tellers is what the stories share.
type tellers struct {
	*outside
	root, event string
	people      atomic.Int32
	mu          sync.Mutex
	called      map[string]bool // groups of routes
}

// requireEveryGroup: each group that the document of the API names was asked for.
func (s *tellers) requireEveryGroup(t *testing.T) {
	t.Helper()
	document := expect(t, 200, http.MethodGet, s.api("/openapi.json"), "", nil)
	s.called["openapi.json"] = true
	s.called["files"] = s.called["upload-file"] && s.called["archive-records"] // one group in the document
	missing := map[string]bool{}
	for _, operations := range document["paths"].(map[string]any) {
		for _, operation := range operations.(map[string]any) {
			if tags, ok := operation.(map[string]any)["tags"].([]any); ok && !s.called[tags[0].(string)] {
				missing[tags[0].(string)] = true
			}
		}
	}
	delete(missing, "webhooks") // which the gateways call
	require.Empty(t, slices.Sorted(maps.Keys(missing)), "no story asks these groups of routes")
}

func (s *tellers) newEvent(t *testing.T) string {
	t.Helper()
	teller := &teller{tellers: s, t: t, token: s.root}
	return teller.made("/events", map[string]any{
		"title": "Premiere", "event_date": "2099-04-20T22:00:00Z", "location": "Cine Ipiranga", "capacity": 400,
		"ticket_value": 60, "is_sale_box_office": true,
	})
}

// teller is somebody who tells one story.
type teller struct {
	*tellers
	t     *testing.T
	name  string
	token string
	id    string
}

// customer signs a new customer up, and in.
func (s *teller) customer() *teller {
	s.t.Helper()
	n := s.people.Add(1)
	c := &teller{tellers: s.tellers, t: s.t, name: fmt.Sprintf("teller%d", n)}
	c.send(http.MethodPost, "/customers/signup", []map[string]any{{
		"username": c.name, "email": c.name + "@example.com", "password": s.password, "full_name": "Ana Souza",
		"phone": "+5511987654321", "tax_id": taxid.CPF(313_700_000 + 7*int(n)), "verify_email_now": false,
	}})
	c.signIn()
	c.id = c.get("/current-user")["user_id"].(string)
	return c
}

func (s *teller) signIn() map[string]any {
	s.t.Helper()
	a := s.sent(http.MethodPost, "/token", url.Values{"username": {s.name}, "password": {s.password}})
	s.token = a["access_token"].(string)
	return a
}

func (s *teller) record(path string) {
	parts := strings.SplitN(strings.TrimLeft(strings.SplitN(path, "?", 2)[0], "/"), "/", 3)
	group := parts[0]
	if group == "admin" {
		group += " " + parts[1]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called[group] = true
}

// send asks for something that has to succeed, and returns what was answered.
func (s *teller) send(method, path string, body any) []byte {
	s.t.Helper()
	s.record(path)
	status, raw := call(s.t, method, s.api(path), s.token, body)
	require.Equal(s.t, 2, status/100, "%s %s: %d %s", method, path, status, raw)
	return raw
}

func (s *teller) sent(method, path string, body any) (reply map[string]any) {
	s.t.Helper()
	raw := s.send(method, path, body)
	require.NoError(s.t, json.Unmarshal(raw, &reply), "%s %s: %s", method, path, raw)
	return reply
}

func (s *teller) get(path string) map[string]any {
	s.t.Helper()
	return s.sent(http.MethodGet, path, nil)
}

func (s *teller) post(path string, body any) map[string]any {
	s.t.Helper()
	return s.sent(http.MethodPost, path, body)
}

func (s *teller) put(path string, body any) map[string]any {
	s.t.Helper()
	return s.sent(http.MethodPut, path, body)
}

// docs are those that a list finds by a client's filter.
func (s *teller) docs(path, filter string) []any {
	s.t.Helper()
	return s.get(path + "?query=" + url.QueryEscape(filter))["docs"].([]any)
}

// made is the id of a record that a collection makes.
func (s *teller) made(path string, fields map[string]any) string {
	s.t.Helper()
	return s.post(path, []map[string]any{fields})["docs"].([]any)[0].(map[string]any)["_id"].(string)
}

// lifecycle makes a record of a collection, finds it by a filter, changes a field of it and deletes it.
func (s *teller) lifecycle(path, field string, fields map[string]any) {
	s.t.Helper()
	id := s.made(path, fields)
	byID := `{"_id":{"$in":["` + id + `"]}}`
	require.Len(s.t, s.docs(path, byID), 1)
	s.put(path, []map[string]any{{"_id": id, field: "Another"}})
	require.Equal(s.t, "Another", s.docs(path, byID)[0].(map[string]any)[field])
	s.send(http.MethodDelete, path, []map[string]any{{"_id": id}})
	require.Empty(s.t, s.docs(path, byID))
}

// subscribed waits until the customer's subscription is active.
func (s *teller) subscribed() (id string) {
	s.t.Helper()
	eventually(s.t, "the subscription is not active", func() bool {
		docs := s.get("/customers/me/subscription")["docs"].([]any)
		if len(docs) == 0 {
			return false
		}
		id = docs[0].(map[string]any)["_id"].(string)
		return docs[0].(map[string]any)["status"] == "active"
	})
	return id
}

// upload sends a file as a form does.
func (s *teller) upload(path, name string, content []byte) map[string]any {
	s.t.Helper()
	s.record(path)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	require.NoError(s.t, err)
	_, err = part.Write(content)
	require.NoError(s.t, err)
	require.NoError(s.t, form.Close())
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.api(path), &body)
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	var reply map[string]any
	require.NoError(s.t, json.NewDecoder(res.Body).Decode(&reply))
	require.Equal(s.t, 2, res.StatusCode/100, "%v", reply)
	return reply
}
