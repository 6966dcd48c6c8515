package finance

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// foldEvery keeps what readers have to add up small.
const foldEvery = 15 * time.Second

// checkHour is when the rollups are compared with the ledgers, in the report time
// zone.
const checkHour = 4

type foldArgs struct{}

// Kind names the job.
func (foldArgs) Kind() string { return "finance_fold" }

type foldWorker struct {
	river.WorkerDefaults[foldArgs]
	service *Service
}

// Work folds all there is.
func (w *foldWorker) Work(ctx context.Context, _ *river.Job[foldArgs]) error {
	if !w.service.zoneSet.Load() {
		if err := w.service.UseReportZone(ctx); err != nil {
			return err
		}
	}
	_, err := w.service.Fold(ctx)
	return err
}

// Timeout leaves time for a load of millions.
func (*foldWorker) Timeout(*river.Job[foldArgs]) time.Duration { return 15 * time.Minute }

type checkArgs struct{}

// Kind names the job.
func (checkArgs) Kind() string { return "finance_check" }

type checkWorker struct {
	river.WorkerDefaults[checkArgs]
	service *Service
}

// Work compares.
func (w *checkWorker) Work(ctx context.Context, _ *river.Job[checkArgs]) error {
	_, err := w.service.Check(ctx)
	return err
}

// Timeout bounds a run.
func (*checkWorker) Timeout(*river.Job[checkArgs]) time.Duration { return time.Hour }

// nightly is the schedule of the check.
type nightly struct{ zone *time.Location }

// Next is the next night's instant after t.
func (n nightly) Next(t time.Time) time.Time {
	local := t.In(n.zone)
	next := time.Date(local.Year(), local.Month(), local.Day(), checkHour, 0, 0, 0, n.zone)
	for !next.After(t) {
		local = local.AddDate(0, 0, 1)
		next = time.Date(local.Year(), local.Month(), local.Day(), checkHour, 0, 0, 0, n.zone)
	}
	return next
}
