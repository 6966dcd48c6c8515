package payments

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/jobs"
)

// retryArgs applies an event again whose applying failed.
type retryArgs struct {
	Gateway gateway.Name `json:"gateway"`
	EventID string       `json:"event_id"`
}

// Kind names the job.
func (retryArgs) Kind() string { return "payments_event_retry" }

func (s *Service) insertRetryTx(ctx context.Context, tx pgx.Tx, e gateway.Event) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, retryArgs{Gateway: e.Gateway, EventID: e.ID}, nil)
	return err
}

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[retryArgs]) error {
		return s.applyAgain(ctx, job.Args.Gateway, job.Args.EventID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[ledger.ReplayArgs]) error {
		return s.replayWaiting(ctx, job.Args.Gateway, job.Args.Subjects)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[refundArgs]) error {
		return s.recoverRefund(ctx, job.Args.RefundID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[adoptRefundsArgs]) error { return s.adoptRefunds(ctx) }))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[ToldArgs]) error { return s.ConfirmTold(ctx, job.Args) }))
	s.intents.Workers(w)
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[ledger.CaseArgs]) error {
		return s.handleUnapplied(ctx, job.Args.ID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[unappliedSweepArgs]) error {
		return errors.Join(s.RefundDueUnapplied(ctx), s.TendUnknownMoney(ctx))
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[ledger.CaseMailArgs]) error {
		return s.mailUnapplied(ctx, job.Args.ID)
	}))
	river.AddWorker(w, &forgetWorker{s: s})
	river.AddWorker(w, &logMonthsWorker{s: s})
}

// Periodic returns the module's scheduled jobs: all others follow from an event.
func (s *Service) Periodic() []jobs.Periodic {
	return append(s.intents.Periodic(string(gateway.GWA), string(gateway.GWB)),
		jobs.NewPeriodic(river.PeriodicInterval(unappliedSweep), func() (river.JobArgs, *river.InsertOpts) {
			return unappliedSweepArgs{}, &river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1}
		}, &river.PeriodicJobOpts{RunOnStart: true}),
		jobs.NewPeriodic(nightly{}, func() (river.JobArgs, *river.InsertOpts) { return logMonthsArgs{}, nil }, &river.PeriodicJobOpts{ID: logMonthsArgs{}.Kind()}),
		jobs.NewPeriodic(river.PeriodicInterval(adoptEvery), func() (river.JobArgs, *river.InsertOpts) { return adoptRefundsArgs{}, nil },
			&river.PeriodicJobOpts{ID: adoptRefundsArgs{}.Kind(), RunOnStart: true}),
	)
}

// replayWaiting applies each waiting event in its own transaction, oldest first.
func (s *Service) replayWaiting(ctx context.Context, gateway gateway.Name, subjects []string) error {
	events, err := s.db.ProcessedEventWaiting(ctx, s.deps.Pool, paymentsdb.ProcessedEventWaitingParams{
		Gateway: string(gateway), Subjects: subjects,
	})
	if err != nil {
		return err
	}
	var failed error
	for _, id := range events {
		failed = errors.Join(failed, s.applyAgain(ctx, gateway, id))
	}
	return failed
}
