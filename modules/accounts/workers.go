package accounts

import (
	"time"

	"github.com/riverqueue/river"
)

// Workers adds the module's workers.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, &sendCodeWorker{s: s})
	river.AddWorker(w, &resendWorker{s: s})
	river.AddWorker(w, &sweepWorker{s: s})
}

// Periodic returns the module's scheduled jobs.
func (s *Service) Periodic() []*river.PeriodicJob {
	return []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(time.Hour),
		func() (river.JobArgs, *river.InsertOpts) { return SweepCodesArgs{}, nil }, &river.PeriodicJobOpts{ID: SweepCodesArgs{}.Kind()})}
}
