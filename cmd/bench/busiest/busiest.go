// Package busiest is the twenty routes that clients and gateways ask most, as requests: what
// one costs is measured by cmd/bench, and held by a test of the composed platform.
package busiest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Request is what is sent to a server.
type Request struct {
	Method, Path, Token, ContentType string
	Body                             string
	Header                           map[string]string
}

// Route is one of the twenty; Request is its n-th, from 1.
type Route struct {
	Name    string
	Request func(n int) Request
}

// Fixture is what the requests are about.
type Fixture struct {
	Username, Password string // of a customer without a subscription, so that no gateway is asked
	Access, Refresh    string // tokens of a customer with one
	Video, Event       string // ids; the event is free and on sale
	Ticket             string // of that customer
	Gateway            Gateway
	Renewed            []Subscription // by the webhooks, in turn
	Before             int            // how many renewals were told before
}

// Routes are the twenty; those that make what others list come last.
func Routes(f Fixture) []Route {
	get := func(path string) func(int) Request {
		return func(int) Request { return Request{Method: http.MethodGet, Path: "/api/v1" + path, Token: f.Access} }
	}
	send := func(method, path string, body func(n int) string) func(int) Request {
		return func(n int) Request {
			return Request{
				Method: method, Path: "/api/v1" + path, Token: f.Access, ContentType: "application/json", Body: body(n),
			}
		}
	}
	filter := url.Values{"query": {`{"duration":{"$gte":1}}`}, "sort": {`{"release_date":-1}`}}
	login := url.Values{"username": {f.Username}, "password": {f.Password}}
	return []Route{
		{"GET /videos", get("/videos")},
		{"GET /videos?query", get("/videos?" + filter.Encode())},
		{"GET /videos?_id", get("/videos?_id=" + f.Video)},
		{"GET /videos/{video_id}/stream-url", get("/videos/" + f.Video + "/stream-url")},
		{"GET /categories", get("/categories")},
		{"GET /me/watch-history", get("/me/watch-history")},
		{"PUT /me/watch-history", send(http.MethodPut, "/me/watch-history", func(n int) string {
			return fmt.Sprintf(`{"video_id":%q,"timeline":%d}`, f.Video, n)
		})},
		{"GET /current-user", get("/current-user")},
		{"GET /customers/me", get("/customers/me")},
		{"GET /customers/me/subscription", get("/customers/me/subscription")},
		{"GET /plans", get("/plans")},
		{"POST /token", func(int) Request {
			return Request{
				Method: http.MethodPost, Path: "/api/v1/token", ContentType: "application/x-www-form-urlencoded",
				Body: login.Encode(),
			}
		}},
		{"POST /auth/refresh-token", send(http.MethodPost, "/auth/refresh-token", func(int) string {
			return fmt.Sprintf(`{"refresh_token":%q}`, f.Refresh)
		})},
		{"GET /store/events", get("/store/events")},
		{"GET /store/events/{event_id}", get("/store/events/" + f.Event)},
		{"GET /me/tickets", get("/me/tickets")},
		{"GET /me/tickets/{ticket_id}/qr", get("/me/tickets/" + f.Ticket + "/qr")},
		{"GET /health", get("/health")},
		{"POST /store/purchase/gwb/card", send(http.MethodPost, "/store/purchase/gwb/card", func(int) string {
			return fmt.Sprintf(`{"event_id":%q,"quantity":2}`, f.Event)
		})},
		{"POST /webhooks/gwb", func(n int) Request {
			n += f.Before
			return f.Gateway.Renewal(int64(n), f.Renewed[n%len(f.Renewed)])
		}},
	}
}

// Subscription is one that gateway B charges by card.
type Subscription struct {
	ID, CustomerID, GatewayID string
	Cents                     int64
}

// Gateway tells renewals as gateway B does.
type Gateway struct {
	secret string   // with which it signs
	parts  []string // of a body: texts, and between each two a place that differs
}

// places are what of the sample is its own: ids of event, invoice and recurrence, of the
// subscription and its customer, the amount, and two instants.
var places = regexp.MustCompile(`evt_1SVaC07LkdIwHu7ixEv000007|in_1Sg5ZzLkdIwHu7ixAsDfGhJk|sub_1SVaBcLkdIwHu7ix0aBcDeFg|` +
	`66f0a1b2c3d4e5f607182c01|66f0a1b2c3d4e5f607182901|4990|1797789794|1797786194`)

// NewGateway reads the sample of a paid renewal: gwb.invoice.paid.renewal.dahlia.json in
// modules/payments/testdata/webhooks. It is cut into parts once: what the generator spends is
// taken from what is measured.
func NewGateway(sample []byte, secret string) (Gateway, error) {
	var flat bytes.Buffer
	if err := json.Compact(&flat, sample); err != nil { // as it travels
		return Gateway{}, fmt.Errorf("the sample of an event: %w", err)
	}
	g, text := Gateway{secret: secret}, flat.String()
	for at := places.FindStringIndex(text); at != nil; at = places.FindStringIndex(text) {
		g.parts = append(g.parts, text[:at[0]], text[at[0]:at[1]])
		text = text[at[1]:]
	}
	g.parts = append(g.parts, text)
	return g, nil
}

// fill is what stands in a place of the n-th renewal.
func fill(place string, n int64, now string, of Subscription) string {
	switch place[:3] {
	case "evt":
		return EventID(n)
	case "in_":
		return fmt.Sprintf("in_bench_%d", n)
	case "sub":
		return of.GatewayID
	case "499":
		return strconv.FormatInt(of.Cents, 10)
	case "179":
		return now
	}
	if strings.HasSuffix(place, "c01") {
		return of.ID
	}
	return of.CustomerID
}

// EventID is that of the n-th renewal.
func EventID(n int64) string { return fmt.Sprintf("evt_bench_%d", n) }

// Renewal is the n-th event that a renewal of the subscription is paid, signed now.
func (g Gateway) Renewal(n int64, of Subscription) Request {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	var body strings.Builder
	body.Grow(4 << 10)
	for i, text := range g.parts {
		if i%2 == 1 {
			text = fill(text, n, now, of)
		}
		body.WriteString(text)
	}
	mac := hmac.New(sha256.New, []byte(g.secret))
	_, _ = io.WriteString(mac, now+".")
	_, _ = io.WriteString(mac, body.String())
	return Request{
		Method: http.MethodPost, Path: "/webhooks/gwb", ContentType: "application/json", Body: body.String(),
		Header: map[string]string{"Stripe-Signature": "t=" + now + ",v1=" + hex.EncodeToString(mac.Sum(nil))},
	}
}
