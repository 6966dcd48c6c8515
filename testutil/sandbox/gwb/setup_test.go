package gwb_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"marquee/testutil/sandbox/gwb"
)

const (
	secretKey     = "sk_test_sandbox"
	webhookSecret = "whsec_sandboxsecretsandboxsecret"
)

// bundle is a gateway over real HTTP, the official client, and a receiver that verifies every event.
type bundle struct {
	t      *testing.T
	g      *gwb.Gateway
	url    string
	sc     *stripe.Client
	events *receiver
}

type receiver struct {
	t      *testing.T
	mu     sync.Mutex
	got    []stripe.Event
	raw    [][]byte
	status int // answered; 0: 200
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	ev, err := webhook.ConstructEventWithOptions(body, req.Header.Get("Stripe-Signature"), webhookSecret,
		webhook.ConstructEventOptions{IgnoreAPIVersionMismatch: true})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.t.Errorf("event not verified: %v", err)
	}
	if r.status != 0 {
		w.WriteHeader(r.status)
		return
	}
	r.got, r.raw = append(r.got, ev), append(r.raw, body)
}

func (r *receiver) respond(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func setup(t *testing.T) *bundle { return setupWith(t, gwb.Options{}) }

func setupWith(t *testing.T, o gwb.Options) *bundle {
	t.Helper()
	events := &receiver{t: t}
	hook := httptest.NewServer(events)
	o.SecretKey, o.WebhookSecret, o.WebhookURL = secretKey, webhookSecret, hook.URL
	if o.RetryLadder == nil {
		o.RetryLadder = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}
	}
	if o.StateFile == "" {
		o.StateFile = filepath.Join(t.TempDir(), "gwb.json")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(failing{t}, &slog.HandlerOptions{Level: slog.LevelError}))
	}
	g, err := gwb.New(o)
	require.NoError(t, err)
	server := httptest.NewServer(g)
	g.SetBaseURL(server.URL)
	t.Cleanup(func() {
		server.CloseClientConnections()
		require.NoError(t, g.Close())
		server.Close()
		hook.Close()
	})
	return &bundle{t: t, g: g, url: server.URL, sc: client(server.URL, secretKey), events: events}
}

// failing is the log of a gateway in which no error may stand, such as a change that is in no table's hand
// (stage.Table).
type failing struct{ t *testing.T }

func (f failing) Write(line []byte) (int, error) {
	f.t.Errorf("logged: %s", line)
	return len(line), nil
}

func client(url, key string) *stripe.Client {
	return stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: stripe.String(url), EnableTelemetry: stripe.Bool(false),
		HTTPClient:    &http.Client{Timeout: time.Minute},
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
}

// types settles the queue and returns the types of all events so far, in order of arrival.
func (b *bundle) types() []string {
	b.t.Helper()
	b.settle()
	b.events.mu.Lock()
	defer b.events.mu.Unlock()
	out := []string{}
	for _, e := range b.events.got {
		out = append(out, string(e.Type))
	}
	return out
}

// settle lets events that were told go before those that will be. The queue is not one in order: the events of a call
// are sent after its answer, when those of the next call or of a later time may overtake them.
func (b *bundle) settle() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	require.NoError(b.t, b.g.Stage().Webhooks.Settle(ctx))
}

// forget drops the events so far.
func (b *bundle) forget() {
	b.t.Helper()
	b.settle()
	b.events.mu.Lock()
	defer b.events.mu.Unlock()
	b.events.got, b.events.raw = nil, nil
}

// last is the latest event of a type.
func (b *bundle) last(eventType string) stripe.Event {
	b.t.Helper()
	b.settle()
	b.events.mu.Lock()
	defer b.events.mu.Unlock()
	for i := len(b.events.got) - 1; i >= 0; i-- {
		if string(b.events.got[i].Type) == eventType {
			return b.events.got[i]
		}
	}
	b.t.Fatalf("no event %s", eventType)
	return stripe.Event{}
}

// advance settles the queue first.
func (b *bundle) advance(by time.Duration) {
	b.t.Helper()
	b.settle()
	_, err := b.g.Stage().Clock.Advance(by)
	require.NoError(b.t, err)
}

func (b *bundle) customer() *stripe.Customer {
	b.t.Helper()
	c, err := b.sc.V1Customers.Create(b.t.Context(), &stripe.CustomerCreateParams{
		Name: stripe.String("Ana Souza"), Email: stripe.String("ana@example.com"),
		Metadata: map[string]string{"local_customer_id": "c1"},
	})
	require.NoError(b.t, err)
	b.settle()
	return c
}

func (b *bundle) attach(card string, c *stripe.Customer) *stripe.PaymentMethod {
	b.t.Helper()
	m, err := b.sc.V1PaymentMethods.Attach(b.t.Context(), card, &stripe.PaymentMethodAttachParams{Customer: &c.ID})
	require.NoError(b.t, err)
	b.settle()
	return m
}

func (b *bundle) price() *stripe.Price {
	b.t.Helper()
	prod, err := b.sc.V1Products.Create(b.t.Context(), &stripe.ProductCreateParams{Name: stripe.String("Plano Plus")})
	require.NoError(b.t, err)
	b.settle()
	p, err := b.sc.V1Prices.Create(b.t.Context(), &stripe.PriceCreateParams{
		Product: &prod.ID, Currency: stripe.String("brl"), UnitAmount: stripe.Int64(4990),
		Metadata:  map[string]string{"plan_id": "plus"},
		Recurring: &stripe.PriceCreateRecurringParams{Interval: stripe.String("month"), IntervalCount: stripe.Int64(1)},
	})
	require.NoError(b.t, err)
	b.settle()
	return p
}

// subscriptionRequest is a subscription as the product asks for it.
func (b *bundle) subscriptionRequest(c *stripe.Customer, method string) *stripe.SubscriptionCreateParams {
	b.t.Helper()
	p := &stripe.SubscriptionCreateParams{
		Customer: &c.ID, Items: []*stripe.SubscriptionCreateItemParams{{Price: &b.price().ID}},
		DefaultPaymentMethod: &method,
		PaymentBehavior:      stripe.String("allow_incomplete"),
		PaymentSettings: &stripe.SubscriptionCreatePaymentSettingsParams{
			PaymentMethodTypes:       []*string{stripe.String("card")},
			SaveDefaultPaymentMethod: stripe.String("on_subscription"),
		},
		Metadata: map[string]string{"local_subscription_id": "s1", "local_customer_id": "c1", "kind": "subscription"},
	}
	p.AddExpand("latest_invoice.confirmation_secret")
	p.AddExpand("latest_invoice.payments")
	return p
}

// subscribe makes a customer who subscribes with the test card.
func (b *bundle) subscribe(card string) *stripe.Subscription {
	b.t.Helper()
	c := b.customer()
	s, err := b.sc.V1Subscriptions.Create(b.t.Context(), b.subscriptionRequest(c, b.attach(card, c).ID))
	require.NoError(b.t, err)
	b.settle()
	return s
}

func (b *bundle) subscription(id string) *stripe.Subscription {
	b.t.Helper()
	s, err := b.sc.V1Subscriptions.Retrieve(b.t.Context(), id, nil)
	require.NoError(b.t, err)
	return s
}

func (b *bundle) intentOf(s *stripe.Subscription) *stripe.PaymentIntent {
	b.t.Helper()
	require.NotEmpty(b.t, s.LatestInvoice.Payments.Data)
	p, err := b.sc.V1PaymentIntents.Retrieve(b.t.Context(), s.LatestInvoice.Payments.Data[0].Payment.PaymentIntent.ID,
		nil)
	require.NoError(b.t, err)
	return p
}

func (b *bundle) pix(email string) *stripe.PaymentIntent {
	b.t.Helper()
	p, err := b.sc.V1PaymentIntents.Create(b.t.Context(), &stripe.PaymentIntentCreateParams{
		Amount: stripe.Int64(59880), Currency: stripe.String("brl"), Customer: &b.customer().ID,
		PaymentMethodTypes: []*string{stripe.String("pix")},
		PaymentMethodData: &stripe.PaymentIntentCreatePaymentMethodDataParams{
			Type: stripe.String("pix"),
			BillingDetails: &stripe.PaymentIntentCreatePaymentMethodDataBillingDetailsParams{
				Name: stripe.String("Ana Souza"), Email: &email,
			},
		},
		PaymentMethodOptions: &stripe.PaymentIntentCreatePaymentMethodOptionsParams{
			Pix: &stripe.PaymentIntentCreatePaymentMethodOptionsPixParams{ExpiresAfterSeconds: stripe.Int64(86400)},
		},
		Confirm: stripe.Bool(true), Description: stripe.String("Plano Plus anual"),
		Metadata: map[string]string{
			"local_subscription_id": "s2", "local_customer_id": "c1", "kind": "subscription_pix",
		},
	})
	require.NoError(b.t, err)
	b.settle()
	return p
}

// wantError asserts an API error and returns it.
func wantError(t *testing.T, err error, status int, code string) *stripe.Error {
	t.Helper()
	var se *stripe.Error
	require.ErrorAs(t, err, &se)
	require.Equal(t, status, se.HTTPStatusCode, se.Msg)
	require.Equal(t, code, string(se.Code), se.Msg)
	return se
}

// control uses a control over HTTP.
func (b *bundle) control(method, path string, body any) (int, map[string]any) {
	b.t.Helper()
	pr, pw := io.Pipe()
	go func() {
		if body != nil {
			_ = json.NewEncoder(pw).Encode(body)
		}
		pw.Close()
	}()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, pr)
	require.NoError(b.t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	out := map[string]any{}
	_ = json.NewDecoder(resp.Body).Decode(&out)
	return resp.StatusCode, out
}

func newServer(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}
