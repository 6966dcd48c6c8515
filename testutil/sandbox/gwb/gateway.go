package gwb

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"marquee/testutil/sandbox/gwb/account"
	"marquee/testutil/sandbox/stage"
)

// defaultLadder are the retries of webhooks: 3 over a few hours, as the real test mode does.
var defaultLadder = []time.Duration{5 * time.Minute, 30 * time.Minute, 2 * time.Hour}

// Options of the gateway.
type Options struct {
	BaseURL       string // where it is reached, "http://127.0.0.1:12111"; for links in answers
	SecretKey     string // what "Authorization: Bearer" must carry; empty: any key is accepted
	WebhookURL    string // may be set later
	WebhookSecret string // "whsec_…", key of the signature; may be set later
	// RetryLadder are the waits between attempts of a webhook, in virtual time. nil: 5 min, 30 min, 2 h.
	RetryLadder []time.Duration
	// ReceiverNow is the clock of who gets the webhooks; nil: real time.
	ReceiverNow func() time.Time
	// AfterDunning is one of the AfterDunning constants; default AfterDunningCancel.
	AfterDunning string
	// MerchantName and MerchantCity stand in PIX codes; default "MARQUEE SANDBOX", "SAO PAULO".
	MerchantName, MerchantCity string
	StateFile                  string    // keeps the objects over restarts; empty: memory only
	Frozen                     time.Time // where the clock stands until it is advanced (stage.Options); zero: real time
	Logger                     *slog.Logger
}

// Gateway is the emulator. It is an http.Handler for both the API and the controls.
type Gateway struct {
	stage     *stage.Stage
	handler   http.Handler
	secretKey string

	// Guarded by the stage's lock.
	ledger *account.Ledger
	keys   stage.Table[storedResponse] // idempotency keys
}

// New makes the gateway and starts its clock and webhook queue. Close ends them.
func New(o Options) (*Gateway, error) {
	if o.RetryLadder == nil {
		o.RetryLadder = defaultLadder
	}
	if o.AfterDunning == "" {
		o.AfterDunning = account.AfterDunningCancel
	}
	if o.MerchantName == "" {
		o.MerchantName = "MARQUEE SANDBOX"
	}
	if o.MerchantCity == "" {
		o.MerchantCity = "SAO PAULO"
	}
	g := &Gateway{secretKey: o.SecretKey, ledger: account.NewLedger(account.Settings{
		BaseURL: o.BaseURL, Secret: o.WebhookSecret, AfterDunning: o.AfterDunning,
		MerchantName: o.MerchantName, MerchantCity: o.MerchantCity,
	})}
	s, err := stage.New(stage.Options{
		Name:          "gwb",
		StateFile:     o.StateFile,
		FaultBody:     account.FaultBody,
		HandlesFaults: true,
		Frozen:        o.Frozen,
		Logger:        o.Logger,
		Webhooks: stage.WebhookOptions{
			URL: o.WebhookURL, Ladder: o.RetryLadder, Headers: g.ledger.Sign, ReceiverNow: o.ReceiverNow,
		},
	})
	if err != nil {
		return nil, err
	}
	g.stage = s
	if err := errors.Join(g.ledger.Open(s), s.Keep("idempotency_keys", &g.keys)); err != nil {
		return nil, err
	}
	g.forgetRunning()
	registerControls(g)
	g.handler = s.Handler(http.HandlerFunc(g.serve))
	if err := s.Start(); err != nil {
		return nil, err
	}
	return g, nil
}

// ServeHTTP serves the API below /v1, PIX codes below /pix and the controls below /_sandbox.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.handler.ServeHTTP(w, r) }

// Stage offers clock, webhook queue, faults and journal to tests.
func (g *Gateway) Stage() *stage.Stage { return g.stage }

// Close stops the clock, the queue and hanging calls, and saves the state.
func (g *Gateway) Close() error { return g.stage.Close() }

// SetBaseURL says where the gateway is reached, once the port is known.
func (g *Gateway) SetBaseURL(url string) {
	g.stage.Lock()
	defer g.stage.Unlock()
	g.ledger.BaseURL = url
}

// SetWebhook sets the address and the signing secret of the webhook; an empty secret leaves the present one. Waiting
// deliveries go there.
func (g *Gateway) SetWebhook(url, secret string) {
	g.stage.Lock()
	if secret != "" {
		g.ledger.Secret = secret
	}
	g.stage.Unlock()
	g.stage.Webhooks.SetURL(url)
}

// SetShape chooses the form of objects in later events, as the API version of a webhook endpoint does.
func (g *Gateway) SetShape(s account.Shape) error {
	if s != account.Dahlia && s != account.PreBasil {
		return fmt.Errorf("shape %q: want %q or %q", s, account.Dahlia, account.PreBasil)
	}
	g.stage.Lock()
	defer g.stage.Unlock()
	g.ledger.Shape = s
	return nil
}
