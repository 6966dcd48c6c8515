package finance

import (
	"github.com/riverqueue/river"

	"marquee/modules/finance/exports"
	"marquee/platform/jobs"
)

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, &foldWorker{service: s})
	river.AddWorker(w, &checkWorker{service: s})
	river.AddWorker(w, exports.NewWriteWorker(s.exports))
	river.AddWorker(w, exports.NewSweepWorker(s.exports))
}

// Periodic returns the jobs that run by the clock.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{
		jobs.NewPeriodic(river.PeriodicInterval(foldEvery), func() (river.JobArgs, *river.InsertOpts) {
			return foldArgs{}, &river.InsertOpts{MaxAttempts: 1}
		}, &river.PeriodicJobOpts{RunOnStart: true}),
		jobs.NewPeriodic(nightly{s.deps.Zone}, func() (river.JobArgs, *river.InsertOpts) {
			return checkArgs{}, &river.InsertOpts{MaxAttempts: 3}
		}, nil),
		jobs.NewPeriodic(river.PeriodicInterval(exports.SweepEvery),
			func() (river.JobArgs, *river.InsertOpts) { return exports.SweepExportsArgs{}, nil },
			&river.PeriodicJobOpts{ID: exports.SweepExportsArgs{}.Kind()}),
	}
}
