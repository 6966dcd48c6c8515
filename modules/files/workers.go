package files

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"marquee/platform/jobs"
)

// Workers adds the module's workers.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, &sweepWorker{s: s})
	river.AddWorker(w, &orphanWorker{s: s})
}

// Periodic returns the module's scheduled jobs.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{
		jobs.NewPeriodic(river.PeriodicInterval(time.Hour),
			func() (river.JobArgs, *river.InsertOpts) { return SweepArgs{}, nil },
			&river.PeriodicJobOpts{ID: SweepArgs{}.Kind()}),
		// At each start too: a process that is restarted daily would never come to it. It is unique by day.
		jobs.NewPeriodic(river.PeriodicInterval(24*time.Hour),
			func() (river.JobArgs, *river.InsertOpts) { return SweepOrphansArgs{}, nil },
			&river.PeriodicJobOpts{ID: SweepOrphansArgs{}.Kind(), RunOnStart: true}),
	}
}

// SweepArgs is the job that removes expired archive tokens.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "files_sweep_archive_tokens" }

type sweepWorker struct {
	river.WorkerDefaults[SweepArgs]
	s *Service
}

func (w *sweepWorker) Work(ctx context.Context, _ *river.Job[SweepArgs]) error {
	_, err := w.s.db.ArchiveTokenDeleteExpired(ctx, w.s.deps.Pool, w.s.deps.Clock.Now())
	return err
}
