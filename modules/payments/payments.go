package payments

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/operators"
)

// Adapter is a gateway with its side of the webhooks. The packages gwa and gwb
// make them.
type Adapter interface {
	Gateway
	// Admits judges a call by its headers, before a byte of its body is read: false
	// where no body can make it genuine. The signature is what the log may show of the
	// proof: empty where the proof is a secret.
	Admits(h http.Header, now time.Time) (signature string, ok bool)
	// Authenticate checks that the raw body comes from the gateway.
	Authenticate(h http.Header, body []byte, now time.Time) (signature string, proof Proof)
	// ReadEvent puts an authenticated body in neutral words. An event type without
	// consequence has the kind NothingForUs. It fails when the body is no event;
	// ID and Type are filled as far as they can be read.
	ReadEvent(body []byte) (Event, error)
	// Confirm reads what an event is about and gives the event as the gateway shows it
	// now: the ids, amounts and dates are the gateway's, the rest is the event's.
	// ErrGatewayMissing when the gateway does not show what the event tells; an event that
	// is signed is confirmed as it is.
	Confirm(ctx context.Context, e Event) (Event, error)
	// OnAnswer has f told, within the call, of each right answer, and with right false
	// of each that closes the whole account.
	OnAnswer(f func(ctx context.Context, right bool))
	// Probe asks something that changes nothing and costs one call; nil when the
	// answer is right.
	Probe(ctx context.Context) error
}

// Proof is what a webhook call proves.
type Proof int

// Proofs of a call.
const (
	Forged Proof = iota // that it comes from the gateway is not proved
	Skewed              // the gateway made it, at a time too far from ours
	Genuine
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Reads    *pgxpool.Pool // lists and counts of logs; default Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Adapters []Adapter // the gateways that are configured
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
	deps     Deps
	gateways map[GatewayName]Adapter
	appliers []Applier
	intents  *intent.Service
	db       *paymentsdb.Queries
	refused  refusals
}

// New makes the module. Register appliers before serving.
func New(d Deps) *Service {
	s := &Service{deps: d, gateways: map[GatewayName]Adapter{}, db: paymentsdb.New()}
	s.intents = intent.New(intent.Deps{Pool: d.Pool, Clock: d.Clock, Log: d.Log, Operators: d.Operators, RecoveryDelay: d.RecoveryDelay, CallTime: d.CallTime, Refused: refusedByGateway})
	s.intents.Register(intent.Refund, intent.User{Look: s.lookForRefund})
	s.intents.OnUnknown(s.listUnknownTx)
	s.intents.OnKnown(s.answeredTx)
	s.intents.OnProbe(s.probe)
	for _, a := range d.Adapters {
		s.gateways[a.Name()] = a
		a.OnAnswer(func(ctx context.Context, right bool) { s.intents.Heard(ctx, string(a.Name()), right) })
	}
	return s
}

// Gateway returns the gateway of that name; ErrUnavailable when it is not
// configured.
func (s *Service) Gateway(name GatewayName) (Gateway, error) {
	g, ok := s.gateways[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q is not configured", ErrUnavailable, name)
	}
	return g, nil
}

func (s *Service) probe(ctx context.Context, gateway string) error {
	a, ok := s.gateways[GatewayName(gateway)]
	if !ok {
		return fmt.Errorf("%w: %q is not configured", ErrUnavailable, gateway)
	}
	return a.Probe(ctx)
}

// Intents is the schedule by which the gateways are asked what became of a call.
func (s *Service) Intents() *intent.Service { return s.intents }

// Register adds a module that applies events. They are asked in the order of
// registration; the first that does not answer Unclaimed wins. Not safe once
// the server runs.
func (s *Service) Register(a Applier) { s.appliers = append(s.appliers, a) }

func (s *Service) reads() *pgxpool.Pool {
	if s.deps.Reads != nil {
		return s.deps.Reads
	}
	return s.deps.Pool
}
