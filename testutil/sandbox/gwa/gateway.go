package gwa

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// Defaults of Options.
const (
	DefaultAPIKey       = "$aact_hmlg_sandbox"
	DefaultReceiver     = "Marquee Streaming"
	DefaultChargeDelay  = 500 * time.Millisecond
	DefaultBalanceCents = 1_000_000
)

// Options of a gateway. All fields may be empty.
type Options struct {
	// APIKey is what the access_token header must hold. Default DefaultAPIKey.
	APIKey string
	// WebhookURL and WebhookToken set up the account's webhook at the start, as the vendor's panel would; POST
	// /v3/webhooks does the same later. They win over what the state file remembers. Without a URL events wait.
	WebhookURL   string
	WebhookToken string
	// WebhookTimeout is how long an answer to an event may take. Default 10 s.
	WebhookTimeout time.Duration
	// StateFile keeps everything over a restart. Empty: memory only.
	StateFile string
	// Receiver is the account holder's name in PIX codes. Default DefaultReceiver.
	Receiver string
	// BalanceCents is the account's money at the first start. Default DefaultBalanceCents; below zero: none.
	BalanceCents int64
	// ChargeDelay is the virtual time between the creation of a subscription due today and its charge. Default
	// DefaultChargeDelay.
	ChargeDelay time.Duration
	// Frozen is where the clock stands until it is advanced (stage.Options). Zero: real time.
	Frozen time.Time
	// Logger hears about what goes wrong inside. nil: silent.
	Logger *slog.Logger
}

// Gateway is gateway A. It is an http.Handler; its exported methods are the controls.
type Gateway struct {
	stage   *stage.Stage
	handler http.Handler
	apiKey  string

	// Guarded by the stage's lock.
	ledger        *account.Ledger
	payments      account.Payments
	subscriptions account.Subscriptions
	debits        account.Debits
}

// New makes a gateway, restores the state file when there is one, and starts its clock and webhook queue. Close ends
// them.
func New(o Options) (*Gateway, error) {
	o = o.withDefaults()
	l := account.NewLedger(o.Receiver, o.ChargeDelay)
	g := &Gateway{
		apiKey: o.APIKey, ledger: l,
		payments: account.Payments{Ledger: l}, subscriptions: account.Subscriptions{Ledger: l},
		debits: account.Debits{Ledger: l},
	}
	s, err := stage.New(stage.Options{
		Name: "gwa", StateFile: o.StateFile, Logger: o.Logger, Webhooks: l.DeliveryRules(o.WebhookTimeout),
		FaultBody: faultBody, Frozen: o.Frozen,
	})
	if err != nil {
		return nil, err
	}
	g.stage = s
	if err := l.Open(s, account.Cents(o.BalanceCents)); err != nil {
		return nil, err
	}
	if o.WebhookURL != "" {
		l.SetWebhook(o.WebhookURL, o.WebhookToken)
	}
	registerControls(g)
	g.handler = g.limited(s.Handler(g.routes()))
	if err := s.Start(); err != nil {
		return nil, err
	}
	return g, nil
}

func (o Options) withDefaults() Options {
	if o.APIKey == "" {
		o.APIKey = DefaultAPIKey
	}
	if o.Receiver == "" {
		o.Receiver = DefaultReceiver
	}
	if o.ChargeDelay == 0 {
		o.ChargeDelay = DefaultChargeDelay
	}
	if o.BalanceCents == 0 {
		o.BalanceCents = DefaultBalanceCents
	}
	return o
}

// ServeHTTP serves the API under /v3 and the controls under /_sandbox.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.handler.ServeHTTP(w, r) }

// Close stops the clock and the webhook queue and saves the state.
func (g *Gateway) Close() error { return g.stage.Close() }

// SetWebhook sets the address and the token of the account's webhook, as the vendor's panel would; an empty token
// leaves the present one. Waiting events go there.
func (g *Gateway) SetWebhook(url, token string) {
	g.stage.Lock()
	defer g.stage.Unlock()
	if hook := g.ledger.Webhook(); hook != nil && token == "" {
		token = hook.Token
	}
	g.ledger.SetWebhook(url, token)
	g.stage.Changed()
}

// Stage gives access to what all sandbox gateways share: the clock, the webhook queue with its switches, faults and
// the journal.
func (g *Gateway) Stage() *stage.Stage { return g.stage }

// do runs an operation with the objects locked and sends its events: after the answer when ctx is that of a call.
func do[T any](ctx context.Context, g *Gateway, f func(now time.Time) (T, *account.APIError)) (T, *account.APIError) {
	g.stage.Lock()
	defer g.stage.Unlock()
	v, err := f(g.stage.Clock.Now())
	g.ledger.Send(ctx)
	g.stage.Changed()
	return v, err
}
