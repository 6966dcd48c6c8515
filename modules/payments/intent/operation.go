package intent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/backoff"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/outcomes"
	"marquee/modules/payments/state"
	"marquee/platform/faultpoint"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Operation is one kind of order to a gateway. R is what a call is made from: the user's row, and what the request
// alone has in hand, such as a card. A is what the gateway answers. Its methods are the phases, in order.
type Operation[R, A any] struct {
	Kind    Kind
	Intents *Service
	// Committed and Settling name the places at which the crash tests kill: after the commit of Begin, before that of
	// what an outcome means.
	Committed, Settling string
	// Unattended: nobody waits for the answer. What does not listen is asked again.
	Unattended bool
	// WasFound says that what is looked for was there once: two misses an hour apart prove that it is gone, and none
	// while the gateway is suspect. Found again, nothing is settled.
	WasFound bool

	// Opening is a row's intent; without a subject there is none.
	Opening func(R) Opening
	// Row reads what a check asks about; over: nothing is left to be asked.
	Row func(ctx context.Context, i Intent) (row R, over bool, err error)
	// Steps are the calls in their order. Each follows the success of the one before; nothing is settled in between.
	Steps []Step[R, A]
	// Ways gives the steps where they depend on the row.
	Ways func(row R) []Step[R, A]
	// SettleTx locks the row and writes what an outcome means. It calls nothing, and never gets NotKnown. It may be
	// repeated: an event may have been faster.
	SettleTx func(ctx context.Context, tx pgx.Tx, row *R, o Outcome[A], by By) error
	// Settled, where there is something to do once a check has settled. Who asked does that for an answer.
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
	// Again decides whether a call that certainly has made nothing is repeated: nil repeats it, an outcome ends the
	// order instead. Without Again nothing is repeated.
	Again func(ctx context.Context, gw gateway.Gateway, row R) (Outcome[A], error)
	// Behind: the step before has made what counts. However its own failure sounds, the order is not declined or
	// refused by it: it is not known, and the checks go on.
	Behind bool
}

// Begin is the first phase: write commits the row that stands for the order, together with its intent, since whoever
// dies from here on is found by the checks. *ErrOpen when it, or what it excludes, is open already; else write's own
// errors. With any error nothing is committed.
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

// opened is an intent as it is stored first: its JSON has the table's columns.
type opened struct {
	Opening
	ID          objectid.ID  `json:"id"`
	State       state.Intent `json:"state"`
	Calls       int          `json:"calls"`
	Misses      int          `json:"misses"`
	MissedAt    *time.Time   `json:"missed_at"`
	CallEndsAt  time.Time    `json:"call_ends_at"`
	LeasedUntil *time.Time   `json:"leased_until"`
	NextCheck   time.Time    `json:"next_look_at"`
	CreatedAt   time.Time    `json:"created_at"`
}

// opened: until the call's time limit, and a fifth of it, are over nobody checks.
func (s *Service) opened(o Opening) opened {
	now := s.deps.Clock.Now().Truncate(time.Microsecond) // as the table has it
	row := opened{Opening: o, ID: objectid.At(now), CallEndsAt: now, NextCheck: now.Add(o.After), CreatedAt: now}
	row.Reference = cmp.Or(o.Reference, o.Subject.String())
	row.State, _ = state.Intents.Next("", state.StepSeen) // as StepCalled does
	switch {
	case o.CallTime > 0:
		until := o.leasedUntil(now)
		row.Calls, row.CallEndsAt, row.LeasedUntil, row.NextCheck = 1, until, &until, until
	case o.Called:
		row.Calls = 1
	case s.hooks.Checkers[o.Kind].wasFound:
		row.Misses, row.MissedAt, row.NextCheck = 1, &now, now.Add(backoff.FoundAgainAfter)
	}
	return row
}

// OpenTx opens intents in the transaction that commits their users' rows, in one statement. *ErrOpen when one of them
// is open already, or what it excludes: roll back then. A kind without a checker is an error, too.
func (s *Service) OpenTx(ctx context.Context, tx pgx.Tx, openings ...Opening) error {
	if len(openings) == 0 {
		return nil
	}
	rows, fresh := make([]opened, len(openings)), true
	for n, o := range openings {
		if s.hooks.Checkers[o.Kind].check == nil {
			return fmt.Errorf("open intent: nobody checks intents of kind %q", o.Kind)
		}
		rows[n], fresh = s.opened(o), fresh && o.Fresh
	}
	columns, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("open intent: %w", err)
	}
	p := paymentsdb.IntentInsertParams{
		Called: string(state.StepCalled), Seen: string(state.StepSeen), Opened: columns,
	}
	if fresh {
		return s.db.IntentInsertFresh(ctx, postgres.Later(tx), paymentsdb.IntentInsertFreshParams(p))
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
	return &ErrOpen{Intent: Intent{Ref: openings[0].Ref}} // it was, and has just ended
}

// Take has the caller Run an intent that was opened without a call: taken is false when the checks have it, or it has
// ended. An error is the database's.
func (o *Operation[R, A]) Take(ctx context.Context, row R) (taken bool, err error) {
	opening, now := o.Opening(row), o.Intents.deps.Clock.Now()
	stays, _ := state.Intents.Next(state.IntentOpen, state.StepCalled)
	n, err := o.Intents.db.IntentTake(ctx, o.Intents.deps.Pool, paymentsdb.IntentTakeParams{
		At: now, Until: opening.leasedUntil(now), SubjectID: opening.Subject, Kind: opening.Kind, Item: opening.Item,
		Outcome: state.StepCalled, State: stays,
	})
	if err == nil && n == 1 {
		faultpoint.Hit(o.Committed)
	}
	return n == 1, err
}

// Run is the second phase, the steps, and then the third, which settles their outcome. What the gateway does has to be
// known, and written, although the client goes away. With NotKnown the row is as it was: also where it is not known
// whether what an outcome means was committed. The error is that of settling, never the gateway's, which the outcome
// carries: the checks settle it then.
func (o *Operation[R, A]) Run(ctx context.Context, row R) (R, Outcome[A], error) {
	ctx = context.WithoutCancel(ctx)
	var made A
	var outcome Outcome[A]
	until := o.Opening(row).leasedUntil(o.Intents.deps.Clock.Now())
	for _, step := range o.steps(row) {
		outcome = o.call(ctx, step, row, made, until, true, !o.Unattended)
		success, ok := outcome.(Succeeded[A])
		if !ok {
			break
		}
		made = success.Result
	}
	settled, err := o.settle(ctx, row, outcome, ByResponse)
	if postgres.IsUnsure(err) {
		lost := NotKnown[A]{Result: made, Cause: err}
		settled, err = o.settle(ctx, row, lost, ByResponse)
		return settled, lost, err
	}
	return settled, outcome, err
}

func (o *Operation[R, A]) steps(row R) []Step[R, A] {
	if o.Ways != nil {
		return o.Ways(row)
	}
	return o.Steps
}

// call makes a step's call, within its time and its lease, and reads its answer. A process that stood still until its
// lease was over makes none: the checks have taken it over.
func (o *Operation[R, A]) call(
	ctx context.Context, step Step[R, A], row R, made A, until time.Time, counts, waited bool,
) Outcome[A] {
	var outcome Outcome[A]
	ctx, cancel := context.WithTimeout(ctx, min(o.Intents.CallTime(), until.Sub(o.Intents.deps.Clock.Now())))
	defer cancel()
	err := o.Intents.caught(ctx, "call", func() error {
		gw, err := o.gateway(row)
		if err == nil {
			err = ctx.Err()
		}
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
	return outcomes.Of(err, made, counts, waited)
}

// caught keeps a panic within a call or check: what it did is not known. An error is do's, or says that it panicked.
func (s *Service) caught(ctx context.Context, what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.deps.Log.ErrorContext(ctx, "a "+what+" panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the %s panicked: %v", what, p)
		}
	}()
	return do()
}

// gateway is the one of the row's intent; a phase that writes has none. One not configured is gateway.ErrUnavailable.
func (o *Operation[R, A]) gateway(row R) (gateway.Gateway, error) {
	return o.Intents.deps.Gateways.Find(o.Opening(row).Gateway)
}

func (s Step[R, A]) judge(row R, a A) Outcome[A] {
	if s.Judge == nil {
		return Succeeded[A]{Result: a}
	}
	return s.Judge(row, a)
}

// settle is the third phase: one transaction writes what the outcome means, and ends the intent or has it wait.
// When the outcome is not known it records since when; otherwise the first check waits for the lease. An error is
// SettleTx's or EndTx's.
func (o *Operation[R, A]) settle(ctx context.Context, row R, outcome Outcome[A], by By) (R, error) {
	s, ref := o.Intents, o.Opening(row).Ref
	if unknown, ok := outcome.(NotKnown[A]); ok {
		if err := s.NotKnown(ctx, ref, unknown.Cause); err != nil {
			s.log(ref).ErrorContext(ctx, "not noted: its lease runs out", "error", err)
		}
		return row, nil
	}
	ctx = context.WithoutCancel(ctx)
	if by == ByResponse {
		ctx = context.WithValue(ctx, replied{}, &replied{ref, false})
	}
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		err := o.SettleTx(ctx, tx, &row, outcome, by)
		switch {
		case err == nil && outcome.Step().Ends():
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

// replied is the key of the intent whose call has just been answered. Its end is sent with the next statement of the
// transaction. One of which people were told, since its process had stood still for a day, is left to its check.
type replied struct {
	Ref
	ended bool
}

// EndTx ends the open intent of an outcome, in the transaction that settles it: that of an operation's phase, or of
// what else has brought it. One that has ended already is left alone, since an event may be faster than the answer. An
// error is the database's, or of Hooks.Known.
func (s *Service) EndTx(ctx context.Context, tx pgx.Tx, r Ref, outcome outcomes.Stepped, by By) error {
	return s.endTx(ctx, tx, r, stored{}, outcome, by)
}

// endTx is EndTx; of a check, it ends the one that was checked.
func (s *Service) endTx(ctx context.Context, tx pgx.Tx, r Ref, checked stored, outcome outcomes.Stepped, by By) error {
	to, err := state.Intents.Move(state.IntentOpen, outcome.Step())
	if err != nil {
		return fmt.Errorf("end intent: %w", err)
	}
	p := paymentsdb.IntentEndParams{
		At: s.deps.Clock.Now(), By: by, Outcome: outcome.Step(), State: to,
		SubjectID: r.Subject, Kind: r.Kind, Item: r.Item,
		Checked: checked.ID.String(), LeasedUntil: checked.LeasedUntil,
	}
	end := func(db postgres.DB) ([]paymentsdb.IntentEndRow, error) { return s.db.IntentEnd(ctx, db, p) }
	if own, _ := ctx.Value(replied{}).(*replied); own != nil && own.Ref == r {
		if p.Untold = true; !own.ended {
			own.ended = postgres.Queue(tx, end) != nil
		}
		return nil
	}
	ended, err := end(tx)
	if err != nil {
		return fmt.Errorf("end intent: %w", err)
	}
	for _, e := range ended {
		if err == nil && e.Told && s.hooks.Known != nil {
			err = s.hooks.Known(ctx, tx, e.Gateway, r.Subject)
		}
	}
	return err
}

// Checker is the last phase, for what has lost its answer: what the schedule of checks has to know of the operation.
func (o *Operation[R, A]) Checker() Checker { return Checker{check: o.check, wasFound: o.WasFound} }

// check repeats the steps: the first whose call has not succeeded is where the order stands. Any error is not known.
func (o *Operation[R, A]) check(ctx context.Context, c *check) (finding, error) {
	row, over, err := o.Row(ctx, intentOf(c.row))
	if err != nil || over {
		return settled, err
	}
	var made A
	var outcome Outcome[A]
	for n, step := range o.steps(row) {
		if outcome, err = o.stands(ctx, c, n, step, row, made); err != nil {
			return 0, err
		}
		success, ok := outcome.(Succeeded[A])
		if !ok {
			break
		}
		made = success.Result
	}
	switch reached := outcome.(type) {
	case nil: // what the steps before it have made counts nevertheless
		if c.row.Step > 0 {
			_, err = o.settle(ctx, row, Pending[A]{Result: made}, ByCheck)
		}
		return notThere, err
	case NotKnown[A]:
		return 0, reached.Cause
	case Succeeded[A]:
		if o.WasFound {
			return foundAgain, nil
		}
	case Pending[A], Declined[A], Refused[A], Missing[A], Void[A]:
	}
	row, err = o.settle(ctx, row, outcome, ByCheck)
	switch {
	case err != nil:
		return 0, err
	case !outcome.Step().Ends():
		return waiting, nil
	case o.Settled != nil:
		return settled, o.Settled(ctx, row)
	}
	return settled, nil
}

// stands says how the nth step stands; nil while nothing is found and nothing is proved. An error: it is not known.
func (o *Operation[R, A]) stands(
	ctx context.Context, c *check, n int, step Step[R, A], row R, made A,
) (Outcome[A], error) {
	gw, err := o.gateway(row)
	if err != nil {
		return nil, err
	}
	find := func() (Outcome[A], error) { // nil: it is not there
		a, found, err := step.Find(ctx, gw, row, made)
		if err != nil || !found {
			return nil, err
		}
		return step.judge(row, a), nil
	}
	if step.Find != nil {
		if outcome, err := find(); err != nil || outcome != nil {
			return outcome, err
		}
	}
	switch c.reach(n); {
	case step.Find != nil && !c.proved:
		return nil, nil
	case step.Find != nil && step.Again == nil:
		return Missing[A]{}, nil
	case step.Again != nil:
		if end, err := step.Again(ctx, gw, row); err != nil || end != nil {
			return end, err
		}
	}
	if err := c.callAgain(ctx); err != nil {
		return nil, err
	}
	// A refused repetition proves nothing about the call before.
	outcome := o.call(ctx, step, row, made, *c.row.LeasedUntil, c.row.Calls <= 1, false)
	if end := outcome.Step(); step.Find != nil && (end == state.StepRefused || end == state.StepDeclined) {
		// What was asked for first may be what the gateway does not make twice.
		if first, err := find(); err != nil || first != nil {
			return first, err
		}
	}
	return outcome, nil
}
