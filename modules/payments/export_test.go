package payments

import (
	"context"

	"marquee/platform/collection"
)

// WithoutPerson is how a logged webhook forgets a deleted customer.
var WithoutPerson = withoutPerson

// TidyLogMonths works the nightly job of the webhook log.
func (s *Service) TidyLogMonths(ctx context.Context, keep int) error {
	s.deps.KeepLogMonths = keep
	return (&logMonthsWorker{s: s}).Work(ctx, nil)
}

// PrepareLogs is the list of GET /webhook-logs.
func PrepareLogs(p collection.Params) (*collection.List, error) { return webhookLogs.Prepare(p) }

// AdoptRefunds works the job that finds requests that nobody asks about.
func (s *Service) AdoptRefunds(ctx context.Context) error { return s.adoptRefunds(ctx) }
