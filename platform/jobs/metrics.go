package jobs

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river/rivertype"

	"marquee/platform/postgres"
	"marquee/platform/telemetry"
)

// What becomes of a job that was worked.
const (
	resultDone      = "done"
	resultFailed    = "failed"   // it is tried again
	resultGivenUp   = "given_up" // it has no attempts left
	resultSnoozed   = "snoozed"
	resultCancelled = "cancelled"
)

// metrics are those of the jobs that this process works.
type metrics struct {
	worked *prometheus.CounterVec
	took   *prometheus.HistogramVec
	late   *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		worked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "marquee_jobs_worked_total", Help: "Jobs worked, by what became of them.",
		}, []string{"kind", "result"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "marquee_job_seconds", Help: "How long jobs took.",
			Buckets: []float64{.005, .01, .05, .1, .5, 1, 5, 30, 120, 600},
		}, []string{"queue"}),
		late: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "marquee_job_delay_seconds",
			Help:    "How long after they were due jobs began.",
			Buckets: []float64{.05, .1, .5, 1, 5, 10, 30, 60, 300, 1800, 7200},
		}, []string{"queue"}),
	}
	reg.MustRegister(m.worked, m.took, m.late)
	for queue := range queues {
		m.took.WithLabelValues(queue)
		m.late.WithLabelValues(queue)
	}
	return m
}

// work is a middleware that counts.
func (m *metrics) work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	begun := time.Now()
	m.late.WithLabelValues(job.Queue).Observe(max(begun.Sub(job.ScheduledAt), 0).Seconds())
	result := resultGivenUp // where it panics
	if job.Attempt < job.MaxAttempts {
		result = resultFailed
	}
	defer func() {
		m.worked.WithLabelValues(job.Kind, result).Inc()
		m.took.WithLabelValues(job.Queue).Observe(time.Since(begun).Seconds())
	}()
	err := work(ctx)
	var snoozed *rivertype.JobSnoozeError
	var cancelled *rivertype.JobCancelError
	switch {
	case err == nil:
		result = resultDone
	case errors.As(err, &snoozed):
		result = resultSnoozed
	case errors.As(err, &cancelled):
		result = resultCancelled
	}
	return err
}

var (
	jobsGauge = prometheus.NewDesc("marquee_jobs",
		"Jobs by queue and state; of each at most 10,000 are counted. Those given up are kept for seven days.",
		[]string{"queue", "state"}, nil)
	oldestGauge = prometheus.NewDesc("marquee_jobs_oldest_ready_seconds",
		"How long the job that has waited longest could have been worked; 0 where none waits.", []string{"queue"}, nil)
	workersGauge = prometheus.NewDesc("marquee_workers", "Processes that work jobs, by their last sign of life.", nil, nil)
)

// countedJobs bounds how many entries of an index are read to count the jobs of a queue in a state.
const countedJobs = 10_000

// Figures collects what waits in the queues, and how many processes work.
func Figures(db postgres.DB, log *slog.Logger) prometheus.Collector {
	names := slices.Sorted(maps.Keys(queues))
	return telemetry.NewFigures(log, func(ctx context.Context, gauge telemetry.Gauge) error {
		rows, err := db.Query(ctx, countByState, names, countedJobs)
		if err != nil {
			return err
		}
		var queue, state string
		var value float64
		_, err = pgx.ForEachRow(rows, []any{&queue, &state, &value}, func() error {
			gauge(jobsGauge, value, queue, state)
			return nil
		})
		if err != nil {
			return err
		}
		rows, err = db.Query(ctx, oldestReady, names)
		if err != nil {
			return err
		}
		_, err = pgx.ForEachRow(rows, []any{&queue, &value}, func() error {
			gauge(oldestGauge, value, queue)
			return nil
		})
		if err != nil {
			return err
		}
		err = db.QueryRow(ctx, "SELECT count(*)::float8 FROM jobs.workers WHERE seen_at > clock_timestamp() - $1::interval",
			2*usualPace.Silence).Scan(&value)
		if err == nil {
			gauge(workersGauge, value)
		}
		return err
	}, jobsGauge, oldestGauge, workersGauge)
}

// Both read river_job_prioritized_fetching_index alone: (state, queue, priority, scheduled_at, id).
const (
	countByState = `
SELECT q.queue, s.state::text, (SELECT count(*) FROM (SELECT FROM jobs.river_job j
    WHERE j.state = s.state AND j.queue = q.queue LIMIT $2) counted)::float8
FROM unnest($1::text[]) q(queue), unnest('{available,running,retryable,scheduled,discarded}'::jobs.river_job_state[]) s(state)`

	oldestReady = `
SELECT q.queue, coalesce(max(extract(epoch FROM clock_timestamp() - oldest.scheduled_at)), 0)::float8
FROM unnest($1::text[]) q(queue)
CROSS JOIN unnest('{available,retryable,scheduled}'::jobs.river_job_state[]) s(state)
CROSS JOIN generate_series(1, 4) p(priority)
LEFT JOIN LATERAL (SELECT j.scheduled_at FROM jobs.river_job j
    WHERE j.state = s.state AND j.queue = q.queue AND j.priority = p.priority AND j.scheduled_at <= clock_timestamp()
    ORDER BY j.scheduled_at LIMIT 1) oldest ON true
GROUP BY q.queue`
)
