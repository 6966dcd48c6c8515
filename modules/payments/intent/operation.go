package intent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/backoff"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/faultpoint"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// By says who brought an outcome, in the history of its intent: one of these, or the source of its user's own move.
type By = state.IntentBy

// The answer of the call itself, a look, an event.
const (
	ByResponse By = "answer"
	ByCheck    By = "look"
	ByWebhook  By = "webhook"
)

// Operation is one kind of order to a gateway. R is what a call is made from: the user's
// row, and what the request alone has in hand, such as a card. A is what the gateway answers.
type Operation[R, A any] struct {
	Kind    Kind
	Intents *Service
	// Committed and Settling name the places at which the crash tests kill: after the
	// commit of Begin, before that of what an outcome means.
	Committed, Settling string
	// Unattended: nobody waits for the answer. What does not listen is asked again.
	Unattended bool
	// WasFound says that what is looked for was there once: two misses an hour apart prove
	// that it is gone, and none while the gateway is suspect. Found again, nothing is settled.
	WasFound bool

	// Opening is a row's intent; without a subject there is none.
	Opening func(R) Opening
	// Row reads what a look asks about; over: nothing is left to be asked.
	Row func(ctx context.Context, i Intent) (row R, over bool, err error)
	// Steps are the calls in their order. Each next one follows the success of the one
	// before; nothing is settled in between.
	Steps []Step[R, A]
	// Ways gives the steps where they depend on the row.
	Ways func(row R) []Step[R, A]
	// SettleTx locks the row and writes what an outcome means. It calls nothing, and
	// never gets NotKnown. It may be repeated: an event may have been faster.
	SettleTx func(ctx context.Context, tx pgx.Tx, row *R, o Outcome[A], by By) error
	// Settled, where there is something to do once a look has settled. Who asked does that
	// for an answer.
	Settled func(ctx context.Context, row R) error
}

// Step is one call. What the steps before it have made is handed on.
type Step[R, A any] struct {
	FaultPoint string // the place at which the crash tests kill after the call
	Call       func(ctx context.Context, gw gateway.Gateway, row R, made A) (A, error)
	// Find looks for what Call has made. Nil: Call may be repeated as it is.
	Find func(ctx context.Context, gw gateway.Gateway, row R, made A) (a A, found bool, err error)
	// Judge says what a well-formed answer means. Nil: Succeeded.
	Judge func(row R, a A) Outcome[A]
	// Again is asked before the call is made once more, which certainly has made nothing:
	// nil goes on, an outcome ends it instead. Without it nothing is called again.
	Again func(ctx context.Context, gw gateway.Gateway, row R) (Outcome[A], error)
	// Behind: the step before has made what counts. However its own failure sounds, the
	// order is not declined or refused by it: it is not known, and the looks go on.
	Behind bool
}

// Outcome is what a call, or the look for what it made, means for its user's row. The
// types of this file are all there are.
type Outcome[A any] interface {
	outcome(A)
	// step is what the history of its intent says, and whether that ends it.
	step() state.IntentStep
}

// Succeeded says that what the call was for is there. Whether its money counts, or its payer has
// still to pay or to authenticate, is the answer's to say.
type Succeeded[A any] struct{ Result A }

// Pending says that it is there, and the gateway decides later.
type Pending[A any] struct{ Result A }

// Declined by the payer's bank or the gateway: no money moves.
type Declined[A any] struct {
	Result A // what was made all the same, where anything was
	Cause  error
}

// Refused for its shape, or never asked: the gateway certainly made nothing.
type Refused[A any] struct{ Cause error }

// Missing was looked for and proved not to be there.
type Missing[A any] struct{}

// Void says that nothing is left to be asked, or to be paid.
type Void[A any] struct{ Result A }

// NotKnown is everything else. It changes no row: the looks find out.
type NotKnown[A any] struct {
	Result A // what the steps before have made
	Cause  error
}

func (Succeeded[A]) outcome(A) {}
func (Pending[A]) outcome(A)   {}
func (Declined[A]) outcome(A)  {}
func (Refused[A]) outcome(A)   {}
func (Missing[A]) outcome(A)   {}
func (Void[A]) outcome(A)      {}
func (NotKnown[A]) outcome(A)  {}

func (Succeeded[A]) step() state.IntentStep { return state.StepDone }
func (Pending[A]) step() state.IntentStep   { return state.StepWaiting }
func (Declined[A]) step() state.IntentStep  { return state.StepDeclined }
func (Refused[A]) step() state.IntentStep   { return state.StepRefused }
func (Missing[A]) step() state.IntentStep   { return state.StepMissing }
func (Void[A]) step() state.IntentStep      { return state.StepVoid }
func (NotKnown[A]) step() state.IntentStep  { return state.StepNotKnown }

// Begin is the first phase: write commits the row that stands for the order, together with
// its intent, since whoever dies from here on is found by the looks. *ErrOpen when it, or what it
// excludes, is open already; else write's own errors. With any error nothing is committed.
func (o *Operation[R, A]) Begin(ctx context.Context, row *R, write func(tx pgx.Tx) error) error {
	err := postgres.InTx(ctx, o.Intents.deps.Pool, func(tx pgx.Tx) error {
		if err := write(tx); err != nil {
			return err
		}
		opening := o.Opening(*row)
		if opening.Subject == "" {
			return nil
		}
		return o.Intents.OpenTx(ctx, tx, opening)
	})
	if err == nil {
		faultpoint.Hit(o.Committed)
	}
	return err
}

// Run is what follows: the steps, and settling their outcome. What the gateway does has to
// be known, and written, although the client goes away. With NotKnown the row is as it was. The error
// is that of settling, never the gateway's, which the outcome carries: the looks settle it then.
func (o *Operation[R, A]) Run(ctx context.Context, row R) (R, Outcome[A], error) {
	ctx = context.WithoutCancel(ctx)
	var made A
	var outcome Outcome[A]
	for _, step := range o.steps(row) {
		outcome = o.call(ctx, step, row, made, true, !o.Unattended)
		success, ok := outcome.(Succeeded[A])
		if !ok {
			break
		}
		made = success.Result
	}
	row, err := o.settle(ctx, row, outcome, ByResponse)
	return row, outcome, err
}

func (o *Operation[R, A]) steps(row R) []Step[R, A] {
	if o.Ways != nil {
		return o.Ways(row)
	}
	return o.Steps
}

// call makes a step's call, within its time, and reads its answer.
func (o *Operation[R, A]) call(ctx context.Context, step Step[R, A], row R, made A, counts, waited bool) (outcome Outcome[A]) {
	ctx, cancel := context.WithTimeout(ctx, o.Intents.CallTime())
	defer cancel()
	err := o.Intents.caught(ctx, "call", func() error {
		gw, err := o.gateway(row)
		if err != nil {
			return err
		}
		a, err := step.Call(ctx, gw, row, made)
		faultpoint.Hit(step.FaultPoint)
		if err == nil {
			outcome = step.judge(row, a)
		}
		return err
	})
	switch {
	case err == nil:
		return outcome
	case step.Behind:
		return NotKnown[A]{Result: made, Cause: err}
	}
	return outcomeOf(err, made, counts, waited)
}

// caught keeps a panic within a call or look: what it did is not known.
func (s *Service) caught(ctx context.Context, what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.deps.Log.ErrorContext(ctx, "a "+what+" panicked", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("the %s panicked: %v", what, p)
		}
	}()
	return do()
}

// gateway is the one of the row's intent; a phase that writes has none.
func (o *Operation[R, A]) gateway(row R) (gateway.Gateway, error) {
	return o.Intents.deps.Gateways.Find(o.Opening(row).Gateway)
}

func (s Step[R, A]) judge(row R, a A) Outcome[A] {
	if s.Judge == nil {
		return Succeeded[A]{Result: a}
	}
	return s.Judge(row, a)
}

// settle is the last phase: one transaction writes what the outcome means, and ends the intent or has it wait. Of what
// is not known it is noted since when; when that fails, the first look waits for the lease.
func (o *Operation[R, A]) settle(ctx context.Context, row R, outcome Outcome[A], by By) (R, error) {
	s, ref := o.Intents, o.Opening(row).Ref
	if unknown, ok := outcome.(NotKnown[A]); ok {
		s.deps.Log.WarnContext(ctx, "what the gateway made of a call is not known", slog.String("kind", string(o.Kind)),
			slog.String("subject_id", ref.Subject.String()), slog.Any("error", unknown.Cause))
		if err := s.notKnown(ctx, ref, unknown.Cause); err != nil {
			s.deps.Log.WarnContext(ctx, "not noted: the first look waits for the lease", slog.String("subject_id", ref.Subject.String()), slog.Any("error", err))
		}
		return row, nil
	}
	ctx = context.WithoutCancel(ctx)
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		err := o.SettleTx(ctx, tx, &row, outcome, by)
		switch {
		case err == nil && outcome.step().Ends():
			err = s.EndTx(ctx, tx, ref, outcome, by)
		case err == nil && by == ByResponse:
			err = s.waitTx(ctx, tx, ref)
		}
		if err == nil {
			faultpoint.Hit(o.Settling)
		}
		return err
	})
	return row, err
}

// outcomeOf reads the error of a call, for all users in one place. What nobody foresaw is not known. A refusal counts
// where it is of the only call that may have made something; that the gateway was not reached, or lacks what the call
// stands on, where somebody waits for the answer: else the looks ask again.
func outcomeOf[A any](err error, made A, counts, waited bool) Outcome[A] {
	switch {
	case errors.Is(err, gateway.ErrOutcomeUnknown):
	case gateway.IsDeclined(err):
		return Declined[A]{Cause: err}
	case counts && gateway.Certain(err) && (waited || gateway.IsRejected(err)):
		return Refused[A]{Cause: err}
	}
	return NotKnown[A]{Result: made, Cause: err}
}

// OpenTx opens intents in the transaction that commits their users' rows, in one statement. *ErrOpen when one of them
// is open already, or what it excludes: roll back then. A kind without a user is an error, too: nobody would look for
// it. Until the call's time limit, and a fifth of it, are over nobody looks.
func (s *Service) OpenTx(ctx context.Context, tx pgx.Tx, openings ...Opening) error {
	if len(openings) == 0 {
		return nil
	}
	now := s.deps.Clock.Now()
	p := paymentsdb.IntentInsertParams{Now: now}
	for _, o := range openings {
		if s.hooks.Users[o.Kind].check == nil {
			return fmt.Errorf("open intent: nobody looks for intents of kind %q", o.Kind)
		}
		callEnds, next, calls, misses := now, now, int32(0), int32(0)
		if o.CallTime > 0 {
			callEnds = now.Add(backoff.Lease(o.CallTime))
			next, calls = callEnds, 1
		} else if s.hooks.Users[o.Kind].wasFound {
			next, misses = now.Add(backoff.FoundAgainAfter), 1
		}
		p.Ids, p.Kinds, p.SubjectIds = append(p.Ids, objectid.At(now).String()), append(p.Kinds, string(o.Kind)), append(p.SubjectIds, o.Subject.String())
		p.Items, p.CustomerIds, p.Gateways = append(p.Items, o.Item), append(p.CustomerIds, o.Customer.String()), append(p.Gateways, string(o.Gateway))
		p.Refs, p.Exclusions = append(p.Refs, cmp.Or(o.Reference, o.Subject.String())), append(p.Exclusions, o.Excludes)
		p.Calls, p.Misses, p.CallEnds, p.NextLooks = append(p.Calls, calls), append(p.Misses, misses), append(p.CallEnds, callEnds), append(p.NextLooks, next)
	}
	made, err := s.db.IntentInsert(ctx, tx, p)
	if err != nil {
		return fmt.Errorf("open intent: %w", err)
	}
	if len(made) == len(openings) {
		return nil
	}
	for _, o := range openings {
		row, err := s.db.IntentFindConflicting(ctx, tx, paymentsdb.IntentFindConflictingParams{
			SubjectID: o.Subject, Kind: o.Kind, Item: o.Item, Gateway: o.Gateway, Excludes: o.Excludes, Made: made,
		})
		if err == nil {
			return &ErrOpen{Intent: intentOf(row)}
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("read intent: %w", err)
		}
	}
	return errors.New("an intent is open already")
}

// EndTx ends the open intent of an outcome, in the transaction that settles it: that of an operation's phase, or of
// what else has brought it. One that has ended already is left alone, since an event may be faster than the answer.
func (s *Service) EndTx(ctx context.Context, tx pgx.Tx, r Ref, o interface{ step() state.IntentStep }, by By) error {
	to, err := state.Intents.Move(state.IntentOpen, o.step())
	if err != nil {
		return fmt.Errorf("end intent: %w", err)
	}
	ended, err := s.db.IntentEnd(ctx, tx, paymentsdb.IntentEndParams{
		At: s.deps.Clock.Now(), By: by, State: to, SubjectID: r.Subject, Kind: r.Kind, Item: r.Item,
	})
	if err != nil {
		return fmt.Errorf("end intent: %w", err)
	}
	for _, e := range ended {
		if err == nil && e.Told && s.hooks.Known != nil {
			err = s.hooks.Known(ctx, tx, gateway.Name(e.Gateway), r.Subject)
		}
	}
	return err
}
