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
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments/backoff"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/health"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/clock"
	"marquee/platform/nullable"
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

// Intent is an open order to a gateway, as people hear of it.
type Intent struct {
	Ref
	Customer      objectid.ID // "" where there is none
	Gateway       gateway.Name
	Reference     string // what the gateway was told as our id
	NotKnownSince *time.Time
	NextCheck     time.Time
	Cause         string // why it is not known, for operators
	CreatedAt     time.Time
}

// Since is since when nobody knows.
func (i Intent) Since() time.Time { return *cmp.Or(i.NotKnownSince, &i.CreatedAt) }

// Ref names an intent by its user's row.
type Ref struct {
	Kind    Kind
	Subject objectid.ID
	Item    string // "" but where a subject has several
}

// Opening is an intent to be opened.
type Opening struct {
	Ref
	Customer  objectid.ID
	Gateway   gateway.Name
	Reference string // default the subject's id
	// Excludes names what may be open only once at the gateway, such as
	// refund:pay_1; OpenTx refuses a second one.
	Excludes string
	// CallTime bounds the call that follows the commit. 0: no call follows; the
	// first look is made at once or, where the kind was found once, in an hour.
	CallTime time.Duration
}

// ErrOpen says that an intent of the same subject, or one that excludes it, is open.
type ErrOpen struct{ Intent Intent }

// Error tells the kind, the subject, and since when it is open.
func (e *ErrOpen) Error() string {
	return fmt.Sprintf("an intent %s of %s is open since %s", e.Intent.Kind, e.Intent.Subject, e.Intent.CreatedAt.Format(time.RFC3339))
}

// AlreadyOpen reports whether err is *ErrOpen.
func AlreadyOpen(err error) bool {
	_, open := errors.AsType[*ErrOpen](err)
	return open
}

// Deps is what New needs.
type Deps struct {
	Pool      *pgxpool.Pool
	Clock     clock.Clock
	Log       *slog.Logger
	Gateways  gateway.Set
	Operators *operators.Mailer // nil: nobody is written to
	// RecoveryDelay says how long the gateways' search may lag. Default 1 min.
	RecoveryDelay time.Duration
	// CallTime bounds a call that moves money: gateway A may take a minute for a card,
	// and a request that ends earlier leaves charges nobody knows of. Default 75 s.
	CallTime time.Duration
	// Refused reports whether an error is the gateway's own well-formed refusal: an answer,
	// after which the intent is as open as before, and the gateway no worse. nil: none is.
	Refused func(error) bool
	Quotas  map[gateway.Name]gateway.Quota // as in health.Deps
}

// Service opens and ends intents, and is the schedule of looks at those that are open.
type Service struct {
	deps   Deps
	db     *paymentsdb.Queries
	hooks  Hooks
	health *health.Health
	policy backoff.Policy
}

// New makes it. Connect the users before the schedule runs.
func New(d Deps) *Service {
	d.RecoveryDelay = cmp.Or(d.RecoveryDelay, time.Minute)
	d.CallTime = cmp.Or(d.CallTime, 75*time.Second)
	if d.Refused == nil {
		d.Refused = func(error) bool { return false }
	}
	s := &Service{deps: d, db: paymentsdb.New(), hooks: Hooks{Users: map[Kind]User{}}, policy: backoff.Policy{RecoveryDelay: d.RecoveryDelay}}
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
	Users map[Kind]User // who looks, by the kind of intent
	// Unknown is called, in a transaction, for each intent that is not known for a day: the
	// list of money that people have to look at.
	Unknown func(ctx context.Context, tx pgx.Tx, i Intent) error
	// Known is called, in the transaction that ends an intent which Unknown was called for,
	// with its gateway and subject.
	Known func(ctx context.Context, tx pgx.Tx, gateway gateway.Name, subject objectid.ID) error
}

// Connect adds hooks to those that are connected; what is nil stays. Not safe once the server runs.
func (s *Service) Connect(h Hooks) {
	maps.Copy(s.hooks.Users, h.Users)
	if h.Unknown != nil {
		s.hooks.Unknown = h.Unknown
	}
	if h.Known != nil {
		s.hooks.Known = h.Known
	}
}

// row is the open intent of the name.
func (s *Service) row(ctx context.Context, db postgres.DB, r Ref) (row paymentsdb.PaymentsIntent, open bool, err error) {
	row, err = s.db.IntentGetOpen(ctx, db, paymentsdb.IntentGetOpenParams{SubjectID: r.Subject, Kind: r.Kind, Item: r.Item})
	if errors.Is(err, pgx.ErrNoRows) {
		return row, false, nil
	}
	if err != nil {
		return row, false, fmt.Errorf("read intent: %w", err)
	}
	return row, true, nil
}

// OpenOf is the oldest open intent of a subject: what a 409 tells, since when it is
// not known and when the next look is.
func (s *Service) OpenOf(ctx context.Context, db postgres.DB, subject objectid.ID) (Intent, bool, error) {
	open, err := s.db.IntentListOpenOf(ctx, db, subject)
	if err != nil || len(open) == 0 {
		return Intent{}, false, err
	}
	return intentOf(open[0]), true, nil
}

// IsOpen reports whether the intent of the name is open.
func (s *Service) IsOpen(ctx context.Context, db postgres.DB, r Ref) (bool, error) {
	_, ok, err := s.row(ctx, db, r)
	return ok, err
}

func intentOf(r paymentsdb.PaymentsIntent) Intent {
	return Intent{
		Ref: refOf(r), Customer: *cmp.Or(r.CustomerID, new(objectid.ID)), Gateway: r.Gateway, Reference: r.Reference, NotKnownSince: r.NotKnownSince,
		NextCheck: *cmp.Or(r.NextLookAt, &time.Time{}), Cause: nullable.Value(r.Cause), CreatedAt: r.CreatedAt,
	}
}

func refOf(r paymentsdb.PaymentsIntent) Ref {
	return Ref{Kind: r.Kind, Subject: r.SubjectID, Item: r.Item}
}

// notKnown notes that the call ended without an answer that can be used: the first
// look is in 5 s. Without it, after a crash, the lease runs out.
func (s *Service) notKnown(ctx context.Context, r Ref, cause error) error {
	ctx = context.WithoutCancel(ctx)
	row, ok, err := s.row(ctx, s.deps.Pool, r)
	if err != nil || !ok || row.LeasedUntil == nil || row.CallEndsAt == nil || !row.LeasedUntil.Equal(*row.CallEndsAt) {
		return err // ended by an event, or a look has it
	}
	return s.recordNotKnown(ctx, row, ByResponse, cause)
}

// waitTx notes, in the transaction that settles an answer, that the gateway decides
// later: the call has ended, and the next look is after RECOVERY_DELAY.
func (s *Service) waitTx(ctx context.Context, tx pgx.Tx, r Ref) error {
	row, ok, err := s.row(ctx, tx, r)
	if err != nil || !ok {
		return err
	}
	return s.recordPending(ctx, tx, row, ByResponse, s.deps.RecoveryDelay)
}
