package unapplied

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
)

var unappliedGauge = prometheus.NewDesc("marquee_unapplied_payments",
	"Payments that could not be applied and wait for a decision, or for an automatic refund.", []string{"kind"}, nil)

// unappliedScrape bounds the count for a scrape.
const unappliedScrape = 5 * time.Second

// unappliedMetrics counts what is open on the list of unapplied payments.
type unappliedMetrics struct {
	count func(ctx context.Context) ([]paymentsdb.UnappliedCountOpenRow, error)
	log   *slog.Logger
}

// UnappliedMetrics tells how many unapplied payments are open, by kind.
func (s *List) UnappliedMetrics() prometheus.Collector {
	return unappliedMetrics{
		log: s.deps.Log,
		count: func(ctx context.Context) ([]paymentsdb.UnappliedCountOpenRow, error) {
			return s.db.UnappliedCountOpen(ctx, s.deps.Pool)
		},
	}
}

// Describe names the metric.
func (unappliedMetrics) Describe(to chan<- *prometheus.Desc) { to <- unappliedGauge }

// Collect counts. While the database is away it tells nothing.
func (m unappliedMetrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), unappliedScrape)
	defer cancel()
	rows, err := m.count(ctx)
	if err != nil {
		m.log.WarnContext(ctx, "unapplied payments not counted", slog.Any("error", err))
		return
	}
	open := map[state.UnappliedKind]int64{}
	for _, row := range rows {
		open[row.Kind] = row.Count
	}
	for _, kind := range []state.UnappliedKind{
		state.UnappliedLate, state.UnappliedDuplicate, state.UnappliedForeign, state.UnappliedUnrefundable,
		state.UnappliedUnknown,
	} {
		to <- prometheus.MustNewConstMetric(unappliedGauge, prometheus.GaugeValue, float64(open[kind]), string(kind))
	}
}
