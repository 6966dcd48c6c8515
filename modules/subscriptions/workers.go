package subscriptions

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/dunning"
	"marquee/modules/subscriptions/extensions"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/reconcile"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/strays"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/jobs"
)

// sweepEvery is how soon a lost job is noticed.
const sweepEvery = time.Minute

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[recovery.RecoverArgs]) error {
		return s.recovery.Recover(ctx, job.Args.SubscriptionID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[lifecycle.ExpireArgs]) error {
		return s.recovery.Expire(ctx, job.Args.SubscriptionID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[lifecycle.DropPixArgs]) error {
		return s.recovery.DropPix(ctx, job.Args.SubscriptionID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[lifecycle.DebitArgs]) error {
		return s.debits.Debit(ctx, job.Args.SubscriptionID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[debits.DebitRetryArgs]) error {
		cycle, err := time.Parse(time.DateOnly, job.Args.Cycle)
		if err != nil {
			return river.JobCancel(err)
		}
		return s.retries.RetryDebit(ctx, job.Args.SubscriptionID, pgtype.Date{Time: cycle, Valid: true})
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[lifecycle.EndArgs]) error {
		if job.Args.Told {
			return s.calls.ConfirmEnd(ctx, job.Args.SubscriptionID)
		}
		return s.calls.EndAtGateway(ctx, job.Args.SubscriptionID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[lifecycle.RenewalChargeArgs]) error {
		return s.charges.TendRenewalCharge(ctx, job.Args.ChargeID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[lifecycle.StopArgs]) error {
		return s.calls.EndAtGateway(ctx, job.Args.SubscriptionID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[lifecycle.GiveBackArgs]) error {
		return s.withdrawals.GiveBack(ctx, job.Args.SubscriptionID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[dunning.DunningArgs]) error {
		claim := dunning.DunningClaim
		if job.Attempt > 1 {
			claim = dunning.RescuedClaim
		}
		return s.dunning.MailDunningAfter(ctx, job.Args.SubscriptionID, job.Args.PaymentID, int(job.Args.Day), claim)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[plans.PlanMoveArgs]) error {
		return s.plans.RecoverMove(ctx, job.Args.MoveID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[webhooks.RefusedArgs]) error {
		return s.reconciler.SyncAuthorization(ctx, job.Args)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[webhooks.RecurrenceArgs]) error {
		return s.reconciler.SyncRecurrence(ctx, job.Args)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[webhooks.EndStrayArgs]) error {
		return s.strays.EndStray(ctx, job.Args)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[lifecycle.PauseArgs]) error {
		return s.pauses.CarryOutPause(ctx, job.Args.PauseID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[extensions.ChargeMoveArgs]) error {
		return s.extensions.MoveCharge(ctx, job.Args.MoveID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[settle.LateMoneyArgs]) error {
		return s.reconciler.ConfirmLateMoney(ctx, job.Args)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[strays.StrayMoneyArgs]) error {
		return s.strays.TakeStrayMoney(ctx, job.Args)
	}))
	river.AddWorker(w, &reconcileWorker{service: s})
	river.AddWorker(w, &trialUsesWorker{s: s})
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[sweepArgs]) error {
		return s.Sweep(ctx)
	}))
}

// reconcileWorker has more time than other jobs: it reads lists.
type reconcileWorker struct {
	river.WorkerDefaults[reconcile.ReconcileArgs]
	service *Service
}

// Work looks two nights back, in the night to Sunday three months.
func (w *reconcileWorker) Work(ctx context.Context, _ *river.Job[reconcile.ReconcileArgs]) error {
	now, window := w.service.deps.Clock.Now(), reconcile.ReconcileWindow
	if now.In(w.service.deps.Config.Zone).Weekday() == time.Sunday {
		window = reconcile.ReconcileDeep
	}
	_, err := w.service.Reconcile(ctx, payments.ReconcileOptions{Since: now.Add(-window)})
	return err
}

// Timeout bounds a run.
func (*reconcileWorker) Timeout(*river.Job[reconcile.ReconcileArgs]) time.Duration {
	return 6 * time.Hour
}

// Periodic returns the jobs that run by the clock.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{
		jobs.NewPeriodic(river.PeriodicInterval(sweepEvery), func() (river.JobArgs, *river.InsertOpts) {
			return sweepArgs{}, &river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1}
		}, &river.PeriodicJobOpts{RunOnStart: true}),
		jobs.NewPeriodic(reconcile.Nightly{Zone: s.deps.Config.Zone}, func() (river.JobArgs, *river.InsertOpts) {
			return reconcile.ReconcileArgs{}, &river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 3}
		}, nil),
		jobs.NewPeriodic(reconcile.Nightly{Zone: s.deps.Config.Zone},
			func() (river.JobArgs, *river.InsertOpts) { return trialUsesArgs{}, nil },
			&river.PeriodicJobOpts{ID: trialUsesArgs{}.Kind(), RunOnStart: true}),
	}
}
