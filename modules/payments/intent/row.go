package intent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/backoff"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// stored is an intent as it is stored.
type stored = paymentsdb.PaymentsIntent

// OpenOf is the oldest open intent of a subject, of which a 409 tells. An error is the database's.
func (s *Service) OpenOf(ctx context.Context, db postgres.DB, subject objectid.ID) (Intent, bool, error) {
	open, err := s.db.IntentListOpenOf(ctx, db, subject)
	if err != nil || len(open) == 0 {
		return Intent{}, false, err
	}
	return intentOf(open[0]), true, nil
}

// Open is the open intent of the name. None is no error; an error is the database's.
func (s *Service) Open(ctx context.Context, db postgres.DB, r Ref) (Intent, bool, error) {
	row, ok, err := s.open(ctx, db, r)
	return intentOf(row), ok, err
}

// open is the open intent of the name. None is no error; an error is the database's.
func (s *Service) open(ctx context.Context, db postgres.DB, r Ref) (row stored, ok bool, err error) {
	row, err = s.db.IntentGetOpen(ctx, db,
		paymentsdb.IntentGetOpenParams{SubjectID: r.Subject, Kind: r.Kind, Item: r.Item})
	if errors.Is(err, pgx.ErrNoRows) {
		return row, false, nil
	}
	if err != nil {
		return row, false, fmt.Errorf("read intent: %w", err)
	}
	return row, true, nil
}

func intentOf(r stored) Intent {
	return Intent{
		Ref: refOf(r), Customer: nullable.Value(r.CustomerID), Gateway: r.Gateway, Reference: r.Reference,
		NotKnownSince: r.NotKnownSince, NextCheck: nullable.Value(r.NextLookAt), Cause: nullable.Value(r.Cause),
		CreatedAt: r.CreatedAt, LeasedUntil: r.LeasedUntil,
	}
}

func refOf(r stored) Ref { return Ref{Kind: r.Kind, Subject: r.SubjectID, Item: r.Item} }

// NotKnown notes that the call ended without an answer that can be used: the first check is in 5 s. Without it, after
// a crash, the lease runs out. An error is the database's.
func (s *Service) NotKnown(ctx context.Context, r Ref, cause error) error {
	ctx = context.WithoutCancel(ctx)
	s.log(r).WarnContext(ctx, "what the gateway made of a call is not known", "error", cause)
	row, ok, err := s.open(ctx, s.deps.Pool, r)
	called := ok && row.LeasedUntil != nil && row.CallEndsAt != nil && row.LeasedUntil.Equal(*row.CallEndsAt)
	if err != nil || !called {
		return err // ended by an event, or a check has it
	}
	return s.recordNotKnown(ctx, row, ByResponse, cause)
}

// waitTx notes, with the next statement of the transaction that settles an answer, that the gateway decides later: the
// call has ended, and the next check is after RECOVERY_DELAY. An error is the table's.
func (s *Service) waitTx(ctx context.Context, tx pgx.Tx, r Ref) error {
	to, err := state.Intents.Move(state.IntentOpen, state.StepWaiting)
	if err != nil {
		return fmt.Errorf("note intent: %w", err)
	}
	now := s.deps.Clock.Now()
	return s.db.IntentPostponeOpen(ctx, postgres.Later(tx), paymentsdb.IntentPostponeOpenParams{
		At: now, By: ByResponse, Outcome: state.StepWaiting, State: to, NextLookAt: now.Add(s.deps.RecoveryDelay),
		SubjectID: r.Subject, Kind: r.Kind, Item: r.Item,
	})
}

// recordNotKnown: only the time of the next check changes. A gateway that refused has answered. Errors are of record.
func (s *Service) recordNotKnown(ctx context.Context, r stored, by By, cause error) error {
	now := s.deps.Clock.Now()
	r.NotKnownSince, r.Cause = cmp.Or(r.NotKnownSince, &now), nil
	if cause != nil {
		r.Cause = new(cause.Error())
	}
	next := now.Add(backoff.After(int(r.Failures), now.Sub(*r.NotKnownSince)))
	err := s.record(ctx, s.deps.Pool, r, by, state.StepNotKnown, next)
	if s.deps.Refused(cause) {
		return err
	}
	return errors.Join(err, s.health.Fails(ctx, r.Gateway))
}

// recordPending: the gateway decides later; what was called is accounted for. Errors are of record.
func (s *Service) recordPending(ctx context.Context, db postgres.DB, r stored, by By, pause time.Duration) error {
	r.Calls, r.NotKnownSince, r.Cause = 0, nil, nil
	return s.record(ctx, db, r, by, state.StepWaiting, s.deps.Clock.Now().Add(pause))
}

// recordMiss counts an empty check, or waits for the time from which it counts. Errors are of record.
func (s *Service) recordMiss(ctx context.Context, r stored, counts bool, at time.Time) error {
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

func (s *Service) misses(r stored) backoff.Misses {
	return backoff.Misses{
		Count: int(r.Misses), Last: r.MissedAt, CallEnds: r.CallEndsAt,
		SearchLags: r.Gateway.Traits().SearchLags, WasFound: s.hooks.Checkers[r.Kind].wasFound,
	}
}

// record writes the outcome of a call or check, if its lease still holds. An error is the database's, or the table's.
func (s *Service) record(
	ctx context.Context, db postgres.DB, r stored, by By, to state.IntentStep, next time.Time,
) error {
	stays, err := state.Intents.Move(r.State, to)
	if err == nil {
		_, err = s.db.IntentPostpone(ctx, db, paymentsdb.IntentPostponeParams{
			At: s.deps.Clock.Now(), By: by, Outcome: to, State: stays, NextLookAt: next,
			ID: r.ID, LeasedUntil: r.LeasedUntil,
			Failures: r.Failures, Step: r.Step, Misses: r.Misses, Calls: r.Calls, MissedAt: r.MissedAt,
			NotKnownSince: r.NotKnownSince, Cause: r.Cause,
		})
	}
	if err != nil {
		return fmt.Errorf("note intent: %w", err)
	}
	return nil
}

// log tells of which intent its line is.
func (s *Service) log(r Ref) *slog.Logger {
	return s.deps.Log.With("kind", r.Kind, "subject_id", r.Subject)
}
