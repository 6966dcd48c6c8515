package app

import (
	"slices"

	"github.com/riverqueue/river"

	"marquee/platform/jobs"
)

// addWorkers fills the workers and the periodic jobs of every module. It runs
// before the job client starts.
func (a *App) addWorkers(w *river.Workers) {
	m := a.modules
	a.repeats.Workers(w)
	a.bulk.Workers(w)
	m.files.Workers(w)
	m.accounts.Workers(w)
	m.payments.Workers(w)
	m.operators.Workers(w)
	m.tickets.Workers(w)
	m.subscriptions.Workers(w)
	m.catalog.Workers(w)
	m.finance.Workers(w)
	m.invariants.Workers(w)
	a.periodic = slices.Concat(
		a.repeats.Periodic(), a.bulk.Periodic(),
		m.files.Periodic(), m.accounts.Periodic(), m.payments.Periodic(), m.tickets.Periodic(),
		m.subscriptions.Periodic(), m.catalog.Periodic(),
		m.finance.Periodic(), m.invariants.Periodic(),
	)
	if a.moved == nil || !a.moved.Stands() { // else they come with its moves
		jobs.AddPeriodic(a.jobs, a.periodic)
	}
}
