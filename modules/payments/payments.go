package payments

import (
	"context"
	"log/slog"
	"time"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/reconcile"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/unapplied"
	"marquee/modules/payments/webhook"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/objectid"
	"marquee/platform/operators"
	"marquee/platform/postgres"
	"marquee/platform/replica"
)

// Deps is what New needs.
type Deps struct {
	Pool     postgres.Pool
	Reads    *replica.Set // lists and counts of the log of webhooks; default Pool
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
	// Operators gets mail about what only people can repair. Nil: none is sent.
	Operators *operators.Mailer
	// RecoveryDelay is RECOVERY_DELAY (intent.Deps). Default 1 min.
	RecoveryDelay time.Duration
	// CallTime is GATEWAY_CALL_TIME (intent.Deps). Default 75 s.
	CallTime time.Duration
	// Automatic bounds what is refunded without a person's decision.
	Automatic unapplied.AutomaticRefunds
	// Accounts, Mail and Templates tell payers whose money was given back; without
	// them nobody is written to.
	Accounts  *accounts.Service
	Mail      mail.Sender
	Templates *mail.Templates
	// GWBPublishableKey is shown by GET /gwb/config; empty: not configured.
	GWBPublishableKey string
}

type (
	reader = ledger.Reader
	books  = ledger.Ledger
)

// Service is the module: it makes the rooms and is their only door.
type Service struct {
	*reader    // what the ledgers hold, read by the modules above as it is by the rooms
	*books     // what writes them, likewise
	deps       Deps
	gateways   gateway.Set
	intents    *intent.Service
	cases      *ledger.Cases
	refusals   *webhook.Refusals
	log        *webhook.Log
	webhooks   *webhook.Webhooks
	refunds    *refund.Refunds
	unapplied  *unapplied.List
	reconciler *reconcile.Reconciler
	connected  connected
}

// New makes the module. Connect the modules above before serving.
func New(d Deps) *Service {
	if d.Reads == nil {
		d.Reads = replica.Only(d.Pool)
	}
	s := &Service{deps: d, gateways: gateway.Set{}}
	s.intents = intent.New(intent.Deps{
		Pool: d.Pool, Clock: d.Clock, Log: d.Log, Gateways: s.gateways, Operators: d.Operators,
		RecoveryDelay: d.RecoveryDelay, CallTime: d.CallTime, Refused: ledger.RefusedByGateway,
	})
	rows := ledger.Deps{
		Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Intents: s.intents, Accounts: d.Accounts,
	}
	s.reader = ledger.NewReader(rows)
	s.cases = ledger.NewCases(rows, s.reader)
	s.books = ledger.New(rows, s.reader, s.cases)
	calls := webhook.Deps{Deps: rows, Reads: d.Reads, Gateways: s.gateways}
	s.refusals = webhook.NewRefusals(calls)
	s.log = webhook.NewLog(calls, s.refusals)
	s.webhooks = webhook.New(calls, s.reader, s.books, s.refusals)
	s.refunds = refund.New(refund.Deps{Deps: rows, Gateways: s.gateways}, s.reader, s.cases, s.books, s.webhooks)
	s.unapplied = unapplied.New(unapplied.Deps{
		Deps: rows, Reads: d.Reads.Primary(), Gateways: s.gateways, Operators: d.Operators, Automatic: d.Automatic,
		Mail: d.Mail, Templates: d.Templates,
	}, s.reader, s.cases, s.books, s.refunds)
	s.reconciler = reconcile.New(reconcile.Deps{Deps: rows, Gateways: s.gateways, ReconcilePause: d.ReconcilePause},
		s.reader, s.cases, s.webhooks)
	s.intents.Connect(intent.Hooks{
		Checkers: map[intent.Kind]intent.Checker{intent.Refund: s.refunds.Operation().Checker()},
		Unknown:  s.cases.ListUnknownTx,
		Known:    s.cases.IntentEndedTx,
	})
	for _, a := range d.Adapters {
		s.gateways[a.Name()] = a
		a.OnReply(func(ctx context.Context, right bool) { s.intents.Health().Heard(ctx, a.Name(), right) })
	}
	return s
}

// Gateway returns the gateway of that name; ErrUnavailable when it is not
// configured.
func (s *Service) Gateway(name gateway.Name) (gateway.Gateway, error) {
	return s.gateways.Find(name)
}

// EnsurePayer makes a customer known to a gateway, and has the accounts keep the id they have there. Making a customer
// there twice moves no money.
func (s *Service) EnsurePayer(ctx context.Context, in *accounts.Service, gw gateway.Gateway,
	p gateway.Payer,
) (gateway.Payer, error) {
	if p.GatewayID != "" {
		return p, nil
	}
	id, err := gw.EnsureCustomer(ctx, p)
	if err != nil {
		return p, s.Refused(ctx, "make customer", err)
	}
	p.GatewayID, err = in.SetGatewayCustomer(ctx, s.deps.Pool, p.CustomerID, string(gw.Name()), id)
	return p, err
}

// ReadSettled reads by its id a payment that an event has told; local as in ReadPayment.
// gateway.ErrMissing: the gateway does not know it, or it is not paid.
func (s *Service) ReadSettled(ctx context.Context, name gateway.Name, paymentID string,
	local objectid.ID,
) (gateway.Payment, error) {
	return s.gateways.ReadSettled(ctx, name, paymentID, local)
}

// Intents is the schedule by which the gateways are asked what became of a call.
func (s *Service) Intents() *intent.Service { return s.intents }
