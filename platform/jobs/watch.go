package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/postgres"
)

// Pace is how often a process says that it lives, and after which silence it counts as
// dead. The zero value is every 3 s and 15 s.
type Pace struct{ Beat, Silence time.Duration }

var usualPace = Pace{Beat: 3 * time.Second, Silence: 15 * time.Second}

// workerRetention is how long a dead process is remembered.
const workerRetention = 24 * time.Hour

// maxDeaths is how many workers may die of a job that has no attempts left.
const maxDeaths = 3

// Watch says in jobs.workers that the process of the client lives, and lets jobs start
// again whose process has died, until ctx ends. River itself takes a job for lost only
// once it has run an hour longer than it may.
func Watch(ctx context.Context, db postgres.DB, client string, log *slog.Logger, p Pace) error {
	if p == (Pace{}) {
		p = usualPace
	}
	w := &watch{db: db, client: client, log: log, pace: p}
	if err := w.beat(ctx); err != nil { // before the first job runs
		return err
	}
	go w.run(ctx)
	return nil
}

type watch struct {
	db     postgres.DB
	client string
	log    *slog.Logger
	pace   Pace
	// After a time in which nothing could be written, by us and so perhaps by nobody, the
	// others get the time to speak before they are taken for dead.
	heard, judges time.Time
}

func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(w.pace.Beat)
	defer tick.Stop()
	for {
		err := w.round(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			w.log.WarnContext(ctx, "the workers' list cannot be kept", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *watch) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.pace.Silence)
	defer cancel()
	if err := w.beat(ctx); err != nil {
		return err
	}
	if time.Now().Before(w.judges) {
		return nil
	}
	return w.rescue(ctx)
}

func (w *watch) beat(ctx context.Context) error {
	_, err := w.db.Exec(ctx, `INSERT INTO jobs.workers (id, seen_at) VALUES ($1, clock_timestamp())
		ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()`, w.client)
	if err != nil {
		return fmt.Errorf("say that the worker lives: %w", err)
	}
	now := time.Now()
	if !w.heard.IsZero() && now.Sub(w.heard) > w.pace.Silence/2 {
		w.judges = now.Add(w.pace.Silence)
	}
	w.heard = now
	return nil
}

// A process without a row is one of a version that does not speak: River rescues its jobs.
// A job that was to be cancelled is; one that has no attempts left gets another, as it is
// not known to have failed, unless workers keep dying of it.
const rescueJobs = `
WITH lost AS (
    SELECT j.id, (SELECT count(*) FROM unnest(j.errors) e WHERE e ->> 'error' = $2) AS deaths
    FROM jobs.river_job j
    JOIN jobs.workers w ON w.id = j.attempted_by[array_upper(j.attempted_by, 1)]
    WHERE j.state = 'running' AND w.seen_at < clock_timestamp() - $1::interval
    ORDER BY j.id
    LIMIT 1000
    FOR UPDATE OF j SKIP LOCKED
), decided AS (
    SELECT lost.id, CASE WHEN j.metadata ? 'cancel_attempted_at' THEN 'cancelled'
        WHEN j.attempt >= j.max_attempts AND lost.deaths >= $3 THEN 'discarded' ELSE 'available' END AS state
    FROM lost JOIN jobs.river_job j ON j.id = lost.id
)
UPDATE jobs.river_job j
SET state = d.state::jobs.river_job_state,
    finalized_at = CASE WHEN d.state <> 'available' THEN now() END,
    scheduled_at = CASE WHEN d.state = 'available' THEN now() ELSE j.scheduled_at END,
    max_attempts = CASE WHEN d.state = 'available' THEN greatest(j.max_attempts, j.attempt + 1) ELSE j.max_attempts END,
    errors = array_append(j.errors,
        jsonb_build_object('at', now(), 'attempt', j.attempt, 'error', $2::text, 'trace', ''))
FROM decided d WHERE j.id = d.id
RETURNING j.id, j.kind, j.attempt, d.state`

const died = "The worker died."

func (w *watch) rescue(ctx context.Context) error {
	rows, err := w.db.Query(ctx, rescueJobs, w.pace.Silence, died, maxDeaths)
	if err != nil {
		return fmt.Errorf("rescue jobs of dead workers: %w", err)
	}
	var id int64
	var kind, state string
	var attempt int
	_, err = pgx.ForEachRow(rows, []any{&id, &kind, &attempt, &state}, func() error {
		w.log.WarnContext(ctx, "the worker of a job died", slog.Int64("job_id", id), slog.String("kind", kind),
			slog.Int("attempt", attempt), slog.String("now", state))
		return nil
	})
	if err != nil {
		return fmt.Errorf("rescue jobs of dead workers: %w", err)
	}
	_, err = w.db.Exec(ctx, "DELETE FROM jobs.workers WHERE seen_at < clock_timestamp() - $1::interval", workerRetention)
	if err != nil {
		return fmt.Errorf("forget dead workers: %w", err)
	}
	return nil
}
