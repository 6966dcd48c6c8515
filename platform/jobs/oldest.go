package jobs

import (
	"context"
	"fmt"
	"time"

	"marquee/platform/postgres"
)

// OldestReady is how long the job that has waited longest could have been worked; 0 where none waits. By the
// machine's clock, as River has it.
func OldestReady(ctx context.Context, db postgres.DB) (time.Duration, error) {
	var seconds float64
	err := db.QueryRow(ctx, `SELECT coalesce(extract(epoch FROM clock_timestamp() - min(scheduled_at)), 0)::float8
		FROM jobs.river_job
		WHERE state IN ('available', 'retryable', 'scheduled') AND scheduled_at <= clock_timestamp()`).Scan(&seconds)
	if err != nil {
		return 0, fmt.Errorf("find the oldest job that waits: %w", err)
	}
	return time.Duration(max(seconds, 0) * float64(time.Second)), nil
}
