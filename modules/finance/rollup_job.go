package finance

import (
	"context"
	"time"
)

// foldEvery keeps what readers have to add up small.
const foldEvery = 15 * time.Second

// checkHour is when the rollups are compared with the ledgers, in the report time
// zone.
const checkHour = 4

type foldArgs struct{}

// Kind names the job.
func (foldArgs) Kind() string { return "finance_fold" }

// foldTime leaves time for a load of millions.
const foldTime = 15 * time.Minute

// foldAll folds all there is.
func (s *Service) foldAll(ctx context.Context, _ foldArgs) error {
	if !s.zoneSet.Load() {
		if err := s.UseReportZone(ctx); err != nil {
			return err
		}
	}
	_, err := s.Fold(ctx)
	return err
}

type checkArgs struct{}

// Kind names the job.
func (checkArgs) Kind() string { return "finance_check" }

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
