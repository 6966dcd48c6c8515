package payments

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/payments/internal/paymentsdb"
)

const (
	// monthsAhead is how many months' partitions are there, the present one among
	// them. Calls of a month without one are taken too, and kept with the rest.
	monthsAhead = 4
	// deletePage bounds what one statement deletes.
	deletePage = 5000
)

// logMonthsArgs makes the partitions of the months to come, and drops those that are
// past keeping, and refused calls.
type logMonthsArgs struct{}

// Kind names the job.
func (logMonthsArgs) Kind() string { return "payments_webhook_log_months" }

type logMonthsWorker struct {
	river.WorkerDefaults[logMonthsArgs]
	s *Service
}

// Timeout leaves room to delete what stands in no month of its own.
func (*logMonthsWorker) Timeout(*river.Job[logMonthsArgs]) time.Duration { return time.Hour }

// Work may run again at any point. Where a lock is not to be had within 2 s it
// fails, so that no webhook waits longer, and is tried again.
func (w *logMonthsWorker) Work(ctx context.Context, _ *river.Job[logMonthsArgs]) error {
	now := w.s.deps.Clock.Now().UTC()
	added, err := w.s.db.WebhookLogAddMonths(ctx, w.s.deps.Pool, paymentsdb.WebhookLogAddMonthsParams{Since: now, Months: monthsAhead})
	if err != nil {
		return fmt.Errorf("add months to the webhook log: %w", err)
	}
	if added > 0 {
		w.s.deps.Log.InfoContext(ctx, "months added to the webhook log", slog.Int("months", int(added)))
	}
	if err := w.s.tidyRefused(ctx); err != nil {
		return err
	}
	if w.s.deps.KeepLogMonths == 0 {
		return nil
	}
	return w.s.dropLogsBefore(ctx, time.Date(now.Year(), now.Month()-time.Month(w.s.deps.KeepLogMonths), 1, 0, 0, 0, 0, time.UTC))
}

// dropLogsBefore drops the months that have ended by then, a transaction each, and
// deletes older logs that stand elsewhere: those taken before there were months,
// and those kept for an event that has been applied since.
func (s *Service) dropLogsBefore(ctx context.Context, before time.Time) error {
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
		n, err := s.db.WebhookLogDeleteBefore(ctx, s.deps.Pool, paymentsdb.WebhookLogDeleteBeforeParams{Before: before, PageSize: deletePage})
		if err != nil {
			return fmt.Errorf("delete old webhook logs: %w", err)
		}
		if n == 0 {
			return nil
		}
		s.deps.Log.InfoContext(ctx, "old webhook logs deleted", slog.Int64("logs", n))
	}
}

// nightly runs at half past two in the morning (UTC).
type nightly struct{}

// Next is the next half past two.
func (nightly) Next(current time.Time) time.Time {
	year, month, day := current.UTC().Date()
	at := time.Date(year, month, day, 2, 30, 0, 0, time.UTC)
	if !at.After(current) {
		at = at.AddDate(0, 0, 1)
	}
	return at
}
