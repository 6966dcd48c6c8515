package gwb

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/clock"
)

// Config of the adapter.
type Config struct {
	URL            string   // base URL of the API; default https://api.stripe.com
	SecretKey      string   // sk_… or rk_…
	WebhookSecrets []string // whsec_…; several while one is being rolled
	Clock          clock.Clock
	Timeout        time.Duration     // of one HTTP call; default 20 s
	RetryWait      time.Duration     // before the first repetition, doubled for the next; default 300 ms
	Transport      http.RoundTripper // default http.DefaultTransport
}

// productionURL is where real money is taken, and the default of Config.URL.
const productionURL = stripe.APIURL

// TestMode reports whether no real money is taken: the address is another than that of production, or the key, secret
// or restricted, is one of test mode (sk_test_…, rk_test_…).
func (c Config) TestMode() bool {
	url := strings.TrimSuffix(cmp.Or(c.URL, productionURL), "/")
	return !strings.EqualFold(url, productionURL) ||
		strings.HasPrefix(c.SecretKey, "sk_test_") || strings.HasPrefix(c.SecretKey, "rk_test_")
}

// Gateway is gateway B: its client, and what can be asked of it, by what that is about.
type Gateway struct {
	*client
	payments
	plans
	recurrences
	authorizations
	refunds
	events
	lister
}

type (
	// payments are made one by one: PIX codes, charges of cards, and who pays them.
	payments struct{ *client }
	// plans are products and their prices.
	plans struct{ *client }
	// recurrences are card subscriptions, from their beginning to their end.
	recurrences struct{ *client }
	// authorizations would be automatic PIX, which the gateway has not.
	authorizations struct{}
	// refunds are what was given back or disputed.
	refunds struct{ *client }
	// events are what a webhook tells, which is signed.
	events struct{ *client }
	// lister reads what the gateway has, page by page.
	lister struct{ *client }
)

// client calls the gateway, judges its answers, and reads single objects.
type client struct {
	cfg    Config
	api    *stripe.Client
	health *reply.Health
}

var _ gateway.Adapter = (*Gateway)(nil)

// New makes the adapter. It makes no call.
func New(cfg Config) *Gateway {
	cfg.Timeout = cmp.Or(cfg.Timeout, 20*time.Second)
	cfg.RetryWait = cmp.Or(cfg.RetryWait, 300*time.Millisecond)
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	health := &reply.Health{}
	backend := &stripe.BackendConfig{
		MaxNetworkRetries: stripe.Int64(0), // call repeats, and knows which outcomes are certain
		EnableTelemetry:   stripe.Bool(false),
		HTTPClient:        &http.Client{Timeout: cfg.Timeout, Transport: judge{cfg.Transport, health}},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // it prints whole errors
	}
	if cfg.URL != "" {
		backend.URL = stripe.String(cfg.URL)
	}
	c := &client{
		cfg: cfg, health: health,
		api: stripe.NewClient(cfg.SecretKey, stripe.WithBackends(stripe.NewBackendsWithConfig(backend))),
	}
	return &Gateway{
		client: c, payments: payments{c}, plans: plans{c}, recurrences: recurrences{c}, refunds: refunds{c},
		events: events{c}, lister: lister{c},
	}
}

// Name is gateway.GWB.
func (*Gateway) Name() gateway.Name { return gateway.GWB }

// OnReply calls f with each answer that tells how the gateway as a whole is
// doing.
func (g *client) OnReply(f func(ctx context.Context, right bool)) { g.health.On(f) }

// Confirm: events are signed.
func (*events) Confirm(_ context.Context, e gateway.Event) (gateway.Event, error) { return e, nil }

// Probe asks for one charge.
func (g *client) Probe(ctx context.Context) error {
	_, err := read(ctx, g, func(ctx context.Context) (struct{}, error) {
		p := &stripe.ChargeListParams{}
		p.Limit, p.Single = stripe.Int64(1), true
		return struct{}{}, g.api.V1Charges.List(ctx, p).Err()
	})
	return err
}
