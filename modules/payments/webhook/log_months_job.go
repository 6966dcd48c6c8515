package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"marquee/modules/payments/internal/paymentsdb"
)

const (
	// monthsAhead is how many months' partitions are there, the present one among
	// them. Calls of a month without one are taken too, and kept with the rest.
	monthsAhead = 4
	// deletePage bounds what one statement deletes.
	deletePage = 5000
)

// LogMonthsArgs makes the partitions of the months to come, and drops those that are
// past keeping, and refused calls.
type LogMonthsArgs struct{}

// Kind names the job.
func (LogMonthsArgs) Kind() string { return "payments_webhook_log_months" }

// TidyMonths makes the months to come and drops those before the last few; 0 keeps all. It may run
// again at any point. Where a lock is not to be had within 2 s it fails, so that no webhook waits
// longer, and is tried again.
func (s *Log) TidyMonths(ctx context.Context, keepMonths int) error {
	now := s.deps.Clock.Now().UTC()
	added, err := s.db.WebhookLogAddMonths(ctx, s.deps.Pool,
		paymentsdb.WebhookLogAddMonthsParams{Since: now, Months: monthsAhead})
	if err != nil {
		return fmt.Errorf("add months to the webhook log: %w", err)
	}
	if added > 0 {
		s.deps.Log.InfoContext(ctx, "months added to the webhook log", slog.Int("months", int(added)))
	}
	if err := s.refusals.tidyRefused(ctx); err != nil {
		return err
	}
	if keepMonths == 0 {
		return nil
	}
	return s.dropLogsBefore(ctx, time.Date(now.Year(), now.Month()-time.Month(keepMonths), 1, 0, 0, 0, 0, time.UTC))
}

// dropLogsBefore drops the months that have ended by then, a transaction each, and
// deletes older logs that stand elsewhere: those taken before there were months,
// and those kept for an event that has been applied since.
func (s *Log) dropLogsBefore(ctx context.Context, before time.Time) error {
	if err := s.db.RefusedWebhookDeleteCountsBefore(ctx, s.deps.Pool, before); err != nil {
		return fmt.Errorf("delete counts of refused webhooks: %w", err)
	}
	for {
		month, err := s.db.WebhookLogDropMonth(ctx, s.deps.Pool, before)
		if err != nil {
			return fmt.Errorf("drop a month of the webhook log: %w", err)
		}
		if month == "" {
			break
		}
		s.deps.Log.InfoContext(ctx, "month of the webhook log dropped", slog.String("partition", month))
	}
	for {
		n, err := s.db.WebhookLogDeleteBefore(ctx, s.deps.Pool,
			paymentsdb.WebhookLogDeleteBeforeParams{Before: before, PageSize: deletePage})
		if err != nil {
			return fmt.Errorf("delete old webhook logs: %w", err)
		}
		if n == 0 {
			return nil
		}
		s.deps.Log.InfoContext(ctx, "old webhook logs deleted", slog.Int64("logs", n))
	}
}

// Nightly runs at half past two in the morning (UTC).
type Nightly struct{}

// Next is the next half past two.
func (Nightly) Next(current time.Time) time.Time {
	year, month, day := current.UTC().Date()
	at := time.Date(year, month, day, 2, 30, 0, 0, time.UTC)
	if !at.After(current) {
		at = at.AddDate(0, 0, 1)
	}
	return at
}
