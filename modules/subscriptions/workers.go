package subscriptions

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/dunning"
	"marquee/modules/subscriptions/extensions"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/reconcile"
	"marquee/platform/jobs"
)

// sweepEvery is how soon a lost job is noticed.
const sweepEvery = time.Minute

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	jobs.Handle(w, func(ctx context.Context, a checkout.RecoverArgs) error {
		return s.checkout.Recover(ctx, a.SubscriptionID)
	})
	jobs.Handle(w, func(ctx context.Context, a lifecycle.ExpireArgs) error {
		return s.recovery.Expire(ctx, a.SubscriptionID)
	})
	jobs.Handle(w, func(ctx context.Context, a lifecycle.DropPixArgs) error {
		return s.recovery.DropPix(ctx, a.SubscriptionID)
	})
	jobs.Handle(w, func(ctx context.Context, a lifecycle.DebitArgs) error {
		return s.debits.Debit(ctx, a.SubscriptionID)
	})
	jobs.Handle(w, func(ctx context.Context, a debits.DebitRetryArgs) error {
		cycle, err := time.Parse(time.DateOnly, a.Cycle)
		if err != nil {
			return river.JobCancel(err)
		}
		return s.retries.RetryDebit(ctx, a.SubscriptionID, pgtype.Date{Time: cycle, Valid: true})
	})
	jobs.Handle(w, func(ctx context.Context, a lifecycle.EndArgs) error {
		if a.Told {
			return s.calls.ConfirmEnd(ctx, a.SubscriptionID)
		}
		return s.calls.EndAtGateway(ctx, a.SubscriptionID)
	})
	jobs.Handle(w, func(ctx context.Context, a lifecycle.RenewalChargeArgs) error {
		return s.charges.TendRenewalCharge(ctx, a.ChargeID)
	})
	jobs.Handle(w, func(ctx context.Context, a lifecycle.StopArgs) error {
		return s.calls.EndAtGateway(ctx, a.SubscriptionID)
	})
	jobs.Handle(w, func(ctx context.Context, a lifecycle.GiveBackArgs) error {
		return s.withdrawals.GiveBack(ctx, a.SubscriptionID)
	})
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[dunning.DunningArgs]) error {
		claim := dunning.DunningClaim
		if job.Attempt > 1 {
			claim = dunning.RescuedClaim
		}
		return s.dunning.MailDunningAfter(ctx, job.Args.SubscriptionID, job.Args.PaymentID, int(job.Args.Day), claim)
	}))
	jobs.Handle(w, func(ctx context.Context, a plans.PlanMoveArgs) error { return s.plans.RecoverMove(ctx, a.MoveID) })
	jobs.Handle(w, s.reconciler.SyncAuthorization)
	jobs.Handle(w, s.reconciler.SyncRecurrence)
	jobs.Handle(w, s.strays.EndStray)
	jobs.Handle(w, func(ctx context.Context, a lifecycle.PauseArgs) error {
		return s.pauses.CarryOutPause(ctx, a.PauseID)
	})
	jobs.Handle(w, func(ctx context.Context, a extensions.ChargeMoveArgs) error {
		return s.extensions.MoveCharge(ctx, a.MoveID)
	})
	jobs.Handle(w, s.reconciler.ConfirmLateMoney)
	jobs.Handle(w, s.strays.TakeStrayMoney)
	jobs.HandleWithin(w, reconcileTime, s.reconcileNightly)
	jobs.Handle(w, s.recordTrials)
	jobs.Handle(w, func(ctx context.Context, _ sweepArgs) error { return s.Sweep(ctx) })
}

// reconcileTime is more than other jobs have: lists are read.
const reconcileTime = 6 * time.Hour

// reconcileNightly looks two nights back, in the night to Sunday three months.
func (s *Service) reconcileNightly(ctx context.Context, _ reconcile.ReconcileArgs) error {
	now, window := s.deps.Clock.Now(), reconcile.ReconcileWindow
	if now.In(s.deps.Config.Zone).Weekday() == time.Sunday {
		window = reconcile.ReconcileDeep
	}
	_, err := s.Reconcile(ctx, payments.ReconcileOptions{Since: now.Add(-window), StartedBy: payments.BySchedule})
	return err
}

// Periodic returns the jobs that run by the clock.
func (s *Service) Periodic() []jobs.Periodic {
	nightly := reconcile.Nightly{Zone: s.deps.Config.Zone}
	return []jobs.Periodic{
		jobs.NewPeriodic(river.PeriodicInterval(sweepEvery), sweepArgs{},
			&river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1}, &river.PeriodicJobOpts{RunOnStart: true}),
		jobs.NewPeriodic(nightly, reconcile.ReconcileArgs{},
			&river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 3}, nil),
		jobs.NewPeriodic(nightly, trialUsesArgs{}, nil,
			&river.PeriodicJobOpts{ID: trialUsesArgs{}.Kind(), RunOnStart: true}),
	}
}
