package main_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/stretchr/testify/require"
)

type object = map[string]any

const visa = "pm_card_visa"

// stories are told by root unless they make a customer: one a group of routes, whose name is the group's.
var stories = map[string]func(s *teller){
	"health": func(s *teller) {
		require.Equal(s.t, "ok", s.get("/health")["status"])
		s.send(http.MethodGet, "/docs", nil)
	},
	"routes": func(s *teller) { require.NotEmpty(s.t, s.send(http.MethodGet, "/routes", nil)) },
	"token and auth": func(s *teller) {
		c := s.customer()
		refreshed := c.post("/auth/refresh-token", object{"refresh_token": c.signIn()["refresh_token"]})
		require.NotEmpty(s.t, refreshed["access_token"])
		c.post("/auth/change-password", object{"current_password": c.password, "new_password": "another long password"})
		status, _ := call(s.t, http.MethodPost, s.api("/token"), "",
			url.Values{"username": {c.name}, "password": {c.password}})
		require.Equal(s.t, http.StatusUnauthorized, status, "it is another now")
	},
	"customers/signup": func(s *teller) {
		person := object{
			"username": "signed", "email": "signed@example.com", "password": s.password, "full_name": "Ana Souza",
			"phone": "+5511987654321",
		}
		s.send(http.MethodPost, "/customers/signup", []object{person})
		eventually(s.t, "no code was mailed", func() bool { // by a job, which work hears of
			for _, m := range s.mails.Mails() {
				if m.To == "signed@example.com" {
					person["verification_code"] = sixDigits.FindString(m.Text)
					return true
				}
			}
			return false
		})
		require.Contains(s.t, string(s.send(http.MethodPost, "/customers/signup", []object{person})), "access_token")
	},
	"customers/me": func(s *teller) {
		c := s.customer()
		c.put("/customers/me", []object{{"address": object{
			"street": "Rua A", "number": "1", "locality": "Centro", "city": "São Paulo", "region_code": "SP",
			"country": "BRA", "postal_code": "01310100",
		}}})
		require.Contains(s.t, string(c.send(http.MethodGet, "/customers/me", nil)), "São Paulo")
		c.send(http.MethodGet, "/customers/me/data", nil)
		c.send(http.MethodDelete, "/customers/me", object{"current_password": c.password})
	},
	"customers": func(s *teller) {
		c := s.customer()
		byName := `{"username":{"$regex":"^` + strings.ToUpper(c.name) + `$","$options":"i"}}`
		require.Len(s.t, s.docs("/customers", byName), 1)
		s.put("/customers", []object{{"_id": c.id, "full_name": "Ana Lima"}})
		require.Len(s.t, s.docs("/customers", `{"full_name":"Ana Lima","_id":"`+c.id+`"}`), 1)
	},
	"admin customers": func(s *teller) {
		c := s.customer()
		s.post("/admin/customers/"+c.id+"/verify-email", nil)
		s.post("/admin/customers/"+c.id+"/toggle-active", nil)
		s.get("/admin/customers/tenure")
		s.send(http.MethodGet, "/admin/customers/360?_id="+c.id, nil)
		s.send(http.MethodGet, "/admin/customers/export?format=csv&query=%7B%22enable%22%3Afalse%7D", nil)
	},
	"users": func(s *teller) {
		id := s.made("/users", object{
			"username": "vera", "email": "vera@example.com", "name": "Vera", "password": s.password,
			"user_type": "admin",
		})
		vera := &teller{tellers: s.tellers, t: s.t, name: "vera"}
		vera.signIn()
		vera.put("/my-user", []object{{"_id": id, "name": "Vera Lima"}})
		require.Len(s.t, s.docs("/users", `{"name":"Vera Lima"}`), 1)
	},
	"admin users": func(s *teller) {
		c := s.customer()
		sessions := "/admin/users/" + c.id + "/sessions"
		require.Contains(s.t, string(s.send(http.MethodGet, sessions, nil)), `"_id"`)
		s.send(http.MethodDelete, sessions, nil)
		status, _ := call(s.t, http.MethodGet, s.api("/current-user"), c.token, nil)
		require.Equal(s.t, http.StatusForbidden, status, "their session was ended")
	},
	"users-type": func(s *teller) {
		s.lifecycle("/users-type", "name", object{
			"name": "Readers", "view": []string{"requisition_get"}, "create": []string{}, "update": []string{},
			"delete": []string{},
		})
	},
	"audit-log": func(s *teller) {
		id := s.made("/tags", object{"name": "Told of", "slug": "told-of"})
		require.Len(s.t, s.docs("/audit-log", `{"record_id":"`+id+`"}`), 1)
	},
	"plans": func(s *teller) {
		id := s.made("/plans", object{"plan_id": "solo", "name": "Solo", "amount": 990})
		s.put("/plans", []object{{"_id": id, "amount": 1090}})
		s.post("/plans/solo/sync-gwb", nil)
		s.post("/plans/solo/inactivate", nil)
		require.Len(s.t, s.docs("/plans/admin", `{"plan_id":"solo"}`), 1)
	},
	"categories": func(s *teller) { s.lifecycle("/categories", "name", object{"name": "Strange", "slug": "strange"}) },
	"tags":       func(s *teller) { s.lifecycle("/tags", "name", object{"name": "Strange", "slug": "strange"}) },
	"seasons":    func(s *teller) { s.lifecycle("/seasons", "name", object{"name": "Strange", "slug": "strange"}) },
	"videos": func(s *teller) {
		s.lifecycle("/videos", "title", film("a-film"))
		c := s.customer()
		c.post("/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
		c.subscribed()
		for range 3 { // from the database and from memory
			require.NotEmpty(s.t, c.get("/videos?qty_docs_page=2")["docs"])
		}
		found := c.docs("/videos", `{"$or":[{"duration":{"$gt":1}},{"title":{"$regex":"film"}}]}`)
		c.get("/videos/" + found[0].(object)["_id"].(string) + "/stream-url")
	},
	"search": func(s *teller) { s.get("/search/videos?q=film") },
	"admin search": func(s *teller) {
		c := s.customer()
		hits := s.get("/admin/search?q=" + c.name)["hits"].([]any)
		require.Equal(s.t, c.id, hits[0].(object)["_id"])
	},
	"admin home, invariants, jobs, queues and query": func(s *teller) {
		require.NotEmpty(s.t, s.get("/admin/home")["figures"])
		s.get("/admin/invariants")
		require.NotNil(s.t, s.get("/admin/jobs?state=completed")["jobs"])
		require.NotEmpty(s.t, s.get("/admin/queues")["queues"])
		plan := s.post("/admin/query/explain", object{
			"path": "/customers", "parameters": object{"query": `{"email":{"$regex":"^a"}}`},
		})
		require.Contains(s.t, plan["sql"], "$1")
	},
	"admin views and customer-notes": func(s *teller) {
		c := s.customer()
		id := s.made("/customer-notes", object{"customer_id": c.id, "text": "Called"})
		require.Len(s.t, s.docs("/customer-notes", `{"_id":"`+id+`"}`), 1)
		view := s.post("/admin/views", object{"path": "/customers", "name": "All", "query": `{"enable":true}`})
		s.send(http.MethodDelete, "/admin/views/"+view["_id"].(string), nil)
		access := s.get("/admin/customers/" + c.id + "/access")
		require.Equal(s.t, "never_subscribed", access["reason"])
	},
	"admin bulk-acts": func(s *teller) {
		c := s.customer()
		begun := s.post("/admin/bulk-acts", object{
			"act": "customer_update", "query": `{"_id":"` + c.id + `"}`, "expected": 1,
			"arguments": object{"labels": []string{"press"}},
		})
		require.Eventually(s.t, func() bool {
			return s.get("/admin/bulk-acts/" + begun["_id"].(string))["done"] == 1.0
		}, time.Minute, 50*time.Millisecond)
	},
	"admin imports": func(s *teller) {
		s.record("/admin/imports")
		file := "title,slug,video_id,duration,release_date\nA film,i-film,https://videos.example.com/1,90,2024-01-02\n"
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.api("/admin/imports?filename=films.csv"),
			strings.NewReader(file))
		require.NoError(s.t, err)
		req.Header.Set("Content-Type", "text/csv")
		req.Header.Set("Authorization", "Bearer "+s.token)
		res, err := http.DefaultClient.Do(req)
		require.NoError(s.t, err)
		defer res.Body.Close()
		var one map[string]any
		require.NoError(s.t, json.NewDecoder(res.Body).Decode(&one))
		id := one["_id"].(string)
		s.post("/admin/imports/"+id+"/start", nil)
		require.Eventually(s.t, func() bool {
			return s.get("/admin/imports/" + id)["state"] == "done"
		}, time.Minute, 50*time.Millisecond)
	},
	"me/watch-history": func(s *teller) {
		id := s.made("/videos", film("b-film"))
		s.put("/me/watch-history", object{"video_id": id, "timeline": 12.5})
		s.get("/me/watch-history?video_id=" + id)
		s.send(http.MethodDelete, "/me/watch-history?video_id="+id, nil)
	},
	"upload-file and archive-records": func(s *teller) {
		video, notes := s.made("/videos", film("c-film")), bytes.Repeat([]byte("a note "), 50_000)
		s.upload("/upload-file/archive-records/"+video, "notes.txt", notes)
		var file string
		const newest = "SELECT id FROM files.files WHERE size = $1 ORDER BY id DESC LIMIT 1"
		require.NoError(s.t, s.db().QueryRow(s.t.Context(), newest, len(notes)).Scan(&file))
		require.Equal(s.t, notes, s.send(http.MethodGet, "/archive-records/"+file, nil))
	},
	"me/avatar": func(s *teller) {
		var picture bytes.Buffer
		require.NoError(s.t, png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 64, 64))))
		c := s.customer()
		c.upload("/me/avatar", "me.png", picture.Bytes())
		c.send(http.MethodDelete, "/me/avatar", nil)
	},
	"me/passkeys": func(s *teller) {
		c := s.customer()
		key := newPasskey(s)
		made := c.post("/me/passkeys", object{
			"name":       "Phone",
			"credential": key.made(c.send(http.MethodPost, "/me/passkeys/options", object{"current_password": c.password})),
		})
		in := c.post("/auth/passkeys/verify", object{
			"credential": key.signed(c.send(http.MethodPost, "/auth/passkeys/options", nil)),
		})
		c.token = in["access_token"].(string)
		require.Contains(s.t, string(c.send(http.MethodGet, "/me/passkeys", nil)), made["_id"])
		c.send(http.MethodDelete, "/me/passkeys/"+made["_id"].(string), nil)
	},
	"gwa": func(s *teller) {
		c := s.customer()
		c.post("/gwa/subscribe", object{
			"plan_id": "plus", "credit_card": gatewayACard, "credit_card_holder_info": cardHolder("52998224725"),
		})
		id := c.subscribed()
		c.get("/gwa/subscription")
		s.get("/admin/gwa/subscriptions/" + id + "/payments")
		s.get("/admin/gwa/subscriptions/stats")
		c.send(http.MethodDelete, "/gwa/subscription", nil)
	},
	"gwa by PIX": func(s *teller) {
		c := s.customer()
		a := c.post("/gwa/subscribe/pix", object{"plan_id": "plus"})
		payload := a["info"].(object)["pix"].(object)["payload"]
		expect(s.t, 200, http.MethodPost, strings.TrimSuffix(s.sandbox.GWAURL(), "/v3")+"/_sandbox/pix/pay", "",
			object{"payload": payload})
		c.subscribed()
	},
	"gwb": func(s *teller) {
		s.get("/gwb/config")
		c := s.customer()
		c.post("/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
		id := c.subscribed()
		c.get("/gwb/subscription")
		c.put("/gwb/subscription/payment-method", object{"payment_method_id": visa})
		s.post("/admin/gwb/subscriptions/"+id+"/refund", object{"reason": "A part", "amount": 1000})
		s.get("/admin/gwb/subscriptions/" + id + "/refunds")
		s.get("/admin/gwb/subscriptions/stats")
	},
	"subscriptions": func(s *teller) {
		c := s.customer()
		c.post("/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
		id := c.subscribed()
		c.send(http.MethodDelete, "/customers/me/subscription?at=period_end", nil)
		c.put("/customers/me/subscription/renew", object{})
		s.post("/subscriptions/"+id+"/refund", object{"reason": "They asked"})
		s.get("/subscriptions/" + id + "/payments")
		s.get("/subscriptions/stats")
		require.Len(s.t, s.docs("/subscriptions", `{"_id":"`+id+`"}`), 1)
	},
	"admin subscriptions": func(s *teller) {
		c := s.customer()
		c.post("/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
		s.post("/admin/subscriptions/"+c.subscribed()+"/extend", object{"days": 3})
		s.get("/admin/subscriptions/dashboard")
		s.get("/admin/subscriptions/insights")
	},
	"admin promo-codes": func(s *teller) {
		id := s.made("/admin/promo-codes", object{
			"title": "Ten off", "code": "TENOFF", "code_type": "promo", "discount_first_month": 10, "is_active": true,
		})
		c := s.customer()
		c.get("/customers/validate-promo-code?code=TENOFF")
		c.post("/gwa/subscribe", object{
			"plan_id": "plus", "promo_code": "TENOFF", "credit_card": gatewayACard,
			"credit_card_holder_info": cardHolder("52998224725"),
		})
		c.subscribed()
		s.get("/admin/promo-codes/" + id)
		s.get("/admin/promo-codes/stats")
	},
	"events": func(s *teller) {
		require.Len(s.t, s.docs("/events", `{"_id":"`+s.event+`","capacity":{"$gte":400}}`), 1)
		s.get("/events/" + s.event + "/checkin-bundle")
	},
	"store": func(s *teller) {
		guest := &teller{tellers: s.tellers, t: s.t}
		guest.get("/store/events")
		guest.post("/store/purchase/checkout/gwb/card", object{
			"event_id": s.event, "quantity": 2, "payment_method_id": visa,
			"buyer": object{"full_name": "Guest Number", "email": "guest@example.com", "tax_id": "39053344705"},
		})
		eventually(s.t, "the tickets were not mailed", func() bool {
			for _, m := range s.mails.Mails() {
				if m.To == "guest@example.com" {
					return true
				}
			}
			return false
		})
	},
	"tickets": func(s *teller) {
		c := s.customer()
		made := s.post("/tickets", object{"customer_id": c.id, "event_id": s.event, "title": "A seat"})
		id := made["docs"].([]any)[0].(object)["_id"].(string)
		code := c.get("/me/tickets/" + id + "/qr")["qr_payload"]
		s.post("/tickets/consume-qr", object{"qr_payload": code, "event_id": s.event, "nonce": "n-1"})
		s.post("/tickets/consume-qr/batch", object{"event_id": s.event, "scans": []object{
			{"qr_payload": code, "scanned_at": time.Now().UTC().Format(time.RFC3339), "nonce": "n-2"},
		}})
		s.post("/tickets/"+id+"/readmit", object{"reason": "Came in by the wrong gate."})
		require.Len(s.t, s.docs("/tickets", `{"customer_id":"`+c.id+`"}`), 1)
	},
	"admin ticket-orders": func(s *teller) {
		c := s.customer()
		order := c.post("/store/purchase/gwb/card", object{
			"event_id": s.event, "quantity": 1, "payment_method_id": visa,
		})["order"].(object)["_id"].(string)
		c.get("/me/ticket-orders/" + order)
		s.post("/admin/ticket-orders/"+order+"/refund", object{"reason": "They asked"})
	},
	"admin events": func(s *teller) {
		event := s.newEvent(s.t)
		s.post("/admin/events/"+event+"/cancel", object{"reason": "It burned down", "refund": "all"})
		s.get("/admin/events/" + event + "/cancellation")
	},
	"admin events-dashboard": func(s *teller) {
		s.get("/admin/events-dashboard/overview")
		s.get("/admin/events-dashboard/events?active_only=true")
		s.send(http.MethodGet, "/admin/events-dashboard/events/export?format=xlsx", nil)
	},
	"admin requisitions": func(s *teller) {
		open := s.made("/admin/requisition-status", object{"name": "Open", "index": 1, "color": "#00ff00"})
		id := s.made("/admin/requisitions", object{"name": "A lamp", "status_id": open, "priority": "high"})
		s.upload("/admin/requisitions/"+id+"/files", "offer.txt", []byte("an offer"))
		s.put("/admin/requisitions", []object{{"_id": id, "name": "Two lamps"}})
		s.get("/admin/requisitions/" + id + "/history")
		require.Len(s.t, s.docs("/admin/requisitions", `{"priority":"high"}`), 1)
	},
	"config": func(s *teller) {
		s.put("/config/client-version", object{"client_version": "2.0.0"})
		s.put("/admin/config/pix-billing-mode", object{"mode": "monthly"})
		require.Equal(s.t, "monthly", s.get("/config/pix-billing-mode")["pix_billing_mode"])
	},
	"admin finance": func(s *teller) {
		for _, report := range []string{"overview", "revenue?period=daily", "overdue", "churn", "unapplied-payments"} {
			s.get("/admin/finance/" + report)
		}
		for _, format := range []string{"csv", "xlsx", "json"} {
			require.NotEmpty(s.t, s.send(http.MethodGet, "/admin/finance/export?format="+format, nil))
		}
	},
	"admin exports": func(s *teller) {
		id := s.get("/admin/customers/export?format=csv&async=1")["_id"].(string)
		eventually(s.t, "the file was not written", func() bool {
			return s.get("/admin/exports/" + id)["status"] == "done"
		})
		require.Contains(s.t, string(s.send(http.MethodGet, "/admin/exports/"+id+"/file", nil)), "customers.csv")
		s.send(http.MethodDelete, "/admin/exports/"+id, nil)
	},
	"webhook-logs": func(s *teller) {
		c := s.customer()
		c.post("/gwb/subscribe", object{"plan_id": "plus", "payment_method_id": visa})
		c.subscribed()
		var logs []any // of events, not of an admin's act beside
		eventually(s.t, "the event of the payment was not applied", func() bool {
			logs = s.docs("/webhook-logs", `{"gateway":"gwb","processed":true,"event_type":"invoice.paid"}`)
			return len(logs) > 0
		})
		s.send(http.MethodPost, "/webhook-logs/"+logs[0].(object)["_id"].(string)+"/replay", nil)
		s.get("/webhook-logs/stats")
	},
}

// passkey is an authenticator in software, of the site that serve is for.
type passkey struct {
	t    *testing.T
	site virtualwebauthn.RelyingParty
	auth virtualwebauthn.Authenticator
	cred virtualwebauthn.Credential
}

func newPasskey(s *teller) *passkey {
	s.t.Helper()
	_, port, err := net.SplitHostPort(s.addr)
	require.NoError(s.t, err)
	k := &passkey{
		t: s.t, site: virtualwebauthn.RelyingParty{ID: "localhost", Origin: "http://localhost:" + port},
		auth: virtualwebauthn.NewAuthenticator(),
	}
	for len(k.cred.ID) == 0 || len(k.cred.Key.AttestationData()) < 77 { // it leaves zeros in front of a coordinate out
		k.cred = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	}
	return k
}

// made is what it makes of the options of a registration.
func (k *passkey) made(options []byte) json.RawMessage {
	k.t.Helper()
	parsed, err := virtualwebauthn.ParseAttestationOptions(string(options))
	require.NoError(k.t, err)
	k.auth.Options.UserHandle = []byte(parsed.UserID)
	return json.RawMessage(virtualwebauthn.CreateAttestationResponse(k.site, k.auth, k.cred, *parsed))
}

// signed is what it makes of the options of a sign-in.
func (k *passkey) signed(options []byte) json.RawMessage {
	k.t.Helper()
	parsed, err := virtualwebauthn.ParseAssertionOptions(string(options))
	require.NoError(k.t, err)
	return json.RawMessage(virtualwebauthn.CreateAssertionResponse(k.site, k.auth, k.cred, *parsed))
}

func film(slug string) object {
	return object{
		"title": "A film", "slug": slug, "video_id": "https://films.example/a.m3u8", "duration": 90,
		"release_date": "2030-01-01T00:00:00Z", "enable": true, "description": "What it is about",
	}
}
