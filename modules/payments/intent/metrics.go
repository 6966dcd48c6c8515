package intent

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	openGauge     = prometheus.NewDesc("marquee_intents_open", "Orders to a gateway whose outcome is open.", []string{"gateway", "kind"}, nil)
	notKnownGauge = prometheus.NewDesc("marquee_intents_not_known", "Orders of which the gateway told nothing that can be used.", []string{"gateway", "kind"}, nil)
	oldestGauge   = prometheus.NewDesc("marquee_intents_oldest_seconds", "Age of the oldest open order.", []string{"gateway", "kind"}, nil)
)

// scrapeTime bounds what a scrape asks of the database.
const scrapeTime = 5 * time.Second

// Describe names the metrics.
func (s *Service) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{openGauge, notKnownGauge, oldestGauge} {
		to <- d
	}
	s.health.Describe(to)
}

// Collect counts the open intents, whichever process has them, and tells how the gateways
// are. While the database is away it tells nothing.
func (s *Service) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	now := s.deps.Clock.Now()
	totals, err := s.db.IntentTotals(ctx, s.deps.Pool)
	if err != nil {
		s.deps.Log.WarnContext(ctx, "intents not counted", slog.Any("error", err))
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, t := range totals {
		gauge(openGauge, float64(t.Open), t.Gateway, t.Kind)
		gauge(notKnownGauge, float64(t.NotKnown), t.Gateway, t.Kind)
		gauge(oldestGauge, now.Sub(t.Oldest).Seconds(), t.Gateway, t.Kind)
	}
	s.health.Collect(to)
}
