package payments

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/payments/checks"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/unapplied"
	"marquee/modules/payments/webhook"
	"marquee/platform/jobs"
)

// logTime leaves room to read every log, or to delete what stands in no month of its own.
const logTime = time.Hour

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	jobs.Handle(w, func(ctx context.Context, a webhook.RetryArgs) error {
		return s.webhooks.ApplyAgain(ctx, a.Gateway, a.EventID)
	})
	jobs.Handle(w, func(ctx context.Context, a ledger.ReplayArgs) error {
		return s.webhooks.ReplayWaiting(ctx, a.Gateway, a.Subjects)
	})
	jobs.Handle(w, func(ctx context.Context, a refund.TrackRefundArgs) error {
		return s.refunds.Recover(ctx, a.RefundID)
	})
	jobs.Handle(w, func(ctx context.Context, _ refund.AdoptArgs) error { return s.refunds.Adopt(ctx) })
	jobs.Handle(w, s.webhooks.ConfirmEvent)
	s.Turns().Workers(w)
	jobs.Handle(w, func(ctx context.Context, a ledger.CaseArgs) error { return s.unapplied.Handle(ctx, a.ID) })
	jobs.Handle(w, func(ctx context.Context, _ unapplied.SweepArgs) error { return s.unapplied.Sweep(ctx) })
	jobs.Handle(w, func(ctx context.Context, a ledger.CaseMailArgs) error { return s.unapplied.Mail(ctx, a.ID) })
	jobs.HandleWithin(w, logTime, s.log.ForgetPerson)
	jobs.HandleWithin(w, logTime, func(ctx context.Context, _ webhook.LogMonthsArgs) error {
		return errors.Join(s.log.TidyMonths(ctx, s.deps.KeepLogMonths), s.reconciler.Tidy(ctx, s.deps.KeepLogMonths))
	})
}

// TurnKind is the job of a turn of checks.
const TurnKind = checks.Kind

// Turns are the turns of checks at the gateways.
func (s *Service) Turns() *checks.Turns {
	return &checks.Turns{Pool: s.deps.Pool, Clock: s.deps.Clock, Log: s.deps.Log, Intents: s.intents}
}

// Periodic returns the module's scheduled jobs: all others follow from an event.
func (s *Service) Periodic() []jobs.Periodic {
	return append(checks.Periodic(gateway.Names()...),
		jobs.NewPeriodic(river.PeriodicInterval(unapplied.SweepEvery), unapplied.SweepArgs{},
			&river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1}, &river.PeriodicJobOpts{RunOnStart: true}),
		jobs.NewPeriodic(webhook.Nightly{}, webhook.LogMonthsArgs{}, nil,
			&river.PeriodicJobOpts{ID: webhook.LogMonthsArgs{}.Kind()}),
		jobs.NewPeriodic(river.PeriodicInterval(refund.AdoptEvery), refund.AdoptArgs{}, nil,
			&river.PeriodicJobOpts{ID: refund.AdoptArgs{}.Kind(), RunOnStart: true}),
	)
}
