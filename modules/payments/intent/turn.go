package intent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/health"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

const (
	// turnEvery is how often there is a turn of looks, turnStays how long one waits for looks
	// that fall due before the next: the next one is not inserted while it works.
	turnEvery, turnStays = 5 * time.Second, 4 * time.Second
	// turnTime bounds a turn, which may have a whole outage to catch up with, in batches.
	turnTime, mostBatches = 10 * time.Minute, 100
	// atOnce is how many looks are made at a time.
	atOnce = 8
	// justChecked is how soon after a look another one is worth a call.
	justChecked = 5 * time.Second
	// probeFailures is how often an intent may fail and still stand for the gateway:
	// what fails longer may be odd by itself.
	probeFailures = 40
	// mailAfter is how long something may be not known before people hear of it.
	mailAfter = 24 * time.Hour
)

// CheckDue is one turn of looks at a gateway: what is due, oldest first, until nothing is, the share of the quota is
// used up, or the gateway does not answer. It also tells the operators what has been not known for a day. A gateway's
// error is none of the turn's: it is noted at the intent, which is looked at again.
func (s *Service) CheckDue(ctx context.Context, gateway gateway.Name) error {
	failed := s.notify(ctx, gateway)
	for range mostBatches {
		found, probe, err := s.claim(ctx, gateway, s.dueTx)
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

// claim leases intents to be looked at, within the looks' share of the gateway's quota;
// probe: one look, of an intent or without, asks whether the gateway answers again.
func (s *Service) claim(ctx context.Context, gateway gateway.Name, lease func(context.Context, pgx.Tx, health.Share) (rows, bool, error)) (found rows, probe bool, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		left, err := s.health.ShareTx(ctx, tx, gateway)
		if err != nil || left.Checks <= 0 {
			return err
		}
		if found, probe, err = lease(ctx, tx, left); err != nil {
			return fmt.Errorf("claim intents: %w", err)
		}
		checks := len(found)
		if probe {
			checks = 1
		}
		return s.health.SpendTx(ctx, tx, left, checks, probe)
	})
	return found, probe, err
}

// dueTx leases the next looks. While the gateway fails and nothing is due, an intent
// probes it, or where none can, a question of its own.
func (s *Service) dueTx(ctx context.Context, tx pgx.Tx, left health.Share) (found rows, probe bool, err error) {
	now := s.deps.Clock.Now()
	found, err = s.db.IntentClaim(ctx, tx, paymentsdb.IntentClaimParams{
		Until: now.Add(checkLease), Now: now, Gateway: left.Gateway, Before: now, Most: min(atOnce, left.Checks),
	})
	if err != nil || len(found) > 0 || !left.Probe {
		return found, false, err
	}
	found, err = s.db.IntentProbe(ctx, tx, paymentsdb.IntentProbeParams{Until: now.Add(checkLease), Now: now, Gateway: left.Gateway, MostFailures: probeFailures})
	return found, true, err
}

// CheckNow looks at a subject's open intents without waiting for their time, for routes that read live. It skips one
// that another process looks at, or has just looked at, and all when the share of the quota is used up. What the
// gateway answers is no error: the row says what came of it.
func (s *Service) CheckNow(ctx context.Context, subject objectid.ID) error {
	return s.checkOf(ctx, subject, "", s.deps.Clock.Now().Add(-justChecked))
}

// CheckOne is CheckNow for one kind, also right after another look: for jobs that carry a row's id.
func (s *Service) CheckOne(ctx context.Context, k Kind, subject objectid.ID) error {
	return s.checkOf(ctx, subject, k, s.deps.Clock.Now())
}

// checkOf looks at a subject's open intents of a kind ("" for any) that nobody has looked at since.
func (s *Service) checkOf(ctx context.Context, subject objectid.ID, k Kind, since time.Time) error {
	open, ok, err := s.OpenOf(ctx, s.deps.Pool, subject)
	if err != nil || !ok {
		return err
	}
	found, _, err := s.claim(ctx, open.Gateway, func(ctx context.Context, tx pgx.Tx, _ health.Share) (rows, bool, error) {
		now := s.deps.Clock.Now()
		p := paymentsdb.IntentClaimOfParams{Until: now.Add(checkLease), Now: now, SubjectID: subject, Kind: k, Since: since}
		found, err := s.db.IntentClaimOf(ctx, tx, p)
		return found, false, err
	})
	if err == nil && len(found) > 0 {
		_, err = s.runChecks(context.WithoutCancel(ctx), open.Gateway, found)
	}
	return err
}

// notify writes to the operators, once an intent, what has been not known for a day, and
// has it put on the list of money to be looked at.
func (s *Service) notify(ctx context.Context, gateway gateway.Name) error {
	now := s.deps.Clock.Now()
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		found, err := s.db.IntentMarkMailed(ctx, tx, paymentsdb.IntentMarkMailedParams{Now: now, Gateway: gateway, Since: now.Add(-mailAfter)})
		if err != nil {
			return fmt.Errorf("find what is not known: %w", err)
		}
		var orders []string
		for _, r := range found {
			i := intentOf(r)
			s.deps.Log.ErrorContext(ctx, "not known for a day", slog.String("intent_id", r.ID.String()), slog.String("kind", string(r.Kind)),
				slog.String("subject_id", i.Subject.String()), slog.String("gateway", string(gateway)), slog.String("cause", i.Cause))
			if s.hooks.Unknown != nil {
				if err := s.hooks.Unknown(ctx, tx, i); err != nil {
					return err
				}
			}
			orders = append(orders, fmt.Sprintf("%s %s, since %s: %s", r.Kind, i.Subject, i.Since().Format(time.RFC3339), i.Cause))
		}
		return s.health.NotifyNotKnownTx(ctx, tx, gateway, orders)
	})
}

// forwardTx brings the looks forward: their gateway answers again.
func (s *Service) forwardTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name) error {
	_, err := s.db.IntentForward(ctx, tx, paymentsdb.IntentForwardParams{Now: s.deps.Clock.Now(), Gateway: gateway})
	return err
}

// resetMissesTx forgets the misses of what was found once, at a gateway that was suspect.
func (s *Service) resetMissesTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name) error {
	var kinds []string
	for k, u := range s.hooks.Users {
		if u.wasFound {
			kinds = append(kinds, string(k))
		}
	}
	return s.db.IntentResetFound(ctx, tx, paymentsdb.IntentResetFoundParams{Now: s.deps.Clock.Now(), Gateway: gateway, Kinds: kinds})
}

// checkArgs is a turn of looks at one gateway.
type checkArgs struct {
	Gateway gateway.Name `json:"gateway"`
}

// Kind names the job.
func (checkArgs) Kind() string { return "payments_intents_look" }

// InsertOpts: one turn a gateway at a time.
func (checkArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: jobs.WaitingStates}}
}

// turn stays for what falls due before the next one, so that the pauses of seconds are what they are
// meant to be. What fails in it comes with the next, so that nobody has to look at a job that was given up.
func (s *Service) turn(ctx context.Context, a checkArgs) error {
	ctx, cancel := context.WithTimeout(ctx, turnTime-time.Minute)
	defer cancel()
	for until := time.Now().Add(turnStays); ; {
		if err := s.CheckDue(ctx, a.Gateway); err != nil {
			s.deps.Log.WarnContext(ctx, "a turn of looks failed", "gateway", a.Gateway, "error", err)
			return nil
		}
		now := s.deps.Clock.Now()
		next, err := s.db.IntentGetNextCheck(ctx, s.deps.Pool, paymentsdb.IntentGetNextCheckParams{Gateway: a.Gateway, Now: now})
		if err != nil || next.Sub(now) > time.Until(until) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(next.Sub(now)):
		}
	}
}

// Workers adds the job.
func (s *Service) Workers(w *river.Workers) { jobs.HandleWithin(w, turnTime, s.turn) }

// Periodic returns a turn of looks every 5 s for each of the gateways.
func (*Service) Periodic(gateways ...gateway.Name) []jobs.Periodic {
	var periodic []jobs.Periodic
	for _, g := range gateways {
		periodic = append(periodic, jobs.NewPeriodic(river.PeriodicInterval(turnEvery), checkArgs{Gateway: g}, nil,
			&river.PeriodicJobOpts{RunOnStart: true}))
	}
	return periodic
}
