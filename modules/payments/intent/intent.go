package intent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/backoff"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/health"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/outcomes"
	"marquee/modules/payments/state"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/platform/operators"
	"marquee/platform/postgres"
)

// Kind says what an intent is for. Kinds are stored and never renamed.
type Kind = state.IntentKind

// The kinds.
const (
	Subscription     Kind = "subscription"      // the first call of a subscription, or of a renewal
	SubscriptionGone Kind = "subscription_gone" // a running subscription that its gateway did not find
	OpenInvoice      Kind = "open_invoice"      // paying what a failed renewal left open
	Order            Kind = "order"             // the purchase of tickets
	Refund           Kind = "refund"
	Debit            Kind = "debit"          // of automatic PIX; the item is the cycle
	DebitRetry       Kind = "debit_retry"    // a day on which a debit is taken again; the item is the cycle
	RenewalCharge    Kind = "renewal_charge" // the PIX code of a further period
	PlanMove         Kind = "plan_move"
	ChargeMove       Kind = "charge_move" // an extension's next charge
	Pause            Kind = "pause"       // of collection, while money is disputed
	End              Kind = "end"         // of what must charge no more
	Resume           Kind = "resume"      // of what was to end with its paid time
)

// Intent is an open order to a gateway, as people see it.
type Intent struct {
	Ref
	Customer      objectid.ID // "" where there is none
	Gateway       gateway.Name
	Reference     string // the id of ours that the gateway was given
	NotKnownSince *time.Time
	NextCheck     time.Time
	Cause         string // why it is not known, for operators
	CreatedAt     time.Time
	LeasedUntil   *time.Time // a call of it, or a check, may be under way until then
}

// Since is the time from which the outcome is not known.
func (i Intent) Since() time.Time { return *cmp.Or(i.NotKnownSince, &i.CreatedAt) }

// Ref names an intent by its user's row.
type Ref struct {
	Kind    Kind        `json:"kind"`
	Subject objectid.ID `json:"subject_id"`
	Item    string      `json:"item"` // "" but where a subject has several
}

// Opening is an intent to be opened.
type Opening struct {
	Ref
	Customer  objectid.ID  `json:"customer_id,omitempty"`
	Gateway   gateway.Name `json:"gateway"`
	Reference string       `json:"reference"` // default the subject's id
	// Excludes names what may be open only once at the gateway, such as refund:pay_1; OpenTx refuses a second one.
	Excludes string `json:"excludes,omitempty"`
	// CallTime bounds the call that follows the commit. 0: no call follows; the first check is made at once or, where
	// the kind was found once, in an hour.
	CallTime time.Duration `json:"-"`
	// After is when the first check is made of what Take is to call for at once. Only without CallTime.
	After time.Duration `json:"-"`
	// Fresh: its row is written by the same transaction, and it excludes nothing. It is opened with the next statement.
	Fresh bool `json:"-"`
	// Called says that a call may have been made before, of which no answer is known: a refusal proves nothing.
	Called bool `json:"-"`
	// Begun is when the call's lease begins, its row's own time: after it Run calls nothing. Default now.
	Begun time.Time `json:"-"`
}

func (o Opening) leasedUntil(now time.Time) time.Time {
	return cmp.Or(o.Begun, now).Add(backoff.Lease(o.CallTime))
}

// ErrOpen says that an intent of the same subject, or one that excludes it, is open.
type ErrOpen struct{ Intent Intent }

// Error tells the kind, the subject, and since when it is open.
func (e *ErrOpen) Error() string {
	since := e.Intent.CreatedAt.Format(time.RFC3339)
	return fmt.Sprintf("an intent %s of %s is open since %s", e.Intent.Kind, e.Intent.Subject, since)
}

// AlreadyOpen reports whether err is *ErrOpen.
func AlreadyOpen(err error) bool {
	_, open := errors.AsType[*ErrOpen](err)
	return open
}

// By says who brought an outcome, in the history of its intent: one of these, or the source of its user's own move.
type By = state.IntentBy

// The answer of the call itself, a check, an event.
const (
	ByResponse By = "answer"
	ByCheck    By = "look"
	ByWebhook  By = "webhook"
)

// What a call, or the check of what it made, means for its user's row (package outcomes).
type (
	Outcome[A any]   = outcomes.Outcome[A]
	Succeeded[A any] = outcomes.Succeeded[A]
	Pending[A any]   = outcomes.Pending[A]
	Declined[A any]  = outcomes.Declined[A]
	Refused[A any]   = outcomes.Refused[A]
	Missing[A any]   = outcomes.Missing[A]
	Void[A any]      = outcomes.Void[A]
	NotKnown[A any]  = outcomes.NotKnown[A]
)

// Deps is what New needs.
type Deps struct {
	Pool      postgres.Pool
	Clock     clock.Clock
	Log       *slog.Logger
	Gateways  gateway.Set
	Operators *operators.Mailer // nil: no mail is sent
	// RecoveryDelay says how long the gateways' search may lag. Default 1 min.
	RecoveryDelay time.Duration
	// CallTime bounds a call that moves money: gateway A may take a minute for a card, and a request that ends earlier
	// leaves charges nobody knows of. Default 75 s.
	CallTime time.Duration
	// Refused reports whether an error is the gateway's own well-formed refusal: an answer, after which the intent is
	// as open as before, and the gateway no worse. nil: none is.
	Refused func(error) bool
	Quotas  map[gateway.Name]gateway.Quota // as in health.Deps
}

// Service opens and ends intents, and is the schedule of checks of those that are open.
type Service struct {
	deps   Deps
	db     *paymentsdb.Queries
	hooks  Hooks
	health *health.Health
	policy backoff.Policy
}

// New makes it. Connect the checkers before the schedule runs.
func New(d Deps) *Service {
	d.RecoveryDelay = cmp.Or(d.RecoveryDelay, time.Minute)
	d.CallTime = cmp.Or(d.CallTime, 75*time.Second)
	if d.Refused == nil {
		d.Refused = func(error) bool { return false }
	}
	s := &Service{deps: d, db: paymentsdb.New(), policy: backoff.Policy{RecoveryDelay: d.RecoveryDelay}}
	s.hooks.Checkers = map[Kind]Checker{}
	s.health = health.New(health.Deps{
		Pool: d.Pool, Clock: d.Clock, Log: d.Log, Operators: d.Operators, Quotas: d.Quotas,
		Probe: d.Gateways.Probe, ForwardTx: s.forwardTx, TrustedTx: s.resetMissesTx,
	})
	return s
}

// Health is what is known of the gateways as a whole.
func (s *Service) Health() *health.Health { return s.health }

// CallTime is how long a call that moves money may take.
func (s *Service) CallTime() time.Duration { return s.deps.CallTime }

// Hooks are the calls upward.
type Hooks struct {
	Checkers map[Kind]Checker
	// Unknown is called, in a transaction, for each intent that is not known for a day: the list of money that people
	// have to look at.
	Unknown func(ctx context.Context, tx pgx.Tx, i Intent) error
	// Known is called, in the transaction that ends an intent which Unknown was called for.
	Known func(ctx context.Context, tx pgx.Tx, gateway gateway.Name, subject objectid.ID) error
}

// Connect adds hooks to those that are connected; what is nil stays. Not safe once the server runs.
func (s *Service) Connect(h Hooks) {
	maps.Copy(s.hooks.Checkers, h.Checkers)
	if h.Unknown != nil {
		s.hooks.Unknown = h.Unknown
	}
	if h.Known != nil {
		s.hooks.Known = h.Known
	}
}
