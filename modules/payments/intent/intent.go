package intent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/health"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/platform/operators"
	"marquee/platform/postgres"
)

// Kind says what an intent is for. Kinds are stored and never renamed.
type Kind string

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

// Intent is one order to a gateway.
type Intent struct {
	ID            objectid.ID
	Kind          Kind
	Subject       objectid.ID // the user's row
	Item          string
	Customer      objectid.ID // "" where there is none
	Gateway       gateway.Name
	Reference     string // what the gateway was told as our id
	Calls         int    // made, and accounted for by no answer or proof
	Looks         int
	Misses        int
	NotKnownSince *time.Time
	NextLook      time.Time // of an open one
	Cause         string    // why it is not known, for operators
	CreatedAt     time.Time
}

// Since is since when nobody knows.
func (i Intent) Since() time.Time {
	if i.NotKnownSince != nil {
		return *i.NotKnownSince
	}
	return i.CreatedAt
}

// RefusalCounts reports whether the gateway's refusal of the present call proves
// that nothing was made: a refused repetition proves nothing about the call before.
func (i Intent) RefusalCounts() bool { return i.Calls <= 1 }

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

func (e *ErrOpen) Error() string {
	return fmt.Sprintf("an intent %s of %s is open since %s", e.Intent.Kind, e.Intent.Subject, e.Intent.CreatedAt.Format(time.RFC3339))
}

// Deps is what New needs.
type Deps struct {
	Pool      *pgxpool.Pool
	Clock     clock.Clock
	Log       *slog.Logger
	Gateways  gateway.Set
	Operators *operators.Mailer // nil: nobody is written to
	// RecoveryDelay says how long the gateways' search may lag: the nth empty look (from
	// 0) counts no sooner than 2^n - 1 of it after the call's own end. Default 1 min.
	RecoveryDelay time.Duration
	// CallTime bounds a call that moves money: gateway A may take a minute for a card,
	// and a request that ends earlier leaves charges nobody knows of. Default 75 s.
	CallTime time.Duration
	// Tries at gateway A that have to be empty. Default 4.
	Tries int
	// Refused reports whether an error is the gateway's own well-formed refusal: an answer,
	// after which the intent is as open as before, and the gateway no worse. nil: none is.
	Refused func(error) bool
	// Quotas by gateway, of which looks have a fifth. Default gateway A's 25,000
	// calls in 12 h.
	Quotas map[string]health.Quota
}

// Service is the schedule of looks.
type Service struct {
	deps   Deps
	db     *paymentsdb.Queries
	hooks  Hooks
	health *health.Health
}

// New makes the schedule. Connect the users before it runs.
func New(d Deps) *Service {
	if d.RecoveryDelay == 0 {
		d.RecoveryDelay = time.Minute
	}
	if d.CallTime == 0 {
		d.CallTime = 75 * time.Second
	}
	if d.Tries == 0 {
		d.Tries = 4
	}
	if d.Refused == nil {
		d.Refused = func(error) bool { return false }
	}
	if d.Quotas == nil {
		d.Quotas = map[string]health.Quota{gatewayA: {Calls: 25_000, Window: 12 * time.Hour}}
	}
	s := &Service{deps: d, db: paymentsdb.New(), hooks: Hooks{Users: map[Kind]User{}}}
	s.health = health.New(health.Deps{
		Pool: d.Pool, Clock: d.Clock, Log: d.Log, Operators: d.Operators, Quotas: d.Quotas,
		AnswersAgainTx: s.forwardTx, TrustedTx: s.lookAnewTx,
	})
	return s
}

// Health is what is known of the gateways as a whole.
func (s *Service) Health() *health.Health { return s.health }

// CallTime is how long a call that moves money may take.
func (s *Service) CallTime() time.Duration { return s.deps.CallTime }

// gatewayA is the one whose search may lag and that counts calls; payments has the
// type, but stands above.
const gatewayA = "gwa"

// User is what a kind's module does at a look.
type User struct {
	Look Looker
	// WasFound says that what is looked for was there once: two misses an hour apart
	// prove that it is gone, and none while the gateway is suspect.
	WasFound bool
}

// Hooks are the calls upward.
type Hooks struct {
	Users map[Kind]User // who looks, by the kind of intent
	// Unknown is called, in a transaction, for each intent that is not known for a day: the
	// list of money that people have to look at.
	Unknown func(ctx context.Context, tx pgx.Tx, i Intent) error
	// Known is called, in the transaction that ends an intent which Unknown was called for,
	// with its gateway and subject.
	Known func(ctx context.Context, tx pgx.Tx, gateway string, subject objectid.ID) error
	// Probe asks a gateway something that costs nothing, while it fails and no look can stand
	// for it.
	Probe func(ctx context.Context, gateway string) error
}

// Connect adds hooks to those that are connected; what is nil stays. Not safe once the
// server runs.
func (s *Service) Connect(h Hooks) {
	maps.Copy(s.hooks.Users, h.Users)
	if h.Unknown != nil {
		s.hooks.Unknown = h.Unknown
	}
	if h.Known != nil {
		s.hooks.Known = h.Known
	}
	if h.Probe != nil {
		s.hooks.Probe = h.Probe
	}
}

// lease is how long an intent is left alone for a call: 90 s for one of 75 s.
func lease(callTime time.Duration) time.Duration { return callTime + callTime/5 }

// foundAgainAfter lies between the two misses of what was found once.
const foundAgainAfter = time.Hour

// OpenTx opens intents in the transaction that commits their users' rows, in one
// statement. *ErrOpen when one of them is open already, or what it excludes: roll
// back then. Until the call's time limit, and a fifth of it, are over nobody looks.
func (s *Service) OpenTx(ctx context.Context, tx pgx.Tx, openings ...Opening) error {
	if len(openings) == 0 {
		return nil
	}
	now := s.deps.Clock.Now()
	p := paymentsdb.IntentInsertParams{Now: now}
	for _, o := range openings {
		callEnds, next, calls, misses := now, now, int32(0), int32(0)
		if o.CallTime > 0 {
			callEnds = now.Add(lease(o.CallTime))
			next, calls = callEnds, 1
		} else if s.hooks.Users[o.Kind].WasFound {
			next, misses = now.Add(foundAgainAfter), 1
		}
		if o.Reference == "" {
			o.Reference = o.Subject.String()
		}
		p.Ids, p.Kinds, p.SubjectIds = append(p.Ids, objectid.At(now).String()), append(p.Kinds, string(o.Kind)), append(p.SubjectIds, o.Subject.String())
		p.Items, p.CustomerIds, p.Gateways = append(p.Items, o.Item), append(p.CustomerIds, o.Customer.String()), append(p.Gateways, string(o.Gateway))
		p.Refs, p.Exclusions, p.Calls, p.Misses = append(p.Refs, o.Reference), append(p.Exclusions, o.Excludes), append(p.Calls, calls), append(p.Misses, misses)
		p.CallEnds, p.NextLooks = append(p.CallEnds, callEnds), append(p.NextLooks, next)
	}
	made, err := s.db.IntentInsert(ctx, tx, p)
	if err != nil {
		return fmt.Errorf("open intent: %w", err)
	}
	if len(made) == len(openings) {
		return nil
	}
	return s.whoIsOpen(ctx, tx, openings, made)
}

func (s *Service) whoIsOpen(ctx context.Context, tx pgx.Tx, openings []Opening, made []objectid.ID) error {
	for _, o := range openings {
		row, ok, err := s.row(ctx, tx, o.Ref)
		if err != nil {
			return err
		}
		if ok && !slices.Contains(made, row.ID) {
			return &ErrOpen{Intent: intentOf(row)}
		}
		if o.Excludes == "" {
			continue
		}
		row, err = s.db.IntentOpenExcluding(ctx, tx, paymentsdb.IntentOpenExcludingParams{Gateway: string(o.Gateway), Excludes: &o.Excludes})
		if err == nil && !slices.Contains(made, row.ID) {
			return &ErrOpen{Intent: intentOf(row)}
		}
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("read intent: %w", err)
		}
	}
	return errors.New("an intent is open already")
}

// row is the open intent of the name.
func (s *Service) row(ctx context.Context, db postgres.DB, r Ref) (paymentsdb.PaymentsIntent, bool, error) {
	open, err := s.db.IntentOpenOf(ctx, db, r.Subject)
	if err != nil {
		return paymentsdb.PaymentsIntent{}, false, fmt.Errorf("read intents: %w", err)
	}
	for _, o := range open {
		if Kind(o.Kind) == r.Kind && o.Item == r.Item {
			return o, true, nil
		}
	}
	return paymentsdb.PaymentsIntent{}, false, nil
}

// OpenOf is the oldest open intent of a subject: what a 409 tells, since when it is
// not known and when the next look is.
func (s *Service) OpenOf(ctx context.Context, db postgres.DB, subject objectid.ID) (Intent, bool, error) {
	open, err := s.db.IntentOpenOf(ctx, db, subject)
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

// EndTx ends the open intent of an outcome that something else than its operation has
// brought, in the transaction that settles it. One that has ended already is left alone.
func (s *Service) EndTx(ctx context.Context, tx pgx.Tx, r Ref, o interface{ state() string }, by By) error {
	return s.endTx(ctx, tx, r, o.state(), by)
}

func (s *Service) endTx(ctx context.Context, tx pgx.Tx, r Ref, state, by string) error {
	ended, err := s.db.IntentEnd(ctx, tx, paymentsdb.IntentEndParams{
		At: s.deps.Clock.Now(), By: by, State: state, SubjectID: r.Subject, Kind: string(r.Kind), Item: r.Item,
	})
	if err != nil {
		return fmt.Errorf("end intent: %w", err)
	}
	for _, e := range ended {
		if e.Told && s.hooks.Known != nil {
			if err := s.hooks.Known(ctx, tx, e.Gateway, r.Subject); err != nil {
				return err
			}
		}
	}
	return nil
}

// NotKnown notes that the call ended without an answer that can be used: the first
// look is in 5 s. Without it, after a crash, the lease runs out.
func (s *Service) NotKnown(ctx context.Context, r Ref, cause error) error {
	ctx = context.WithoutCancel(ctx)
	row, ok, err := s.row(ctx, s.deps.Pool, r)
	if err != nil || !ok || row.LeasedUntil == nil || row.CallEndsAt == nil || !row.LeasedUntil.Equal(*row.CallEndsAt) {
		return err // ended by an event, or a look has it
	}
	now := s.deps.Clock.Now()
	p := keep(row)
	p.At, p.By, p.Outcome, p.Cause, p.NextLookAt = now, "answer", "not_known", causeOf(cause), now.Add(pauseAfter(0, 0))
	p.NotKnownSince = firstOf(row.NotKnownSince, now)
	if _, err := s.db.IntentPostpone(ctx, s.deps.Pool, p); err != nil {
		return fmt.Errorf("note intent: %w", err)
	}
	if s.deps.Refused(cause) {
		return nil
	}
	return s.health.Fails(ctx, row.Gateway)
}

// WaitTx notes, in the transaction that settles an answer, that the gateway decides
// later: the call has ended, and the next look is after RECOVERY_DELAY.
func (s *Service) WaitTx(ctx context.Context, tx pgx.Tx, r Ref) error {
	row, ok, err := s.row(ctx, tx, r)
	if err != nil || !ok {
		return err
	}
	now := s.deps.Clock.Now()
	p := keep(row)
	p.At, p.By, p.Outcome, p.NextLookAt, p.NotKnownSince, p.Cause, p.Calls = now, "answer", "waiting", now.Add(s.deps.RecoveryDelay), nil, nil, 0
	if _, err := s.db.IntentPostpone(ctx, tx, p); err != nil {
		return fmt.Errorf("note intent: %w", err)
	}
	return nil
}

// keep is a note that changes nothing but the lease.
func keep(r paymentsdb.PaymentsIntent) paymentsdb.IntentPostponeParams {
	return paymentsdb.IntentPostponeParams{
		ID: r.ID, LeasedUntil: r.LeasedUntil, Failures: r.Failures, Misses: r.Misses, Calls: r.Calls, MissedAt: r.MissedAt,
		NotKnownSince: r.NotKnownSince, Cause: r.Cause,
	}
}

func intentOf(r paymentsdb.PaymentsIntent) Intent {
	i := Intent{
		ID: r.ID, Kind: Kind(r.Kind), Subject: r.SubjectID, Item: r.Item, Gateway: gateway.Name(r.Gateway), Reference: r.Reference,
		Calls: int(r.Calls), Looks: int(r.Looks), Misses: int(r.Misses), NotKnownSince: r.NotKnownSince, CreatedAt: r.CreatedAt,
	}
	if r.CustomerID != nil {
		i.Customer = *r.CustomerID
	}
	if r.NextLookAt != nil {
		i.NextLook = *r.NextLookAt
	}
	if r.Cause != nil {
		i.Cause = *r.Cause
	}
	return i
}

// maxCause bounds what is kept of an error.
const maxCause = 500

func causeOf(err error) *string {
	if err == nil {
		return nil
	}
	text := err.Error()
	if len(text) > maxCause {
		text = text[:maxCause]
	}
	return &text
}

func firstOf(t *time.Time, now time.Time) *time.Time {
	if t != nil {
		return t
	}
	return &now
}
