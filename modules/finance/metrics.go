package finance

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTimeout bounds what a scrape of the metrics asks of the database.
const scrapeTimeout = 2 * time.Second

// Metrics are to be registered once a process. They read the database, so that
// every process shows what the job of another one found.
func (s *Service) Metrics() []prometheus.Collector {
	return []prometheus.Collector{&rollupMetrics{
		service: s,
		differences: prometheus.NewDesc("marquee_finance_rollup_differences",
			"Differences between the rollups and the ledgers, as the last nightly check found them; 0 is right.", nil,
			nil),
		checked: prometheus.NewDesc("marquee_finance_rollup_checked_timestamp_seconds",
			"When the rollups were last compared with the ledgers, unix time; 0 for never.", nil, nil),
		unfolded: prometheus.NewDesc("marquee_finance_unfolded_deltas",
			"Changes of figures that are not folded into the rollups yet.", nil, nil),
	}}
}

type rollupMetrics struct {
	service                        *Service
	differences, checked, unfolded *prometheus.Desc
}

// Describe names the metrics.
func (m *rollupMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.differences
	out <- m.checked
	out <- m.unfolded
}

// Collect reads them; a database that does not answer leaves them out.
func (m *rollupMetrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	last, err := m.service.db.RollupGetLastCheck(ctx, m.service.deps.Pool)
	if err != nil {
		return
	}
	out <- prometheus.MustNewConstMetric(m.differences, prometheus.GaugeValue, float64(last.Differences))
	out <- prometheus.MustNewConstMetric(m.checked, prometheus.GaugeValue, last.CheckedAt)
	out <- prometheus.MustNewConstMetric(m.unfolded, prometheus.GaugeValue, float64(last.Unfolded))
}
