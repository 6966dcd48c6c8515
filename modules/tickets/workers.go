package tickets

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/refunds"
	"marquee/modules/tickets/webhooks"
	"marquee/platform/jobs"
)

// sweepEvery is how soon what is due is done.
const sweepEvery = 30 * time.Second

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[sweepArgs]) error { return s.Sweep(ctx) }))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[orders.RefundArgs]) error {
		return s.refunds.Refund(ctx, job.Args.OrderID, job.Args.PaymentID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[orders.SharesArgs]) error {
		return s.refunds.RefundShares(ctx, job.Args)
	}))
	river.AddWorker(w,
		river.WorkFunc(func(ctx context.Context,
			_ *river.Job[refunds.GiveBackArgs],
		) error {
			return s.refunds.GiveBackDue(ctx)
		}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[webhooks.LiveMoneyArgs]) error {
		return s.webhooks.ConfirmLiveMoney(ctx, job.Args)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[orders.MailArgs]) error {
		return s.mails.SendMail(ctx, job.Args)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[events.MailArgs]) error {
		return s.mails.SendEventMail(ctx, job.Args)
	}))
}

// Periodic returns the jobs that run by the clock.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{jobs.NewPeriodic(river.PeriodicInterval(sweepEvery),
		func() (river.JobArgs, *river.InsertOpts) {
			return sweepArgs{}, &river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1}
		}, &river.PeriodicJobOpts{ID: sweepArgs{}.Kind(), RunOnStart: true})}
}
