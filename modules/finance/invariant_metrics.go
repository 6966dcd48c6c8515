package finance

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
)

var (
	findingsGauge = prometheus.NewDesc("marquee_invariant_findings",
		"Rows that break an invariant, as of the last check.", []string{"invariant"}, nil)
	checkedGauge = prometheus.NewDesc("marquee_invariants_checked_timestamp_seconds",
		"When the invariants were checked last, by Unix time.", nil, nil)
)

// Describe names the metrics.
func (*InvariantMonitor) Describe(to chan<- *prometheus.Desc) {
	to <- findingsGauge
	to <- checkedGauge
}

// Collect tells what the last check found, whichever process made it; it checks
// nothing itself. Before the first check, and while the database is away, it tells
// nothing.
func (m *InvariantMonitor) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	rows, err := m.pool.Query(ctx, `SELECT name, findings, checked_at FROM finance.invariant_results ORDER BY name`)
	if err != nil {
		m.log.WarnContext(ctx, "results of invariants not read", slog.Any("error", err))
		return
	}
	var name string
	var findings int64
	var at, newest time.Time
	_, err = pgx.ForEachRow(rows, []any{&name, &findings, &at}, func() error {
		to <- prometheus.MustNewConstMetric(findingsGauge, prometheus.GaugeValue, float64(findings), name)
		if at.After(newest) {
			newest = at
		}
		return nil
	})
	if err != nil {
		m.log.WarnContext(ctx, "results of invariants not read", slog.Any("error", err))
		return
	}
	if !newest.IsZero() {
		to <- prometheus.MustNewConstMetric(checkedGauge, prometheus.GaugeValue, float64(newest.UnixMilli())/1000)
	}
}
