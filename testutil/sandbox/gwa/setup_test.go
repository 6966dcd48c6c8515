package gwa_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa"
)

const (
	apiKey       = "$aact_hmlg_test_key"
	webhookToken = "a-webhook-token-of-forty-characters-0001"
	goodCard     = "5162306219378829"
	validCPF     = "52998224725"
)

// monday is where the clock of every test stands at the start: a Monday morning in São Paulo, far ahead of real time.
var monday = time.Date(2035, time.March, 12, 13, 0, 0, 0, time.UTC)

// event is one webhook as the receiver saw it.
type event struct {
	ID      string
	Name    string
	Created string
	Token   string
	Body    map[string]any
}

// object is the payment, subscription or authorization of the event.
func (e event) object(key string) map[string]any {
	o, _ := e.Body[key].(map[string]any)
	return o
}

// receiver takes webhooks and answers them with a status.
type receiver struct {
	mu     sync.Mutex
	events []event
	status int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var body map[string]any
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	e := event{Token: req.Header.Get("asaas-access-token"), Body: body}
	e.ID, _ = body["id"].(string)
	e.Name, _ = body["event"].(string)
	e.Created, _ = body["dateCreated"].(string)
	r.events = append(r.events, e)
	w.WriteHeader(r.status)
}

func (r *receiver) respond(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

type bundle struct {
	t     *testing.T
	g     *gwa.Gateway
	url   string
	hooks *receiver
	// hookURL is the receiver's address.
	hookURL string
}

// setup starts a gateway on a real address with a real receiver of webhooks.
func setup(t *testing.T, with ...func(*gwa.Options)) *bundle {
	t.Helper()
	hooks := &receiver{status: http.StatusOK}
	hookServer := httptest.NewServer(hooks)
	t.Cleanup(hookServer.Close)
	o := gwa.Options{
		APIKey: apiKey, WebhookURL: hookServer.URL, WebhookToken: webhookToken, ChargeDelay: time.Minute,
		StateFile: filepath.Join(t.TempDir(), "gwa.json"),
		Logger:    slog.New(slog.NewTextHandler(failing{t}, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	for _, f := range with {
		f(&o)
	}
	g, err := gwa.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	api := httptest.NewServer(g)
	t.Cleanup(api.Close)
	b := &bundle{t: t, g: g, url: api.URL, hooks: hooks, hookURL: hookServer.URL}
	if g.Now().Before(monday) {
		_, err = g.Stage().Clock.AdvanceTo(monday)
		require.NoError(t, err)
	}
	return b
}

// failing is the log of a gateway in which no error may stand, such as a change that is in no table's hand
// (stage.Table).
type failing struct{ t *testing.T }

func (f failing) Write(line []byte) (int, error) {
	f.t.Errorf("logged: %s", line)
	return len(line), nil
}

// send makes one call with the compulsory headers, changed by with.
func (b *bundle) send(method, path string, body any, with ...func(*http.Request)) (*http.Response, []byte) {
	b.t.Helper()
	var payload io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		require.NoError(b.t, err)
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, payload)
	require.NoError(b.t, err)
	req.Header.Set("access_token", apiKey)
	req.Header.Set("Content-Type", "application/json")
	for _, f := range with {
		f(req)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	return resp, raw
}

type object = map[string]any

// refusal is what makes a good body a bad one, and the code that it is refused with.
type refusal struct {
	change object
	code   string
}

// ok makes a call that must succeed with 200.
func (b *bundle) ok(method, path string, body any) object {
	b.t.Helper()
	resp, raw := b.send(method, path, body)
	require.Equal(b.t, http.StatusOK, resp.StatusCode, "%s %s: %s", method, path, raw)
	var v object
	require.NoError(b.t, json.Unmarshal(raw, &v), string(raw))
	return v
}

// refused makes a call that must fail and returns status, code and description of the one error.
func (b *bundle) refused(method, path string, body any) (status int, code, description string) {
	b.t.Helper()
	resp, raw := b.send(method, path, body)
	if len(raw) == 0 {
		return resp.StatusCode, "", ""
	}
	if strings.HasPrefix(path, "/_sandbox") {
		return resp.StatusCode, "", string(raw)
	}
	var v struct {
		Errors []struct{ Code, Description string }
	}
	require.NoError(b.t, json.Unmarshal(raw, &v), string(raw))
	require.Len(b.t, v.Errors, 1)
	return resp.StatusCode, v.Errors[0].Code, v.Errors[0].Description
}

// deliveredEvents waits until nothing more is to be sent and returns the events since the last call.
func (b *bundle) deliveredEvents() []event {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	require.NoError(b.t, b.g.Stage().Webhooks.Settle(ctx))
	b.hooks.mu.Lock()
	defer b.hooks.mu.Unlock()
	events := b.hooks.events
	b.hooks.events = nil
	return events
}

func names(events []event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, e.Name)
	}
	return out
}

func (b *bundle) advance(by time.Duration) {
	b.t.Helper()
	require.NoError(b.t, b.g.Advance(by))
}

const day = 24 * time.Hour

func (b *bundle) customer() string {
	b.t.Helper()
	c := b.ok("POST", "/v3/customers", object{
		"name": "Ana Souza", "cpfCnpj": validCPF, "email": "ana@example.com", "mobilePhone": "11987654321",
		"externalReference": "66f0a1b2c3d4e5f607182901", "notificationDisabled": true,
	})
	return c["id"].(string)
}

// card is the card part of a body.
func card(number string) object {
	return object{
		"creditCard": object{
			"holderName": "ANA SOUZA", "number": number, "expiryMonth": "05", "expiryYear": "2049", "ccv": "318",
		},
		"creditCardHolderInfo": object{
			"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": validCPF, "postalCode": "01310100",
			"addressNumber": "150", "phone": "1138830000",
		},
		"remoteIp": "203.0.113.7",
	}
}

func merged(parts ...object) object {
	out := object{}
	for _, p := range parts {
		for k, v := range p {
			out[k] = v
		}
	}
	return out
}

// subscription is the body of a monthly subscription by card due on the given date.
func subscription(customer, due string) object {
	return merged(card(goodCard), object{
		"customer": customer, "billingType": "CREDIT_CARD", "value": 49.90, "nextDueDate": due, "cycle": "MONTHLY",
		"description": "Plano Plus mensal", "externalReference": "66f0a1b2c3d4e5f607182a01",
	})
}

// pixPayment is the body of a PIX payment due on the Monday of the tests.
func pixPayment(customer string, value any) object {
	return object{
		"customer": customer, "billingType": "PIX", "value": value, "dueDate": "2035-03-12",
		"description": "Ingressos: Noite de estreia (2)", "externalReference": "66f0a1b2c3d4e5f607182b01",
	}
}

func cardPayment(customer string, value any) object {
	return merged(pixPayment(customer, value), card(goodCard), object{"billingType": "CREDIT_CARD"})
}

func (b *bundle) newest(path string) object {
	b.t.Helper()
	data := b.ok("GET", path, nil)["data"].([]any)
	require.NotEmpty(b.t, data)
	return data[0].(object)
}
