package modeltest_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	sandboxa "marquee/testutil/sandbox/gwa"
	sandboxb "marquee/testutil/sandbox/gwb"
	"marquee/testutil/sandbox/stage"
)

// gateways are both sandbox gateways of one history, and the webhooks that they
// have to send.
type gateways struct {
	a     *sandboxa.Gateway
	b     *sandboxb.Gateway
	seen  map[gateway.Name]int64 // newest delivery that was looked at
	inbox []*delivery
}

// delivery is an event on its way to the platform.
type delivery struct {
	gateway gateway.Name
	kind    string
	body    []byte
	taken   bool // answered 200 once
}

func newGateways(t tester, at time.Time) *gateways {
	t.Helper()
	a, err := sandboxa.New(sandboxa.Options{
		APIKey: gwaKey, WebhookToken: gwaToken, Frozen: at, BalanceCents: 1_000_000_000,
	})
	require.NoError(t, err)
	b, err := sandboxb.New(sandboxb.Options{
		BaseURL: "http://gwb", SecretKey: gwbKey, WebhookSecret: gwbSecret, Frozen: at,
	})
	require.NoError(t, err)
	return &gateways{a: a, b: b, seen: map[gateway.Name]int64{}}
}

func (g *gateways) close() error { return errors.Join(g.a.Close(), g.b.Close()) }

func (g *gateways) handler(name gateway.Name) http.Handler {
	if name == gateway.GWA {
		return g.a
	}
	return g.b
}

func (g *gateways) stage(name gateway.Name) *stage.Stage {
	if name == gateway.GWA {
		return g.a.Stage()
	}
	return g.b.Stage()
}

// collect takes new events into the inbox.
func (g *gateways) collect() {
	for _, name := range []gateway.Name{gateway.GWA, gateway.GWB} {
		for _, d := range g.stage(name).Webhooks.Deliveries() {
			if d.ID > g.seen[name] {
				g.seen[name] = d.ID
				g.inbox = append(g.inbox, &delivery{gateway: name, kind: d.Type, body: d.Body})
			}
		}
	}
}

// waiting are the events that the platform has not taken.
func (g *gateways) waiting() []*delivery {
	var all []*delivery
	for _, d := range g.inbox {
		if !d.taken {
			all = append(all, d)
		}
	}
	return all
}

// proof is what the gateway signs an event with.
func (d *delivery) proof(at time.Time) (header, value string) {
	if d.gateway == gateway.GWA {
		return "Asaas-Access-Token", gwaToken
	}
	mac := hmac.New(sha256.New, []byte(gwbSecret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), d.body)
	return "Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

// wire carries the platform's calls to a gateway without a network.
type wire struct {
	w    *testPlatform
	name gateway.Name
}

// Trouble on the wire.
const (
	lostResponse = "lost answer"  // the gateway did it, the answer never came
	lostRequest  = "lost request" // the gateway never heard of it, and nobody knows that
	noRoute      = "no route"     // no connection: certainly nothing done
	overloaded   = "overloaded"   // 429
	broken       = "broken"       // 500 before anything was done
)

// RoundTrip lets the gateway answer, unless the step's trouble keeps it from that,
// and lets others act while the call is under way.
func (x wire) RoundTrip(r *http.Request) (*http.Response, error) {
	h := x.w.current
	if dying(r.Context()) {
		return nil, syscall.ECONNRESET
	}
	recordCall(r.Context())
	if h.calls != nil {
		return h.calls.roundTrip(h, x, r)
	}
	acts := r.Method != http.MethodGet
	trouble := h.nextTrouble(acts)
	if f, odd := odds[fault(trouble)]; odd {
		if err := h.gateways.stage(x.name).Faults.Plan(f); err != nil {
			return nil, err
		}
	}
	switch trouble {
	case noRoute:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case lostRequest:
		return nil, syscall.ECONNRESET
	case overloaded, broken:
		return x.refuse(r, trouble), nil
	}
	res := x.respond(r)
	h.logStep("  %s %s %s: %d", x.name, r.Method, r.URL.Path, res.StatusCode)
	if acts {
		h.meanwhile()
	}
	if point(r.Context()) || trouble == lostResponse {
		return nil, syscall.ECONNRESET
	}
	return res, nil
}

func (x wire) respond(r *http.Request) *http.Response {
	served := r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	x.w.current.gateways.handler(x.name).ServeHTTP(recorder, served)
	res := recorder.Result()
	res.Request = r
	return res
}

// refuse answers for a gateway that has not looked at the call.
func (x wire) refuse(r *http.Request, trouble string) *http.Response {
	status := http.StatusInternalServerError
	if trouble == overloaded {
		status = http.StatusTooManyRequests
	}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", "application/json")
	recorder.WriteHeader(status)
	body := `{"errors":[{"code":"internal_error","description":"x"}]}`
	if x.name == gateway.GWB {
		body = `{"error":{"type":"api_error","code":"rate_limit","message":"x"}}`
	}
	_, _ = recorder.WriteString(body)
	res := recorder.Result()
	res.Request = r
	return res
}

// object is a JSON object of a gateway or of the platform.
type object = map[string]any

// call calls a gateway's own API from outside the platform, as somebody at the
// vendor's panel does. The status tells how that went.
func (g *gateways) call(t tester, name gateway.Name, method, path string, form url.Values) (int, object) {
	t.Helper()
	var r *http.Request
	if name == gateway.GWA {
		body := "{}"
		if form != nil {
			body = form.Get("json")
		}
		if method == http.MethodGet {
			r = httptest.NewRequestWithContext(context.Background(), method, "http://gwa"+path, http.NoBody)
		} else {
			r = httptest.NewRequestWithContext(context.Background(), method, "http://gwa"+path, strings.NewReader(body))
		}
		r.Header.Set("access_token", gwaKey)
		r.Header.Set("User-Agent", "panel")
		r.Header.Set("Content-Type", "application/json")
	} else {
		r = httptest.NewRequestWithContext(context.Background(), method, "http://gwb"+path,
			strings.NewReader(form.Encode()))
		r.Header.Set("Authorization", "Bearer "+gwbKey)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	recorder := httptest.NewRecorder()
	g.handler(name).ServeHTTP(recorder, r)
	var o object
	if recorder.Body.Len() > 0 {
		require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &o), "%s", recorder.Body)
	}
	return recorder.Code, o
}

// list reads a whole list of a gateway, newest first.
func (g *gateways) list(t tester, name gateway.Name, path string) []object {
	t.Helper()
	var all []object
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for {
		page := fmt.Sprintf("%s%slimit=100&offset=%d", path, separator, len(all))
		if name == gateway.GWB {
			page = path + separator + "limit=100"
			if len(all) > 0 {
				page += "&starting_after=" + str(all[len(all)-1], "id")
			}
		}
		status, res := g.call(t, name, http.MethodGet, page, nil)
		require.Equal(t, http.StatusOK, status, "%s: %v", page, res)
		for _, o := range res["data"].([]any) {
			all = append(all, o.(object))
		}
		more, _ := res["hasMore"].(bool)
		if moreB, _ := res["has_more"].(bool); !more && !moreB {
			return all
		}
	}
}

// str is a text field of an object, "" where it is missing or null.
func str(o object, field string) string {
	s, _ := o[field].(string)
	return s
}

// num is a number field of an object, 0 where it is missing or null.
func num(o object, field string) float64 {
	n, _ := o[field].(float64)
	return n
}
