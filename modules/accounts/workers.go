package accounts

import (
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/customers"
	"marquee/modules/accounts/identity"
	"marquee/platform/jobs"
)

// Workers adds the module's workers.
func (s *Service) Workers(w *river.Workers) {
	jobs.Handle(w, s.codes.SendCode)
	jobs.Handle(w, s.codes.Resend)
	jobs.Handle(w, s.codes.SendReset)
	jobs.Handle(w, s.codes.Sweep)
	jobs.Handle(w, s.changes.SendNotice)
	jobs.Handle(w, s.customers.SweepDeletions)
	jobs.Handle(w, s.identity.FillSkeletons)
	river.AddWorker(w, customers.NewEraseWorker(s.customers))
	river.AddWorker(w, river.WorkFunc(s.sessions.SyncAgain)) // it has to know its last attempt
}

// Periodic returns the module's scheduled jobs.
func (s *Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{
		hourly(codes.SweepCodesArgs{}), hourly(customers.SweepDeletionsArgs{}),
		jobs.NewPeriodic(river.PeriodicInterval(time.Hour), identity.FillSkeletonsArgs{}, nil,
			&river.PeriodicJobOpts{ID: identity.FillSkeletonsArgs{}.Kind(), RunOnStart: true}),
	}
}

func hourly(args river.JobArgs) jobs.Periodic {
	return jobs.NewPeriodic(river.PeriodicInterval(time.Hour), args, nil, &river.PeriodicJobOpts{ID: args.Kind()})
}
