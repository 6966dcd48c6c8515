package finance

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/finance/exports"
	"marquee/platform/jobs"
)

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	jobs.HandleWithin(w, foldTime, s.foldAll)
	jobs.HandleWithin(w, time.Hour, func(ctx context.Context, _ checkArgs) error {
		_, err := s.Check(ctx)
		return err
	})
	jobs.HandleWithin(w, exports.TimeLimit, func(ctx context.Context, a exports.WriteExportArgs) error {
		return s.exports.Run(ctx, a.ExportID)
	})
	jobs.Handle(w, func(ctx context.Context, _ exports.SweepExportsArgs) error { return s.exports.Sweep(ctx) })
}

// Periodic returns the jobs that run by the clock.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{
		jobs.NewPeriodic(river.PeriodicInterval(foldEvery), foldArgs{}, &river.InsertOpts{MaxAttempts: 1},
			&river.PeriodicJobOpts{RunOnStart: true}),
		jobs.NewPeriodic(nightly{s.deps.Zone}, checkArgs{}, &river.InsertOpts{MaxAttempts: 3}, nil),
		jobs.NewPeriodic(river.PeriodicInterval(exports.SweepEvery), exports.SweepExportsArgs{}, nil,
			&river.PeriodicJobOpts{ID: exports.SweepExportsArgs{}.Kind()}),
	}
}
