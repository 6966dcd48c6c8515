package files

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"marquee/platform/jobs"
)

// Workers adds the module's workers.
func (s *Service) Workers(w *river.Workers) {
	jobs.Handle(w, func(ctx context.Context, _ SweepArgs) error {
		_, err := s.db.ArchiveTokenDeleteExpired(ctx, s.deps.Pool, s.deps.Clock.Now())
		return err
	})
	jobs.Handle(w, func(ctx context.Context, _ SweepOrphansArgs) error { return s.sweepOrphans(ctx) })
}

// Periodic returns the module's scheduled jobs.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{
		jobs.NewPeriodic(river.PeriodicInterval(time.Hour), SweepArgs{}, nil,
			&river.PeriodicJobOpts{ID: SweepArgs{}.Kind()}),
		// At each start too: a process that is restarted daily would never come to it. It is unique by day.
		jobs.NewPeriodic(river.PeriodicInterval(24*time.Hour), SweepOrphansArgs{}, nil,
			&river.PeriodicJobOpts{ID: SweepOrphansArgs{}.Kind(), RunOnStart: true}),
	}
}

// SweepArgs is the job that removes expired archive tokens.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "files_sweep_archive_tokens" }
