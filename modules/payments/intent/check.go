package intent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/backoff"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

const (
	// mostBatches bounds a turn, which may have a whole outage to catch up with.
	mostBatches = 100
	// atOnce is how many checks are made at a time.
	atOnce = 8
	// justChecked is how soon after a check another one is worth a call.
	justChecked = 5 * time.Second
	// probeFailures is how often an intent may fail and still stand for the gateway: else it may be odd by itself.
	probeFailures = 40
	// checkTime bounds one check, with a call made again; checkLease keeps others away meanwhile.
	checkTime, checkLease = 90 * time.Second, 105 * time.Second
	// mailAfter is how long an outcome may be not known before the operators get a mail.
	mailAfter = 24 * time.Hour
)

// CheckDue is one turn of checks at a gateway: what is due, oldest first, until nothing is, the share of the quota is
// used up, or the gateway does not answer. It also mails the operators what has been not known for a day. A gateway's
// error is not returned: it is recorded at the intent, which is checked again.
func (s *Service) CheckDue(ctx context.Context, gateway gateway.Name) error {
	failed := s.notify(ctx, gateway)
	for range mostBatches {
		found, probe, err := s.claim(ctx, gateway, nil)
		if err != nil || len(found) == 0 && !probe {
			return errors.Join(failed, err)
		}
		var right bool
		if len(found) > 0 {
			right, err = s.runChecks(ctx, gateway, found)
		} else {
			right, err = s.health.Probe(ctx, gateway)
		}
		failed = errors.Join(failed, err)
		if !right || ctx.Err() != nil {
			return failed
		}
	}
	return failed
}

// claim leases intents to be checked, within the checks' share of the gateway's quota: those of one subject, or what
// is due; while it fails and nothing is due, an intent, or a request made for that alone, probes it. An error is the
// database's.
func (s *Service) claim(
	ctx context.Context, gateway gateway.Name, of *paymentsdb.IntentClaimOfParams,
) (found []stored, probe bool, err error) {
	now := s.deps.Clock.Now()
	until := now.Add(checkLease)
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		left, err := s.health.ShareTx(ctx, tx, gateway)
		if err != nil || left.Checks <= 0 {
			return err
		}
		if of != nil {
			of.Now, of.Until = now, until
			found, err = s.db.IntentClaimOf(ctx, tx, *of)
		} else {
			found, err = s.db.IntentClaim(ctx, tx, paymentsdb.IntentClaimParams{
				Until: until, Now: now, Gateway: gateway, Before: now, Most: min(atOnce, left.Checks),
			})
			probe = len(found) == 0 && left.Probe
		}
		if err == nil && probe {
			found, err = s.db.IntentProbe(ctx, tx, paymentsdb.IntentProbeParams{
				Until: until, Now: now, Gateway: gateway, MostFailures: probeFailures,
			})
		}
		if err != nil {
			return fmt.Errorf("claim intents: %w", err)
		}
		return s.health.SpendTx(ctx, tx, left, len(found), probe)
	})
	return found, probe, err
}

// CheckNow checks a subject's open intents without waiting for their time, for routes that read live. It skips one
// that another process checks, or has just checked, and all when the share of the quota is used up. What the gateway
// answers is no error: the row says what came of it.
func (s *Service) CheckNow(ctx context.Context, subject objectid.ID) error {
	return s.checkOf(ctx, subject, "", s.deps.Clock.Now().Add(-justChecked))
}

// CheckOne is CheckNow for one kind, also right after another check: for jobs that carry a row's id. Errors are as
// there.
func (s *Service) CheckOne(ctx context.Context, k Kind, subject objectid.ID) error {
	return s.checkOf(ctx, subject, k, s.deps.Clock.Now())
}

// CheckedSince reports whether a check has looked for an order that ended after an instant: the call of who ordered it
// may still come. An error is the database's.
func (s *Service) CheckedSince(ctx context.Context, db postgres.DB, r Ref, since time.Time) (bool, error) {
	return s.db.IntentFindChecked(ctx, db,
		paymentsdb.IntentFindCheckedParams{SubjectID: r.Subject, Kind: r.Kind, Since: since})
}

// checkOf checks a subject's open intents of a kind ("" for any) that nobody has checked since. Errors are as above.
func (s *Service) checkOf(ctx context.Context, subject objectid.ID, k Kind, since time.Time) error {
	open, ok, err := s.OpenOf(ctx, s.deps.Pool, subject)
	if err != nil || !ok {
		return err
	}
	of := &paymentsdb.IntentClaimOfParams{SubjectID: subject, Kind: k, Since: since}
	found, _, err := s.claim(ctx, open.Gateway, of)
	if err == nil && len(found) > 0 {
		_, err = s.runChecks(context.WithoutCancel(ctx), open.Gateway, found)
	}
	return err
}

// Checker finds out what a kind's calls have made: Checker of its Operation, or Repeat.
type Checker struct {
	// check asks the gateway what an intent's calls have made and settles what it finds, outside any transaction. An
	// error, a panic too, is not known: the row stays as it is.
	check    func(ctx context.Context, c *check) (finding, error)
	wasFound bool // as Operation.WasFound
	repeats  bool // the first check is the first call
}

// finding is what a check found.
type finding int

const (
	settled    finding = iota + 1 // it stands in the user's row; an intent that is still open is done
	waiting                       // it is there, and the gateway decides later
	notThere                      // a right answer, and nothing in it; counted, when it may be
	foundAgain                    // what was found once is there: void, and the gateway is trusted again
)

// check is one check of an open intent.
type check struct {
	Ref
	// counts: an empty answer counts as a miss. proved: it proves that nothing was made (or that what was found once is
	// gone). Only then may it be settled as missing, or called again.
	counts, proved bool
	service        *Service
	row            stored
	at             time.Time
	suspect        bool // the gateway is, and nothing is proved to be gone
}

// reach makes a step the recovery point. What was missed of another proves nothing about it.
func (c *check) reach(step int) {
	if r := &c.row; int(r.Step) != step {
		r.Step, r.Misses, r.MissedAt, r.Calls = int16(step), 0, nil, min(r.Calls, 1) //nolint:gosec // of a few steps
	}
	misses := c.service.misses(c.row)
	c.counts = !c.at.Before(c.service.policy.CountsFrom(misses))
	c.proved = c.counts && misses.Prove() && !c.suspect
}

// runChecks makes the checks, and reports whether one of them had a right answer. Errors are those of checkOne.
func (s *Service) runChecks(ctx context.Context, gateway gateway.Name, found []stored) (right bool, failed error) {
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

// checkOne makes one check and notes what it showed. Errors: the database's, of Hooks.Known, a kind nobody checks.
func (s *Service) checkOne(ctx context.Context, r stored, suspect bool) (right bool, err error) {
	now := s.deps.Clock.Now()
	checker, known := s.hooks.Checkers[r.Kind]
	if !known {
		return false, fmt.Errorf("nobody checks intents of kind %q", r.Kind)
	}
	c := &check{Ref: refOf(r), service: s, row: r, at: now, suspect: suspect && checker.wasFound}
	c.reach(int(r.Step))
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var found finding
	cause := s.caught(limited, "check", func() (err error) {
		found, err = checker.check(limited, c)
		return err
	})
	ctx = context.WithoutCancel(ctx) // the gateway has answered
	if cause != nil || found == 0 {
		s.log(c.Ref).WarnContext(ctx, "a check ended not known", "gateway", r.Gateway, "error", cause)
		if !checker.repeats || r.NotKnownSince != nil {
			c.row.Failures++
		}
		return s.deps.Refused(cause), s.recordNotKnown(ctx, c.row, ByCheck, cause)
	}
	switch found {
	case settled:
		return true, s.endCheck(ctx, c.row, Succeeded[any]{})
	case foundAgain:
		err := s.endCheck(ctx, c.row, Void[any]{})
		return true, errors.Join(err, s.health.Trust(ctx, r.Gateway, "a check has found again what was missing"))
	case waiting:
		c.row.Failures, c.row.Misses, c.row.MissedAt = 0, 0, nil
		return true, s.recordPending(ctx, s.deps.Pool, c.row, ByCheck, s.policy.Waiting(now.Sub(r.CreatedAt)))
	default:
		return true, s.recordMiss(ctx, c.row, c.counts, now)
	}
}

// callAgain counts a call that the check is about to make, and keeps other checks away for its time. An error:
// somebody else has the intent; make no call.
func (c *check) callAgain(ctx context.Context) error {
	now := c.service.deps.Clock.Now()
	until, calls := now.Add(backoff.Lease(c.service.CallTime())), c.row.Calls+1
	if c.proved {
		calls = 1 // the earlier ones are proved to have made nothing
	}
	to, err := state.Intents.Move(c.row.State, state.StepCalled)
	if err != nil {
		return fmt.Errorf("count call: %w", err)
	}
	n, err := c.service.db.IntentCallAgain(ctx, c.service.deps.Pool, paymentsdb.IntentCallAgainParams{
		At: now, Outcome: state.StepCalled, State: to,
		Step: c.row.Step, Calls: calls, Until: until, ID: c.row.ID, LeasedUntil: *c.row.LeasedUntil,
	})
	if err != nil {
		return fmt.Errorf("count call: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("intent %s: somebody else has it", c.row.ID)
	}
	c.row.Calls, c.row.Misses, c.row.MissedAt, c.row.CallEndsAt, c.row.LeasedUntil = calls, 0, nil, &until, &until
	return nil
}

// endCheck ends what the checker's own transaction has not ended. One that RequestTx was called for meanwhile stays
// open, and is due; one whose lease is over is another check's. Errors are those of EndTx.
func (s *Service) endCheck(ctx context.Context, r stored, how Outcome[any]) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.endTx(ctx, tx, refOf(r), r, how, ByCheck); err != nil {
			return err
		}
		return s.db.IntentRelease(ctx, tx, paymentsdb.IntentReleaseParams{ID: r.ID, LeasedUntil: r.LeasedUntil})
	})
}

// notify writes to the operators, once an intent, what has been not known for a day, and has it put on the list of
// money to be looked at. An error is the database's, or of Hooks.Unknown: the next turn begins with it again.
func (s *Service) notify(ctx context.Context, gateway gateway.Name) error {
	now := s.deps.Clock.Now()
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		found, err := s.db.IntentMarkMailed(ctx, tx,
			paymentsdb.IntentMarkMailedParams{Now: now, Gateway: gateway, Since: now.Add(-mailAfter)})
		if err != nil {
			return fmt.Errorf("find what is not known: %w", err)
		}
		var orders []string
		for _, r := range found {
			i := intentOf(r)
			s.log(i.Ref).ErrorContext(ctx, "not known for a day",
				"intent_id", r.ID, "gateway", r.Gateway, "cause", i.Cause)
			if s.hooks.Unknown != nil {
				if err := s.hooks.Unknown(ctx, tx, i); err != nil {
					return err
				}
			}
			since := i.Since().Format(time.RFC3339)
			orders = append(orders, fmt.Sprintf("%s %s, since %s: %s", i.Kind, i.Subject, since, i.Cause))
		}
		return s.health.NotifyNotKnownTx(ctx, tx, gateway, orders)
	})
}

// forwardTx brings the checks forward: their gateway answers again. An error is the database's.
func (s *Service) forwardTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name) error {
	_, err := s.db.IntentForward(ctx, tx, paymentsdb.IntentForwardParams{Now: s.deps.Clock.Now(), Gateway: gateway})
	return err
}

// resetMissesTx forgets the misses of what was found once, at a gateway that was suspect. An error is the database's.
func (s *Service) resetMissesTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name) error {
	var kinds []string
	for k, c := range s.hooks.Checkers {
		if c.wasFound {
			kinds = append(kinds, string(k))
		}
	}
	return s.db.IntentResetFound(ctx, tx,
		paymentsdb.IntentResetFoundParams{Now: s.deps.Clock.Now(), Gateway: gateway, Kinds: kinds})
}
