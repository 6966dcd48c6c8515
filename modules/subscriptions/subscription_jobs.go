package subscriptions

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/extensions"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// sweepArgs looks for rows whose jobs were lost.
type sweepArgs struct{}

// Kind names the job.
func (sweepArgs) Kind() string { return "subscriptions_sweep" }

// stopSilence is after what time the sweep stops a recurrence whose own job is silent.
const stopSilence = 15 * time.Minute

// Expire ends a subscription whose expires_at is reached; one that was extended
// meanwhile, or has ended, is left alone. Where a recurrence goes on after an
// extension, that is no end, and is taken away shortly before.
func (s *Recovery) Expire(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil {
		return err
	}
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, id)
		now := s.clock.Now()
		if err != nil || locked.ExpiresAt == nil || locked.ExpiresAt.After(now.Add(extensions.HandOver)) {
			return err
		}
		if goesOn, err := s.reads.GoesOnTx(ctx, tx, locked); err != nil || goesOn {
			return errors.Join(err, s.store.EditTx(ctx, tx, &locked, func(r *lifecycle.Row) { r.ExpiresAt = nil }))
		}
		if locked.ExpiresAt.After(now) {
			return nil
		}
		action := lifecycle.PeriodEnds
		if locked.CancelAtPeriodEnd && lifecycle.RemoteID(locked) != "" {
			action = lifecycle.CustomerCancels // as the gateway's own event says, whichever comes first
		}
		if _, err := s.store.MoveTx(ctx, tx, &locked, lifecycle.Change{Action: action, Source: lifecycle.ByJob}); err != nil {
			return err
		}
		return s.store.EndAtGatewayTx(ctx, tx, locked)
	})
}

// DropPix gives up a PIX that nobody paid before its code ran out or the wait was
// over; it cancels the payment at the gateway first. When that fails the looks repeat it.
func (s *Recovery) DropPix(ctx context.Context, id objectid.ID) error {
	return s.calls.Ends(ctx, id, s.pixRunsOut, s.dropUnpaid)
}

func (s *Recovery) pixRunsOut(sub lifecycle.Row) bool {
	waits := lifecycle.Status(sub.Status) == lifecycle.Pending && sub.PaymentMethod == string(payments.MethodPix) && !sub.IntentOpen
	return waits && !s.calendar.PixDue(sub).After(s.clock.Now())
}

func (s *Recovery) dropUnpaid(ctx context.Context, sub lifecycle.Row) error {
	return s.DropPixAs(ctx, sub, lifecycle.PixRunsOut, lifecycle.ByJob)
}

// LookAtEnd ends at the gateway whatever of a subscription is to end there.
func (s *Recovery) LookAtEnd(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	ctx = payments.Background(ctx)
	sub, err := s.db.GetSubscription(ctx, s.pool, l.Subject)
	switch {
	case err != nil:
	case lifecycle.RunsThere(sub):
		err = s.calls.EndThere(ctx, sub)
	case lifecycle.Stops(sub):
		err = s.calls.StopThere(ctx, sub)
	case s.pixRunsOut(sub):
		err = s.dropUnpaid(ctx, sub)
	}
	return intent.Settled, err
}

// Sweep does what is due and was not done: jobs get lost when somebody empties
// their table, or sleep while the clock of a database goes wrong.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.clock.Now()
	var failed error
	each := func(ids []objectid.ID, err error, step func(context.Context, objectid.ID) error) {
		failed = errors.Join(failed, err)
		for _, id := range ids {
			failed = errors.Join(failed, step(ctx, id))
		}
	}
	expirations, err := s.db.ListDueExpirations(ctx, s.pool, subscriptionsdb.ListDueExpirationsParams{Now: &now, HandedOver: new(now.Add(extensions.HandOver))})
	each(expirations, err, s.recovery.Expire)
	open, err := s.db.ListDueRecoveries(ctx, s.pool, &now)
	each(open, err, s.recovery.Adopt)
	debits, err := s.db.ListDueDebits(ctx, s.pool, s.calendar.DueDebitParams(now))
	each(debits, err, s.debits.Debit)
	pix, err := s.db.ListDuePix(ctx, s.pool, s.calendar.DuePixParams(now))
	each(pix, err, s.recovery.DropPix)
	stops, err := s.db.ListDueStops(ctx, s.pool, now.Add(-stopSilence))
	each(stops, err, s.calls.StopRecurrence)
	failed = errors.Join(failed, s.reconciler.LookAtPeriodEnds(ctx, now))
	disputed, err := s.db.ListDisputedSuspended(ctx, s.pool)
	failed = errors.Join(failed, err)
	for _, sub := range disputed {
		failed = errors.Join(failed, s.disputes.FollowDisputes(ctx, sub))
	}
	unheld, err := s.db.ListUnheld(ctx, s.pool)
	failed = errors.Join(failed, err)
	for _, sub := range unheld {
		failed = errors.Join(failed, s.disputes.HoldUnheld(ctx, sub))
	}
	pauses, err := s.db.ListDuePauses(ctx, s.pool, now)
	each(pauses, err, s.pauses.SweepPause)
	extended, err := s.db.ListDueChargeMoves(ctx, s.pool, now)
	each(extended, err, s.extensions.SweepChargeMove)
	charges, err := s.db.ListDueRenewalCharges(ctx, s.pool, &now)
	each(charges, err, s.charges.TendRenewalCharge)
	moves, err := s.db.ListDuePlanMoves(ctx, s.pool, &now)
	each(moves, err, s.plans.SweepPlanMove)
	return errors.Join(failed, s.retries.RetryDue(ctx, now), s.dunning.MailDueDunning(ctx, now), s.strays.EndStrays(ctx))
}
