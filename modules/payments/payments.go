package payments

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/webhook"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/objectid"
	"marquee/platform/operators"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Reads    *pgxpool.Pool // lists and counts of logs; default Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Adapters []gateway.Adapter // the gateways that are configured
	// ReconcilePause lies between two calls of a reconciliation at gateway A.
	// Default none.
	ReconcilePause time.Duration
	// KeepLogMonths is for how many months (UTC), before the present one, webhook
	// logs are kept. Default 0: for good.
	KeepLogMonths int
	// Operators hears of what nobody else can mend. Nil: nobody does.
	Operators *operators.Mailer
	// RecoveryDelay is RECOVERY_DELAY (intent.Deps). Default 1 min.
	RecoveryDelay time.Duration
	// CallTime is GATEWAY_CALL_TIME (intent.Deps). Default 75 s.
	CallTime time.Duration
	// Automatic bounds what is refunded without a person's decision.
	Automatic AutomaticRefunds
	// Accounts, Mail and Templates tell payers whose money was given back; without
	// them nobody is written to.
	Accounts  *accounts.Service
	Mail      mail.Sender
	Templates *mail.Templates
	// GWBPublishableKey is shown by GET /gwb/config; empty: not configured.
	GWBPublishableKey string
}

// Service is the module.
type Service struct {
	deps      Deps
	gateways  gateway.Set
	appliers  []webhook.Applier
	takers    []webhook.StrayMoneyTaker
	followers []refund.Follower
	refunds   *refund.Refunds
	extender  Extender
	intents   *intent.Service
	db        *paymentsdb.Queries
	refusals  *webhook.Refusals
	log       *webhook.Log
	webhooks  *webhook.Webhooks
	reader    *ledger.Reader
	cases     *ledger.Cases
	ledger    *ledger.Ledger
}

// New makes the module. Register appliers before serving.
func New(d Deps) *Service {
	if d.Reads == nil {
		d.Reads = d.Pool
	}
	s := &Service{deps: d, gateways: gateway.Set{}, db: paymentsdb.New()}
	s.intents = intent.New(intent.Deps{Pool: d.Pool, Clock: d.Clock, Log: d.Log, Operators: d.Operators, RecoveryDelay: d.RecoveryDelay, CallTime: d.CallTime, Refused: ledger.RefusedByGateway})
	rows := ledger.Deps{Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Intents: s.intents, Accounts: d.Accounts}
	s.reader = ledger.NewReader(rows)
	s.cases = ledger.NewCases(rows, s.reader)
	s.ledger = ledger.New(rows, s.reader, s.cases)
	hooks := webhook.Deps{Pool: d.Pool, Reads: d.Reads, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Gateways: s.gateways, KeepLogMonths: d.KeepLogMonths}
	s.refusals = webhook.NewRefusals(hooks)
	s.log = webhook.NewLog(hooks, s.refusals)
	s.webhooks = webhook.New(hooks, s.reader, s.ledger, s.refusals)
	s.refunds = refund.New(refund.Deps{Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Gateways: s.gateways, Intents: s.intents}, s.reader, s.cases, s.ledger, s.webhooks)
	s.intents.Register(intent.Refund, intent.User{Look: s.refunds.Look})
	s.intents.OnUnknown(s.cases.ListUnknownTx)
	s.intents.OnKnown(s.cases.AnsweredTx)
	s.intents.OnProbe(s.probe)
	for _, a := range d.Adapters {
		s.gateways[a.Name()] = a
		a.OnAnswer(func(ctx context.Context, right bool) { s.intents.Heard(ctx, string(a.Name()), right) })
	}
	return s
}

// Gateway returns the gateway of that name; ErrUnavailable when it is not
// configured.
func (s *Service) Gateway(name gateway.Name) (gateway.Gateway, error) {
	return s.gateways.Find(name)
}

func (s *Service) probe(ctx context.Context, gw string) error {
	a, err := s.gateways.Find(gateway.Name(gw))
	if err != nil {
		return err
	}
	return a.Probe(ctx)
}

// ReadSettled reads by its id a payment that an event has told; local as in ReadPayment.
// ErrGatewayMissing: the gateway does not know it, or it is not paid.
func (s *Service) ReadSettled(ctx context.Context, name gateway.Name, paymentID string, local objectid.ID) (gateway.Payment, error) {
	return s.gateways.ReadSettled(ctx, name, paymentID, local)
}

// Intents is the schedule by which the gateways are asked what became of a call.
func (s *Service) Intents() *intent.Service { return s.intents }

// Register adds a module that applies events. They are asked in the order of
// registration; the first that does not answer Unclaimed wins. Not safe once
// the server runs.
func (s *Service) Register(a webhook.Applier) {
	s.appliers = append(s.appliers, a)
	if t, ok := a.(webhook.StrayMoneyTaker); ok {
		s.takers = append(s.takers, t)
	}
	s.webhooks.Connect(s.appliers, s.takers)
	if f, ok := a.(refund.Follower); ok {
		s.followers = append(s.followers, f)
		s.refunds.Connect(s.followers)
	}
	if e, ok := a.(Extender); ok {
		s.extender = e
	}
}
