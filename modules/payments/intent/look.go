package intent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Answer is what a look found.
type Answer int

// The answers of a Looker. With an error it is not known, whatever the answer.
const (
	// Settled: what was found stands in the user's row. The Looker has ended the
	// intent in that transaction; if not, it is ended as done.
	Settled Answer = iota + 1
	// Waiting: it is there, and the gateway decides later.
	Waiting
	// NotThere: a right answer, and nothing in it. Counted, when it may be.
	NotThere
	// FoundAgain, of a kind that was found once: it is there. The intent ends as void,
	// and a suspect gateway is trusted again.
	FoundAgain
)

// Looker asks the gateway what an intent's calls have made and settles what it finds,
// outside any transaction. An error, a panic too, is not known: the row stays as it
// is. When nothing is there it answers NotThere, until Look.Proved says that with this
// look it is proved: then it settles the row as nothing made, or makes the call again
// after Look.CallAgain.
type Looker func(ctx context.Context, l *Look) (Answer, error)

// Look is one look at an open intent.
type Look struct {
	Intent
	// Proved says that an empty answer to this look proves that nothing was made (or
	// that what was found once is gone).
	Proved bool

	service *Service
	row     paymentsdb.PaymentsIntent
}

const (
	lookTime  = 90 * time.Second // of one look, with a call made again
	lookLease = lookTime + 15*time.Second
	// justLooked is how soon after a look another one is worth a call.
	justLooked = 5 * time.Second
	// atOnce is how many looks are made at a time.
	atOnce = 8
	// mostBatches bounds a turn of looks.
	mostBatches = 100
	// probeTime bounds a probe.
	probeTime = 30 * time.Second
	// probeFailures is how often an intent may fail and still stand for the gateway:
	// what fails longer may be odd by itself.
	probeFailures = 40
)

// CallAgain counts a call that the look is about to make, and keeps other looks away
// for its time. An error: somebody else has the intent; make no call.
func (l *Look) CallAgain(ctx context.Context, callTime time.Duration) error {
	now := l.service.deps.Clock.Now()
	until, calls := now.Add(lease(callTime)), l.row.Calls+1
	if l.Proved {
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
	l.Calls, l.Misses = int(calls), 0
	return nil
}

// LookNow looks at what is open of a subject without waiting for its time: for routes
// that read live. One that somebody has, or has just looked at, is left alone; so are
// all when the share of the quota is used up.
func (s *Service) LookNow(ctx context.Context, subject objectid.ID) error {
	return s.lookOf(ctx, subject, "", s.deps.Clock.Now().Add(-justLooked))
}

// LookAt is LookNow for one kind, also right after another look: for jobs that carry
// a row's id.
func (s *Service) LookAt(ctx context.Context, k Kind, subject objectid.ID) error {
	return s.lookOf(ctx, subject, k, s.deps.Clock.Now())
}

func (s *Service) lookOf(ctx context.Context, subject objectid.ID, k Kind, since time.Time) error {
	open, ok, err := s.OpenOf(ctx, s.deps.Pool, subject)
	if err != nil || !ok {
		return err
	}
	now := s.deps.Clock.Now()
	var found []paymentsdb.PaymentsIntent
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		left, err := s.health.ShareTx(ctx, tx, string(open.Gateway))
		if err != nil || left.Looks <= 0 {
			return err
		}
		found, err = s.db.IntentClaimOf(ctx, tx, paymentsdb.IntentClaimOfParams{
			Until: now.Add(lookLease), Now: now, SubjectID: subject, Kind: string(k), Since: since,
		})
		if err != nil {
			return fmt.Errorf("claim intents: %w", err)
		}
		return s.health.SpendTx(ctx, tx, left, len(found), false)
	})
	if err != nil {
		return err
	}
	_, err = s.look(context.WithoutCancel(ctx), string(open.Gateway), found)
	return err
}

// LookDue is one turn of looks at a gateway: what is due, oldest first, until nothing
// is, the share of the quota is used up, or the gateway does not answer. It also tells
// the operators what has been not known for a day.
func (s *Service) LookDue(ctx context.Context, gateway string) error {
	failed := s.tell(ctx, gateway)
	for range mostBatches {
		found, probe, err := s.claimDue(ctx, gateway)
		if err != nil || len(found) == 0 && !probe {
			return errors.Join(failed, err)
		}
		var right bool
		if probe {
			right, err = s.probe(ctx, gateway)
		} else {
			right, err = s.look(ctx, gateway, found)
		}
		failed = errors.Join(failed, err)
		if !right || ctx.Err() != nil {
			return failed
		}
	}
	return failed
}

// claimDue leases the next looks. While the gateway fails and nothing is due, an
// intent probes it, or where none can, a question of its own: probe.
func (s *Service) claimDue(ctx context.Context, gateway string) (found []paymentsdb.PaymentsIntent, probe bool, err error) {
	now := s.deps.Clock.Now()
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		left, err := s.health.ShareTx(ctx, tx, gateway)
		if err != nil || left.Looks <= 0 {
			return err
		}
		p := paymentsdb.IntentClaimParams{Until: now.Add(lookLease), Now: now, Gateway: gateway, Before: now, Most: min(atOnce, left.Looks)}
		if found, err = s.db.IntentClaim(ctx, tx, p); err != nil {
			return fmt.Errorf("claim intents: %w", err)
		}
		if len(found) > 0 || !left.Probe {
			return s.health.SpendTx(ctx, tx, left, len(found), false)
		}
		if found, err = s.db.IntentProbe(ctx, tx, paymentsdb.IntentProbeParams{Until: now.Add(lookLease), Now: now, Gateway: gateway, MostFailures: probeFailures}); err != nil {
			return fmt.Errorf("claim intent: %w", err)
		}
		probe = len(found) == 0
		return s.health.SpendTx(ctx, tx, left, 1, true)
	})
	return found, probe, err
}

// look makes the looks, and reports whether one of them had a right answer.
func (s *Service) look(ctx context.Context, gateway string, found []paymentsdb.PaymentsIntent) (right bool, failed error) {
	if len(found) == 0 {
		return false, nil
	}
	suspect, err := s.health.IsSuspect(ctx, gateway)
	if err != nil {
		return false, err
	}
	if len(found) == 1 {
		right, failed = s.lookAt(ctx, found[0], suspect)
		if right {
			failed = errors.Join(failed, s.health.Answered(ctx, gateway))
		}
		return right, failed
	}
	var some atomic.Bool
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, r := range found {
		all.Go(func() {
			ok, err := s.lookAt(ctx, r, suspect)
			if ok {
				some.Store(true)
			}
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	all.Wait()
	if some.Load() {
		failed = errors.Join(failed, s.health.Answered(ctx, gateway))
	}
	return some.Load(), failed
}

// lookAt makes one look and notes what it showed.
func (s *Service) lookAt(ctx context.Context, r paymentsdb.PaymentsIntent, suspect bool) (right bool, err error) {
	now, k := s.deps.Clock.Now(), Kind(r.Kind)
	user, known := s.hooks.Users[k]
	if !known {
		return false, fmt.Errorf("nobody looks for intents of kind %q", r.Kind)
	}
	counts := s.missCounts(r, now)
	l := &Look{Intent: intentOf(r), service: s, row: r}
	l.Proved = counts && int(r.Misses)+1 >= s.needed(k, r.Gateway) && !(suspect && user.WasFound)
	answer, cause := ask(ctx, user.Look, l)
	ctx = context.WithoutCancel(ctx) // the gateway has answered
	if cause != nil || answer == 0 {
		s.deps.Log.WarnContext(ctx, "a look ended not known", slog.String("kind", r.Kind), slog.String("subject_id", r.SubjectID.String()),
			slog.String("gateway", r.Gateway), slog.Any("error", cause))
		refused := s.deps.Refused(cause)
		return refused, s.noteFailure(ctx, l.row, cause, refused)
	}
	switch answer {
	case Settled:
		return true, s.endLook(ctx, r, Succeeded[any]{})
	case FoundAgain:
		return true, errors.Join(s.endLook(ctx, r, Void[any]{}), s.health.Trust(ctx, r.Gateway, "a look has found again what was missing"))
	case Waiting:
		p := keep(l.row)
		p.Outcome, p.NextLookAt, p.Failures, p.Misses, p.MissedAt, p.NotKnownSince, p.Cause, p.Calls = "waiting", s.deps.Clock.Now().Add(s.waits(r, now)), 0, 0, nil, nil, nil, 0
		return true, s.note(ctx, p)
	default:
		return true, s.noteMiss(ctx, l.row, counts, now)
	}
}

// ask keeps a look's panic and time within it.
func ask(ctx context.Context, look Looker, l *Look) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			l.service.deps.Log.ErrorContext(ctx, "a look panicked", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("the look panicked: %v", p)
		}
	}()
	return look(ctx, l)
}

// noteFailure: nothing is known, and nothing changes but the time of the next look. A
// gateway that refused has answered.
func (s *Service) noteFailure(ctx context.Context, r paymentsdb.PaymentsIntent, cause error, refused bool) error {
	now := s.deps.Clock.Now()
	p := keep(r)
	p.Outcome, p.Cause, p.Failures, p.NotKnownSince = "not_known", causeOf(cause), r.Failures+1, firstOf(r.NotKnownSince, now)
	p.NextLookAt = now.Add(pauseAfter(int(p.Failures), now.Sub(*p.NotKnownSince)))
	err := s.note(ctx, p)
	if refused {
		return err
	}
	return errors.Join(err, s.health.Fails(ctx, r.Gateway))
}

// noteMiss counts an empty look, or waits for the time from which it counts.
func (s *Service) noteMiss(ctx context.Context, r paymentsdb.PaymentsIntent, counts bool, at time.Time) error {
	now := s.deps.Clock.Now()
	p := keep(r)
	p.Outcome, p.Failures, p.Cause = "not_there_yet", 0, nil
	p.NextLookAt = now.Add(pauseAfter(int(r.Looks), 0))
	if counts {
		r.Misses, r.MissedAt = min(r.Misses+1, 100), &at
		p.Outcome, p.Misses, p.MissedAt, p.NextLookAt = "not_there", r.Misses, r.MissedAt, later(now, s.countsFrom(r))
	} else if due := s.countsFrom(r); due.Before(p.NextLookAt) {
		p.NextLookAt = later(now, due)
	}
	return s.note(ctx, p)
}

func (s *Service) note(ctx context.Context, p paymentsdb.IntentPostponeParams) error {
	p.At, p.By = s.deps.Clock.Now(), "look"
	if _, err := s.db.IntentPostpone(ctx, s.deps.Pool, p); err != nil {
		return fmt.Errorf("note look: %w", err)
	}
	return nil
}

// endLook ends what the Looker's own transaction has not ended.
func (s *Service) endLook(ctx context.Context, r paymentsdb.PaymentsIntent, how Outcome[any]) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		return s.EndTx(ctx, tx, Ref{Kind: Kind(r.Kind), Subject: r.SubjectID, Item: r.Item}, how, "look")
	})
}

// probe asks the gateway without any intent, and reports whether it answers.
func (s *Service) probe(ctx context.Context, gateway string) (right bool, err error) {
	if s.hooks.Probe == nil {
		return false, nil
	}
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if err := s.hooks.Probe(limited, gateway); err != nil {
		s.deps.Log.WarnContext(ctx, "the gateway still fails", slog.String("gateway", gateway), slog.Any("error", err))
		return false, nil
	}
	return true, s.health.Answered(context.WithoutCancel(ctx), gateway)
}
