package tickets

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/refunds"
	"marquee/platform/jobs"
)

// sweepEvery is how soon what is due is done.
const sweepEvery = 30 * time.Second

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	jobs.Handle(w, func(ctx context.Context, _ sweepArgs) error { return s.Sweep(ctx) })
	jobs.Handle(w, func(ctx context.Context, a orders.RefundArgs) error {
		return s.refunds.Refund(ctx, a.OrderID, a.PaymentID)
	})
	jobs.Handle(w, s.refunds.RefundShares)
	jobs.Handle(w, func(ctx context.Context, _ refunds.GiveBackArgs) error { return s.refunds.GiveBackDue(ctx) })
	jobs.Handle(w, s.webhooks.ConfirmLiveMoney)
	jobs.Handle(w, s.mails.SendMail)
	jobs.Handle(w, s.mails.SendEventMail)
}

// Periodic returns the jobs that run by the clock.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{jobs.NewPeriodic(river.PeriodicInterval(sweepEvery), sweepArgs{},
		&river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1},
		&river.PeriodicJobOpts{ID: sweepArgs{}.Kind(), RunOnStart: true})}
}
