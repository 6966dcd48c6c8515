package subscriptions

import (
	"context"
	"errors"
	"time"

	"marquee/modules/subscriptions/extensions"
	"marquee/platform/objectid"
)

// sweepArgs looks for rows whose jobs were lost.
type sweepArgs struct{}

// Kind names the job.
func (sweepArgs) Kind() string { return "subscriptions_sweep" }

// stopSilence is after what time the sweep stops a recurrence whose own job is silent.
const stopSilence = 15 * time.Minute

// Sweep does what is due and was not done: jobs get lost when somebody empties
// their table, or sleep while the clock of a database goes wrong.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.deps.Clock.Now()
	var failed error
	each := func(ids []objectid.ID, err error, step func(context.Context, objectid.ID) error) {
		failed = errors.Join(failed, err)
		for _, id := range ids {
			failed = errors.Join(failed, step(ctx, id))
		}
	}
	expirations, err := s.db.SubscriptionListDueExpirations(ctx, s.deps.Pool, new(now.Add(extensions.HandOver)), &now)
	each(expirations, err, s.recovery.Expire)
	debits, err := s.db.SubscriptionListDueDebits(ctx, s.deps.Pool, s.base.Calendar.DueDebitParams(now))
	each(debits, err, s.debits.Debit)
	pix, err := s.db.SubscriptionListDuePix(ctx, s.deps.Pool, &now, now.Add(-s.base.Config.PixPendingTTL))
	each(pix, err, s.recovery.DropPix)
	stops, err := s.db.SubscriptionListDueStops(ctx, s.deps.Pool, now.Add(-stopSilence))
	each(stops, err, s.calls.EndAtGateway)
	failed = errors.Join(failed, s.reconciler.CheckPeriodEnds(ctx, now))
	disputed, err := s.db.PauseListDisputed(ctx, s.deps.Pool)
	failed = errors.Join(failed, err)
	for _, sub := range disputed {
		failed = errors.Join(failed, s.disputes.ApplyDisputes(ctx, sub))
	}
	unheld, err := s.db.PauseListUnsuspended(ctx, s.deps.Pool)
	failed = errors.Join(failed, err)
	for _, sub := range unheld {
		failed = errors.Join(failed, s.disputes.HoldUnheld(ctx, sub))
	}
	moves, err := s.db.PlanMoveListOpen(ctx, s.deps.Pool, now.Add(-s.base.Config.RecoveryDelay))
	each(moves, err, s.plans.AdoptMove)
	charges, err := s.db.RenewalChargeListDue(ctx, s.deps.Pool, now)
	each(charges, err, s.charges.TendRenewalCharge)
	return errors.Join(failed, s.retries.RetryDue(ctx, now), s.dunning.MailDueDunning(ctx, now),
		s.strays.EndStrays(ctx))
}
