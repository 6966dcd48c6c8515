package payments

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/jobs"
)

// retryArgs applies an event again whose applying failed.
type retryArgs struct {
	Gateway gateway.Name `json:"gateway"`
	EventID string       `json:"event_id"`
}

// Kind names the job.
func (retryArgs) Kind() string { return "payments_event_retry" }

// replayArgs applies the events that wait for one of the subjects.
type replayArgs struct {
	Gateway  gateway.Name `json:"gateway"`
	Subjects []string     `json:"subjects"`
}

// Kind names the job.
func (replayArgs) Kind() string { return "payments_events_replay" }

// ReplayWaitingTx has the events applied that came before anybody knew their
// subject. Call it in the transaction that makes ids known: the gateway's
// subscription, authorization or payment id, the local id. It inserts a job;
// subjects that are empty are left out.
func (s *Service) ReplayWaitingTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, subjects ...string) error {
	known := []string{}
	for _, id := range subjects {
		if id != "" {
			known = append(known, id)
		}
	}
	return s.insertReplayTx(ctx, tx, gateway, known)
}

func (s *Service) insertReplayTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, subjects []string) error {
	if len(subjects) == 0 {
		return nil
	}
	_, err := s.deps.Jobs.InsertTx(ctx, tx, replayArgs{Gateway: gateway, Subjects: subjects}, nil)
	return err
}

func (s *Service) insertRetryTx(ctx context.Context, tx pgx.Tx, e gateway.Event) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, retryArgs{Gateway: e.Gateway, EventID: e.ID}, nil)
	return err
}

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[retryArgs]) error {
		return s.applyAgain(ctx, job.Args.Gateway, job.Args.EventID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[replayArgs]) error {
		return s.replayWaiting(ctx, job.Args.Gateway, job.Args.Subjects)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[refundArgs]) error {
		return s.recoverRefund(ctx, job.Args.RefundID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[adoptRefundsArgs]) error { return s.adoptRefunds(ctx) }))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[ToldArgs]) error { return s.ConfirmTold(ctx, job.Args) }))
	s.intents.Workers(w)
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[unappliedArgs]) error {
		return s.handleUnapplied(ctx, job.Args.ID)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[unappliedSweepArgs]) error {
		return errors.Join(s.RefundDueUnapplied(ctx), s.TendUnknownMoney(ctx))
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, job *river.Job[unappliedMailArgs]) error {
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
