package gwb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"marquee/testutil/sandbox/stage"
)

// APIVersion is the version whose form the answers and the events of shape dahlia have.
const APIVersion = "2026-03-25.dahlia"

// preBasilVersion stands in events of the old shape.
const preBasilVersion = "2024-06-20"

// Shape is the form of objects inside events.
type Shape string

// Shapes.
const (
	Dahlia   Shape = "dahlia"
	PreBasil Shape = "pre-basil"
)

// What happens to a subscription whose dunning ends without payment.
const (
	AfterDunningCancel  = "cancel"
	AfterDunningUnpaid  = "unpaid"
	AfterDunningPastDue = "past_due"
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
	opts    Options
	stage   *stage.Stage
	handler http.Handler
	routes  *http.ServeMux

	// Guarded by the stage's lock.
	baseURL string
	secret  string
	shape   Shape
	data    data
}

// data is everything that is kept over a restart.
type data struct {
	Customers      stage.Table[customer]
	PaymentMethods stage.Table[paymentMethod]
	SetupIntents   stage.Table[setupIntent]
	Products       stage.Table[product]
	Prices         stage.Table[price]
	Coupons        stage.Table[coupon]
	Subscriptions  stage.Table[subscription]
	Invoices       stage.Table[invoice]
	Intents        stage.Table[paymentIntent]
	Charges        stage.Table[charge]
	Refunds        stage.Table[refund]
	Disputes       stage.Table[dispute]
	Events         stage.Table[event]
	Keys           stage.Table[storedResponse]
}

// registerWith has the state file keep all of it.
func (d *data) registerWith(s *stage.Stage) error {
	return errors.Join(
		s.Keep("customers", &d.Customers),
		s.Keep("payment_methods", &d.PaymentMethods),
		s.Keep("setup_intents", &d.SetupIntents),
		s.Keep("products", &d.Products),
		s.Keep("prices", &d.Prices),
		s.Keep("coupons", &d.Coupons),
		s.Keep("subscriptions", &d.Subscriptions),
		s.Keep("invoices", &d.Invoices),
		s.Keep("payment_intents", &d.Intents),
		s.Keep("charges", &d.Charges),
		s.Keep("refunds", &d.Refunds),
		s.Keep("disputes", &d.Disputes),
		s.Keep("events", &d.Events),
		s.Keep("idempotency_keys", &d.Keys),
	)
}

// New makes the gateway and starts its clock and webhook queue. Close ends them.
func New(o Options) (*Gateway, error) {
	if o.RetryLadder == nil {
		o.RetryLadder = defaultLadder
	}
	if o.AfterDunning == "" {
		o.AfterDunning = AfterDunningCancel
	}
	if o.MerchantName == "" {
		o.MerchantName = "MARQUEE SANDBOX"
	}
	if o.MerchantCity == "" {
		o.MerchantCity = "SAO PAULO"
	}
	g := &Gateway{opts: o, baseURL: o.BaseURL, secret: o.WebhookSecret, shape: Dahlia}
	s, err := stage.New(stage.Options{
		Name:          "gwb",
		StateFile:     o.StateFile,
		FaultBody:     faultBody,
		HandlesFaults: true,
		Frozen:        o.Frozen,
		Logger:        o.Logger,
		Webhooks: stage.WebhookOptions{
			URL: o.WebhookURL, Ladder: o.RetryLadder, Headers: g.sign, ReceiverNow: o.ReceiverNow,
		},
	})
	if err != nil {
		return nil, err
	}
	if err := g.data.registerWith(s); err != nil {
		return nil, err
	}
	g.forgetRunning()
	g.stage = s
	g.handleJobs()
	g.registerControls()
	g.routes = g.mux()
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
	g.baseURL = url
}

// SetWebhook sets the address and the signing secret of the webhook; an empty secret leaves the present one. Waiting
// deliveries go there.
func (g *Gateway) SetWebhook(url, secret string) {
	g.stage.Lock()
	if secret != "" {
		g.secret = secret
	}
	g.stage.Unlock()
	g.stage.Webhooks.SetURL(url)
}

// SetShape chooses the form of objects in later events, as the API version of a webhook endpoint does.
func (g *Gateway) SetShape(s Shape) error {
	if s != Dahlia && s != PreBasil {
		return fmt.Errorf("shape %q: want %q or %q", s, Dahlia, PreBasil)
	}
	g.stage.Lock()
	defer g.stage.Unlock()
	g.shape = s
	return nil
}

func (g *Gateway) now() int64 { return g.stage.Clock.Now().Unix() }

// op is one thing that happens, by a call or by the gateway itself; its events carry the call's id and key.
type op struct {
	g         *Gateway
	ctx       context.Context
	requestID string
	key       string
}

// background is an operation that no call caused.
func (g *Gateway) background() *op { return &op{g: g, ctx: context.Background()} }

// handleJobs says what is done when the clock reaches a date. They run with the stage locked.
func (g *Gateway) handleJobs() {
	for kind, run := range map[string]func(o *op, id string){
		jobIncompleteExpire: (*op).expireIncomplete,
		jobPeriodEnd:        (*op).endPeriod,
		jobInvoiceRetry:     (*op).retryInvoice,
		jobPIXPay:           (*op).payPIXJob,
		jobPIXExpire:        (*op).expirePIXJob,
		jobRefundFail:       (*op).failRefundJob,
		jobDispute:          (*op).disputeJob,
	} {
		g.stage.Clock.Handle(kind, func(id string) { run(g.background(), id) })
	}
}
