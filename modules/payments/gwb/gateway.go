package gwb

import (
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments"
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

// Gateway is gateway B.
type Gateway struct {
	cfg Config
	api *stripe.Client
}

var _ payments.Adapter = (*Gateway)(nil)

// New makes the adapter. It makes no call.
func New(cfg Config) *Gateway {
	if cfg.Timeout == 0 {
		cfg.Timeout = 20 * time.Second
	}
	if cfg.RetryWait == 0 {
		cfg.RetryWait = 300 * time.Millisecond
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	backend := &stripe.BackendConfig{
		MaxNetworkRetries: stripe.Int64(0), // call repeats, and knows which outcomes are certain
		EnableTelemetry:   stripe.Bool(false),
		HTTPClient:        &http.Client{Timeout: cfg.Timeout, Transport: judge{cfg.Transport}},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // it prints whole errors
	}
	if cfg.URL != "" {
		backend.URL = stripe.String(cfg.URL)
	}
	return &Gateway{
		cfg: cfg,
		api: stripe.NewClient(cfg.SecretKey, stripe.WithBackends(stripe.NewBackendsWithConfig(backend))),
	}
}

// Name is payments.GWB.
func (*Gateway) Name() payments.GatewayName { return payments.GWB }
