package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"marquee/platform/postgres"
)

// While the product's clock is moved ahead of the machine's, as in development, River keeps to the machine's: it
// would insert a month of sweeps at once. What the product plans for an instant of its own clock is planned for that
// of the machine's at which it comes (Options.Ahead), and each move brings forward what waits.

// earlier is the hook that plans a job by the machine's clock. What comes by the clock has an instant of the
// machine's already.
func earlier(ahead func() time.Duration) rivertype.Hook {
	return river.HookInsertBeginFunc(func(_ context.Context, p *rivertype.JobInsertParams) error {
		now := time.Now()
		if p.ScheduledAt == nil || !p.ScheduledAt.After(now) {
			return nil
		}
		at := p.ScheduledAt.Add(-ahead())
		if at.Before(now) {
			at = now
		}
		p.ScheduledAt = &at
		return nil
	})
}

// Standing is the instant of River's that stands for the present while the product's clock stands between its moves:
// none that the machine's clock comes to.
var Standing = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// Stand has what waits wait from Standing on as long as it was to wait by the machine's clock, by whole seconds: by
// moves alone it falls due. An error is the database's.
func Stand(ctx context.Context, db postgres.DB) error {
	_, err := db.Exec(ctx, `UPDATE jobs.river_job SET scheduled_at = $1::timestamptz + make_interval(secs =>
			greatest(round(extract(epoch FROM scheduled_at - coalesce(attempted_at, created_at))), 0)::float8)
		WHERE state IN ('scheduled', 'retryable') AND scheduled_at < $1::timestamptz - interval '50 years'`, Standing)
	if err != nil {
		return fmt.Errorf("have the jobs wait for a clock that stands: %w", err)
	}
	return nil
}

// BringForward makes all waiting jobs due sooner by this time.
func BringForward(ctx context.Context, db postgres.DB, by time.Duration) error {
	_, err := db.Exec(ctx, `UPDATE jobs.river_job SET scheduled_at = scheduled_at - $1::interval
		WHERE state IN ('scheduled', 'retryable')`, by)
	if err != nil {
		return fmt.Errorf("bring the jobs forward: %w", err)
	}
	return nil
}

// DueIn is in how long after River's present the next job falls due; ok is false when none waits.
func DueIn(ctx context.Context, db postgres.DB, present time.Time) (in time.Duration, ok bool, err error) {
	var seconds *float64
	err = db.QueryRow(ctx, `SELECT extract(epoch FROM min(scheduled_at) - $1)::float8 FROM jobs.river_job
		WHERE state IN ('scheduled', 'retryable')`, present).Scan(&seconds)
	if err != nil {
		return 0, false, fmt.Errorf("when the next job is due: %w", err)
	}
	if seconds == nil {
		return 0, false, nil
	}
	return time.Duration(*seconds * float64(time.Second)), true, nil
}

// StartDue hands what is due at River's present to the workers, in the order in which it fell due.
func StartDue(ctx context.Context, db postgres.DB, client *Client, present time.Time) error {
	rows, err := db.Query(ctx,
		`SELECT id FROM jobs.river_job WHERE state IN ('scheduled', 'retryable') AND scheduled_at <= $1
		ORDER BY scheduled_at, id`, present)
	if err != nil {
		return fmt.Errorf("jobs that are due: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("jobs that are due: %w", err)
	}
	for _, id := range ids {
		_, err := client.JobRetry(ctx, id)
		var refused *pgconn.PgError // unique among those that are due: River decides between them, later
		if err != nil && !errors.Is(err, rivertype.ErrNotFound) && !errors.As(err, &refused) {
			return fmt.Errorf("start job %d: %w", id, err)
		}
	}
	for _, queue := range []string{QueueDefault, QueueMail, QueueGateway, QueueExport} {
		if _, err := db.Exec(ctx, `SELECT pg_notify($1, json_build_object('queue', $2::text)::text)`,
			Schema+".river_insert", queue); err != nil {
			return fmt.Errorf("wake the workers: %w", err)
		}
	}
	return nil
}

// UnderWay is how many jobs are due or being worked.
func UnderWay(ctx context.Context, db postgres.DB) (n int, err error) {
	err = db.QueryRow(ctx, `SELECT count(*) FROM jobs.river_job WHERE state IN ('available', 'running')`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("jobs under way: %w", err)
	}
	return n, nil
}
