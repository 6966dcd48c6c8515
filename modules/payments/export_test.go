package payments

import (
	"context"

	"marquee/modules/payments/webhook"
	"marquee/platform/resource"
)

// TidyLogMonths works the nightly job of the webhook log.
func (s *Service) TidyLogMonths(ctx context.Context, keep int) error {
	return s.log.TidyMonths(ctx, keep)
}

// TidyReconciliations works what the nightly job of logs does for reconciliations.
func (s *Service) TidyReconciliations(ctx context.Context, keep int) error {
	return s.reconciler.Tidy(ctx, keep)
}

// PrepareLogs is the list of GET /webhook-logs.
func PrepareLogs(p resource.Params) (*resource.List, error) { return webhook.Logs.Prepare(p) }

// AdoptRefunds works the job that finds requests that nobody asks about.
func (s *Service) AdoptRefunds(ctx context.Context) error { return s.refunds.Adopt(ctx) }
