package gwa

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

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
	*state // guarded by the stage's lock

	stage       *stage.Stage
	handler     http.Handler
	apiKey      string
	receiver    string
	chargeDelay time.Duration
	token       tokenCell
	// outbox collects the events of the running operation; guarded by the stage's lock.
	outbox []stage.Event
}

// Kinds of the jobs on the gateway's clock; they stand in state files.
const (
	jobCharge              = "gwa_charge"
	jobNextCharge          = "gwa_next_charge"
	jobOverdue             = "gwa_overdue"
	jobSettle              = "gwa_settle"
	jobRefuseAuthorization = "gwa_refuse_authorization"
	jobExpireAuthorization = "gwa_expire_authorization"
	jobScheduleInstruction = "gwa_schedule_instruction"
	jobDebit               = "gwa_debit"
)

// New makes a gateway, restores the state file when there is one, and starts its clock and webhook queue. Close ends
// them.
func New(o Options) (*Gateway, error) {
	o = o.withDefaults()
	g := &Gateway{state: newState(), apiKey: o.APIKey, receiver: o.Receiver, chargeDelay: o.ChargeDelay}
	s, err := stage.New(stage.Options{
		Name: "gwa", StateFile: o.StateFile, Logger: o.Logger, Webhooks: g.deliveryRules(o),
		FaultBody: faultBody, Frozen: o.Frozen,
	})
	if err != nil {
		return nil, err
	}
	g.stage = s
	if err := g.registerWith(s); err != nil {
		return nil, err
	}
	if !s.Restored() {
		g.Settings, g.Account, g.Balance = defaultSettings(), uuid.NewString(), max(Cents(o.BalanceCents), 0)
	}
	g.setUpWebhook(o)
	g.handleJobs()
	g.registerControls()
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

// Stage gives access to what all sandbox gateways share: the clock, the webhook queue with its switches, faults and
// the journal.
func (g *Gateway) Stage() *stage.Stage { return g.stage }

// do runs an operation with the objects locked and sends its events: after the answer when ctx is that of a call.
func do[T any](ctx context.Context, g *Gateway, f func(now time.Time) (T, *apiError)) (T, *apiError) {
	g.stage.Lock()
	defer g.stage.Unlock()
	v, err := f(g.stage.Clock.Now())
	g.send(ctx)
	g.stage.Changed()
	return v, err
}

// send hands the collected events to the webhook queue.
func (g *Gateway) send(ctx context.Context) {
	for _, ev := range g.outbox {
		g.stage.Emit(ctx, ev)
	}
	g.outbox = nil
}

// handleJobs says what the clock does by itself.
func (g *Gateway) handleJobs() {
	for kind, run := range map[string]func(id string, now time.Time){
		jobCharge:              g.chargeCard,
		jobNextCharge:          g.nextCharge,
		jobOverdue:             g.overdue,
		jobSettle:              g.settle,
		jobScheduleInstruction: g.scheduleInstruction,
		jobDebit:               g.debit,
		jobRefuseAuthorization: func(id string, now time.Time) {
			_, _ = g.endAuthorization(id, statusRefused, "", now, statusCreated) // else it was paid
		},
		jobExpireAuthorization: func(id string, now time.Time) {
			_, _ = g.endAuthorization(id, statusExpired, "", now, statusActive) // else it ended before
		},
	} {
		g.stage.Clock.Handle(kind, func(id string) {
			run(id, g.stage.Clock.Now())
			g.send(context.Background())
		})
	}
}
