package intent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/backoff"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/postgres"
)

// User is who looks for what a kind's calls have made: User of its Operation or Repeated.
type User struct {
	check    looker
	wasFound bool // as Operation.WasFound
}

// looker asks the gateway what an intent's calls have made and settles what it finds,
// outside any transaction. An error, a panic too, is not known: the row stays as it is.
type looker func(ctx context.Context, l *statusCheck) (outcome, error)

// outcome is what a look found.
type outcome int

const (
	settled    outcome = iota + 1 // it stands in the user's row; an intent that is still open is done
	waiting                       // it is there, and the gateway decides later
	notThere                      // a right answer, and nothing in it; counted, when it may be
	foundAgain                    // what was found once is there: void, and the gateway is trusted again
)

// rows are intents as they are stored.
type rows = []paymentsdb.PaymentsIntent

// statusCheck is one look at an open intent.
type statusCheck struct {
	Ref
	// proved: an empty answer to this look proves that nothing was made (or that what was
	// found once is gone). Only then may it be settled as missing, or called again.
	proved  bool
	service *Service
	row     paymentsdb.PaymentsIntent
}

// refusalCounts reports whether the gateway's refusal of the present call proves
// that nothing was made: a refused repetition proves nothing about the call before.
func (l *statusCheck) refusalCounts() bool { return l.row.Calls <= 1 }

const (
	checkTime  = 90 * time.Second // of one look, with a call made again
	checkLease = checkTime + 15*time.Second
)

// callAgain counts a call that the look is about to make, and keeps other looks away
// for its time. An error: somebody else has the intent; make no call.
func (l *statusCheck) callAgain(ctx context.Context) error {
	now := l.service.deps.Clock.Now()
	until, calls := now.Add(backoff.Lease(l.service.CallTime())), l.row.Calls+1
	if l.proved {
		calls = 1 // the earlier ones are proved to have made nothing
	}
	n, err := l.service.db.IntentCallAgain(ctx, l.service.deps.Pool, paymentsdb.IntentCallAgainParams{
		At: now, Calls: calls, Until: until, ID: l.row.ID, LeasedUntil: *l.row.LeasedUntil,
	})
	if err != nil {
		return fmt.Errorf("count call: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("intent %s: somebody else has it", l.row.ID)
	}
	l.row.Calls, l.row.Misses, l.row.MissedAt, l.row.CallEndsAt, l.row.LeasedUntil = calls, 0, nil, &until, &until
	return nil
}

// runChecks makes the looks, and reports whether one of them had a right answer.
func (s *Service) runChecks(ctx context.Context, gateway gateway.Name, found rows) (right bool, failed error) {
	suspect, err := s.health.IsSuspect(ctx, gateway)
	if err != nil {
		return false, err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, r := range found {
		all.Go(func() {
			ok, err := s.checkOne(ctx, r, suspect)
			mu.Lock()
			defer mu.Unlock()
			right, failed = right || ok, errors.Join(failed, err)
		})
	}
	all.Wait()
	if right {
		failed = errors.Join(failed, s.health.Recovered(ctx, gateway))
	}
	return right, failed
}

// checkOne makes one look and notes what it showed.
func (s *Service) checkOne(ctx context.Context, r paymentsdb.PaymentsIntent, suspect bool) (right bool, err error) {
	now := s.deps.Clock.Now()
	user, known := s.hooks.Users[r.Kind]
	if !known {
		return false, fmt.Errorf("nobody looks for intents of kind %q", r.Kind)
	}
	misses := s.misses(r)
	counts := !now.Before(s.policy.CountsFrom(misses))
	l := &statusCheck{Ref: refOf(r), service: s, row: r}
	l.proved = counts && misses.Prove() && !(suspect && user.wasFound)
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var found outcome
	cause := s.caught(limited, "look", func() (err error) {
		found, err = user.check(limited, l)
		return err
	})
	ctx = context.WithoutCancel(ctx) // the gateway has answered
	if cause != nil || found == 0 {
		s.deps.Log.WarnContext(ctx, "a look ended not known", slog.String("kind", string(r.Kind)), slog.String("subject_id", r.SubjectID.String()),
			slog.String("gateway", string(r.Gateway)), slog.Any("error", cause))
		l.row.Failures++
		return s.deps.Refused(cause), s.recordNotKnown(ctx, l.row, ByCheck, cause)
	}
	switch found {
	case settled:
		return true, s.endCheck(ctx, r, Succeeded[any]{})
	case foundAgain:
		return true, errors.Join(s.endCheck(ctx, r, Void[any]{}), s.health.Trust(ctx, r.Gateway, "a look has found again what was missing"))
	case waiting:
		l.row.Failures, l.row.Misses, l.row.MissedAt = 0, 0, nil
		return true, s.recordPending(ctx, s.deps.Pool, l.row, ByCheck, s.policy.Waiting(now.Sub(r.CreatedAt)))
	default:
		return true, s.recordMiss(ctx, l.row, counts, now)
	}
}

func (s *Service) misses(r paymentsdb.PaymentsIntent) backoff.Misses {
	return backoff.Misses{
		Count: int(r.Misses), Last: r.MissedAt, CallEnds: r.CallEndsAt,
		SearchLags: r.Gateway.Traits().SearchLags, WasFound: s.hooks.Users[r.Kind].wasFound,
	}
}

// recordNotKnown: nothing is known, and nothing changes but the time of the next look. A
// gateway that refused has answered.
func (s *Service) recordNotKnown(ctx context.Context, r paymentsdb.PaymentsIntent, by By, cause error) error {
	now := s.deps.Clock.Now()
	r.NotKnownSince, r.Cause = cmp.Or(r.NotKnownSince, &now), nil
	if cause != nil {
		r.Cause = new(cause.Error())
	}
	err := s.record(ctx, s.deps.Pool, r, by, state.StepNotKnown, now.Add(backoff.After(int(r.Failures), now.Sub(*r.NotKnownSince))))
	if s.deps.Refused(cause) {
		return err
	}
	return errors.Join(err, s.health.Fails(ctx, r.Gateway))
}

// recordPending: the gateway decides later; what was called is accounted for.
func (s *Service) recordPending(ctx context.Context, db postgres.DB, r paymentsdb.PaymentsIntent, by By, pause time.Duration) error {
	r.Calls, r.NotKnownSince, r.Cause = 0, nil, nil
	return s.record(ctx, db, r, by, state.StepWaiting, s.deps.Clock.Now().Add(pause))
}

// recordMiss counts an empty look, or waits for the time from which it counts.
func (s *Service) recordMiss(ctx context.Context, r paymentsdb.PaymentsIntent, counts bool, at time.Time) error {
	now := s.deps.Clock.Now()
	outcome, next := state.StepNotThereYet, now.Add(backoff.After(int(r.Looks), 0))
	r.Failures, r.Cause = 0, nil
	if counts {
		r.Misses, r.MissedAt = min(r.Misses+1, 100), &at
		outcome, next = state.StepNotThere, backoff.Later(now, s.policy.CountsFrom(s.misses(r)))
	} else if due := s.policy.CountsFrom(s.misses(r)); due.Before(next) {
		next = backoff.Later(now, due)
	}
	return s.record(ctx, s.deps.Pool, r, ByCheck, outcome, next)
}

// record writes what became of a call or look, by the lease under which it was made.
func (s *Service) record(ctx context.Context, db postgres.DB, r paymentsdb.PaymentsIntent, by By, outcome state.IntentStep, next time.Time) error {
	if _, err := state.Intents.Move(r.State, outcome); err != nil {
		return fmt.Errorf("note intent: %w", err)
	}
	_, err := s.db.IntentPostpone(ctx, db, paymentsdb.IntentPostponeParams{
		At: s.deps.Clock.Now(), By: by, Outcome: outcome, NextLookAt: next, ID: r.ID, LeasedUntil: r.LeasedUntil, Failures: r.Failures, Misses: r.Misses,
		Calls: r.Calls, MissedAt: r.MissedAt, NotKnownSince: r.NotKnownSince, Cause: r.Cause,
	})
	if err != nil {
		return fmt.Errorf("note intent: %w", err)
	}
	return nil
}

// endCheck ends what the looker's own transaction has not ended.
func (s *Service) endCheck(ctx context.Context, r paymentsdb.PaymentsIntent, how Outcome[any]) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.EndTx(ctx, tx, refOf(r), how, ByCheck) })
}

// User is what the schedule of looks has to know of the operation.
func (o *Operation[R, A]) User() User { return User{check: o.resume, wasFound: o.WasFound} }

// resume goes through the steps again: the first whose call has not succeeded is where the order stands.
func (o *Operation[R, A]) resume(ctx context.Context, l *statusCheck) (outcome, error) {
	row, over, err := o.Row(ctx, intentOf(l.row))
	if err != nil || over {
		return settled, err
	}
	var made A
	var outcome Outcome[A]
	for n, step := range o.steps(row) {
		if outcome, err = o.stands(ctx, l, step, row, made); err != nil {
			return 0, err
		}
		if outcome == nil && n == 0 {
			return notThere, nil
		}
		if outcome == nil { // what the steps before it have made counts all the same
			_, err = o.settle(ctx, row, Pending[A]{Result: made}, ByCheck)
			return notThere, err
		}
		success, ok := outcome.(Succeeded[A])
		if !ok {
			break
		}
		made = success.Result
	}
	if unknown, ok := outcome.(NotKnown[A]); ok {
		return 0, unknown.Cause
	}
	if _, ok := outcome.(Succeeded[A]); ok && o.WasFound {
		return foundAgain, nil
	}
	row, err = o.settle(ctx, row, outcome, ByCheck)
	switch {
	case err != nil:
		return 0, err
	case !outcome.step().Ends():
		return waiting, nil
	case o.Settled != nil:
		return settled, o.Settled(ctx, row)
	}
	return settled, nil
}

// stands says how a step stands; nil while nothing is found and nothing is proved.
func (o *Operation[R, A]) stands(ctx context.Context, l *statusCheck, step Step[R, A], row R, made A) (Outcome[A], error) {
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
		switch outcome, err := find(); {
		case err != nil || outcome != nil || !l.proved:
			return outcome, err
		case step.Again == nil:
			return Missing[A]{}, nil
		}
	}
	if step.Again != nil {
		if end, err := step.Again(ctx, gw, row); err != nil || end != nil {
			return end, err
		}
	}
	if err := l.callAgain(ctx); err != nil {
		return nil, err
	}
	outcome := o.call(ctx, step, row, made, l.refusalCounts(), false)
	if end := outcome.step(); step.Find != nil && (end == state.StepRefused || end == state.StepDeclined) {
		// What was asked for first may be what the gateway does not make twice.
		if first, err := find(); err != nil || first != nil {
			return first, err
		}
	}
	return outcome, nil
}
