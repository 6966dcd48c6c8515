package tickets

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/platform/jobs"
)

// sweepEvery is how soon what is due is done.
const sweepEvery = 30 * time.Second

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[sweepArgs]) error { return s.Sweep(ctx) }))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[orders.RefundArgs]) error {
		return s.Refund(ctx, job.Args.OrderID, job.Args.PaymentID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[orders.SharesArgs]) error {
		return s.refundShares(ctx, job.Args)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[giveBackArgs]) error { return s.GiveBackDue(ctx) }))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[LiveMoneyArgs]) error {
		return s.ConfirmLiveMoney(ctx, job.Args)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[orders.MailArgs]) error { return s.sendMail(ctx, job.Args) }))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[events.MailArgs]) error {
		return s.sendEventMail(ctx, job.Args)
	}))
}

// Periodic returns the jobs that run by the clock.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{jobs.NewPeriodic(river.PeriodicInterval(sweepEvery), func() (river.JobArgs, *river.InsertOpts) {
		return sweepArgs{}, &river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1}
	}, &river.PeriodicJobOpts{ID: sweepArgs{}.Kind(), RunOnStart: true})}
}
