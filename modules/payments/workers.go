package payments

import (
	"context"
	"errors"

	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/unapplied"
	"marquee/modules/payments/webhook"
	"marquee/platform/jobs"
)

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[webhook.RetryArgs]) error {
		return s.webhooks.ApplyAgain(ctx, job.Args.Gateway, job.Args.EventID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[ledger.ReplayArgs]) error {
		return s.webhooks.ReplayWaiting(ctx, job.Args.Gateway, job.Args.Subjects)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[refund.TrackRefundArgs]) error {
		return s.refunds.Recover(ctx, job.Args.RefundID)
	}))
	river.AddWorker(w,
		river.WorkFunc(func(ctx context.Context, _ *river.Job[refund.AdoptArgs]) error { return s.refunds.Adopt(ctx) }))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[webhook.ConfirmEventArgs]) error {
		return s.webhooks.ConfirmEvent(ctx, job.Args)
	}))
	s.intents.Workers(w)
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[ledger.CaseArgs]) error {
		return s.unapplied.Handle(ctx, job.Args.ID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[unapplied.SweepArgs]) error {
		return errors.Join(s.unapplied.RefundDueUnapplied(ctx), s.unapplied.TendUnknownMoney(ctx))
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[ledger.CaseMailArgs]) error {
		return s.unapplied.Mail(ctx, job.Args.ID)
	}))
	river.AddWorker(w, s.log.ForgetWorker())
	river.AddWorker(w, s.log.MonthsWorker())
}

// Periodic returns the module's scheduled jobs: all others follow from an event.
func (s *Service) Periodic() []jobs.Periodic {
	return append(s.intents.Periodic(gateway.GWA, gateway.GWB),
		jobs.NewPeriodic(river.PeriodicInterval(unapplied.SweepEvery), func() (river.JobArgs, *river.InsertOpts) {
			return unapplied.SweepArgs{}, &river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1}
		}, &river.PeriodicJobOpts{RunOnStart: true}),
		jobs.NewPeriodic(webhook.Nightly{}, func() (river.JobArgs, *river.InsertOpts) {
			return webhook.LogMonthsArgs{},
				nil
		}, &river.PeriodicJobOpts{ID: webhook.LogMonthsArgs{}.Kind()}),
		jobs.NewPeriodic(river.PeriodicInterval(refund.AdoptEvery),
			func() (river.JobArgs, *river.InsertOpts) { return refund.AdoptArgs{}, nil },
			&river.PeriodicJobOpts{ID: refund.AdoptArgs{}.Kind(), RunOnStart: true}),
	)
}
