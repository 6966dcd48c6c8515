package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// fresh is how long figures stand that were collected: whoever scrapes more often, or with others, gets them again.
	fresh = 5 * time.Second
	// readTime bounds what a scrape reads.
	readTime = 5 * time.Second
)

// Gauge tells a figure, with the values of its labels.
type Gauge func(d *prometheus.Desc, value float64, labels ...string)

// NewFigures collects gauges that are read from the database, at most once in 5 s as Cached. Read has 5 s; what it
// fails to read is left out, and logged. It makes a few queries that an index bounds: every process may be scraped.
func NewFigures(log *slog.Logger, read func(ctx context.Context, gauge Gauge) error,
	descs ...*prometheus.Desc,
) prometheus.Collector {
	return Cached(figures{log: log, read: read, descs: descs})
}

type figures struct {
	log   *slog.Logger
	read  func(ctx context.Context, gauge Gauge) error
	descs []*prometheus.Desc
}

// Describe implements prometheus.Collector.
func (f figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range f.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (f figures) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	err := f.read(ctx, func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	})
	if err != nil {
		f.log.WarnContext(ctx, "figures left out of the metrics", slog.Any("error", err))
	}
}

// Cached has a collector collect once in 5 s at most, also what failed: of those who scrape at a time one asks, and
// the others wait for it.
func Cached(c prometheus.Collector) prometheus.Collector { return &cached{Collector: c} }

type cached struct {
	prometheus.Collector

	mu      sync.Mutex
	at      time.Time
	metrics []prometheus.Metric
}

// Collect implements prometheus.Collector.
func (c *cached) Collect(to chan<- prometheus.Metric) {
	for _, m := range c.collect() {
		to <- m
	}
}

func (c *cached) collect() []prometheus.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.IsZero() && time.Since(c.at) < fresh {
		return c.metrics
	}
	found := make(chan prometheus.Metric)
	go func() {
		defer close(found)
		c.Collector.Collect(found)
	}()
	var metrics []prometheus.Metric
	for m := range found {
		metrics = append(metrics, m)
	}
	c.metrics, c.at = metrics, time.Now()
	return metrics
}
