package accounts

import (
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/customers"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/sessions"
	"marquee/platform/jobs"
)

// Workers adds the module's workers.
func (s *Service) Workers(w *river.Workers) {
	river.AddWorker(w, codes.NewSendWorker(s.codes))
	river.AddWorker(w, codes.NewResendWorker(s.codes))
	river.AddWorker(w, codes.NewSendResetWorker(s.codes))
	river.AddWorker(w, codes.NewSweepWorker(s.codes))
	river.AddWorker(w, sessions.NewSyncWorker(s.sessions))
	river.AddWorker(w, customers.NewEraseWorker(s.customers))
	river.AddWorker(w, customers.NewSweepDeletionsWorker(s.customers))
	river.AddWorker(w, identity.NewFillSkeletonsWorker(s.identity))
	river.AddWorker(w, codes.NewSendEmailNoticeWorker(s.changes))
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
