package webhook

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/fault"
	"marquee/platform/postgres"
	"marquee/platform/telemetry"
)

// The results of a call beside those of its event.
const (
	callRefused   = "refused"    // it is not shown to be the gateway's
	callNotStored = "not_stored" // the gateway is to send it again
)

// metrics are those of the calls that this process takes, and of the events that it applies.
type metrics struct {
	calls   *prometheus.CounterVec
	ignored *prometheus.CounterVec
	applied *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "marquee_webhooks_total", Help: "Calls of the gateways, by what became of them.",
		}, []string{"gateway", "result"}),
		ignored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "marquee_webhook_ignored_total",
			Help: "Calls of the gateways, and attempts of jobs, by which an event changed nothing, or nothing yet, by why.",
		}, []string{"gateway", "reason"}),
		applied: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "marquee_webhook_seconds",
			Help:    "Time from the receipt of a gateway's event until it was applied, at once or by a job.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 10, 60, 300, 1800, 7200},
		}, []string{"gateway"}),
	}
	for _, name := range gateway.Names() {
		for _, result := range []string{
			string(gateway.ResultApplied), string(gateway.ResultIgnored), string(gateway.ResultQueued),
			callRefused, callNotStored,
		} {
			m.calls.WithLabelValues(string(name), result)
		}
		for _, r := range gateway.Reasons {
			m.ignored.WithLabelValues(string(name), string(r.Reason))
		}
		m.applied.WithLabelValues(string(name))
	}
	return m
}

// resultOf is the result of a call, in a word.
func resultOf(r Response, err error) string {
	switch {
	case fault.Is(err, fault.KindUnauthenticated):
		return callRefused
	case err != nil:
		return callNotStored
	}
	return string(r.Result.Status)
}

// count counts a call and what it was answered.
func (m *metrics) count(name gateway.Name, r Response, err error) {
	m.calls.WithLabelValues(string(name), resultOf(r, err)).Inc()
	m.countIgnored(name, r.Result)
}

// countIgnored counts a result that changed nothing by its reason; one that changed something is not counted.
func (m *metrics) countIgnored(name gateway.Name, r gateway.Result) {
	if r.Status == gateway.ResultIgnored {
		m.ignored.WithLabelValues(string(name), string(r.Reason.Listed())).Inc()
	}
}

// observe tells how long an event took from its receipt.
func (m *metrics) observe(name gateway.Name, took time.Duration) {
	m.applied.WithLabelValues(string(name)).Observe(max(took, 0).Seconds())
}

var (
	openGauge = prometheus.NewDesc("marquee_webhook_events_open",
		"Events that are not applied: queued for a job that tries again, or waiting for a subject that nobody knows yet; "+
			"of each at most 10,000 are counted.",
		[]string{"gateway", "state"}, nil)
	oldestGauge = prometheus.NewDesc("marquee_webhook_queued_oldest_seconds",
		"Age of the oldest event that a job tries to apply; 0 where there is none.", []string{"gateway"}, nil)
)

var lastGauge = prometheus.NewDesc("marquee_webhook_last_timestamp_seconds",
	"When the gateway last called with an event of its own, unix time; left out where it has not for long.",
	[]string{"gateway"}, nil)

// Figures collects when each gateway last called.
func (s *Log) Figures(db postgres.DB) prometheus.Collector {
	return telemetry.NewFigures(s.deps.Log, func(ctx context.Context, gauge telemetry.Gauge) error {
		calls, err := s.LastCalls(ctx, db)
		for name, at := range calls {
			gauge(lastGauge, float64(at.UnixMilli())/1000, string(name))
		}
		return err
	}, lastGauge)
}

// countedEvents bounds how many events that are not applied are counted.
const countedEvents = 10_000

// Metrics are to be registered once a process; db is what their queries use.
func (s *Webhooks) Metrics(db postgres.DB) []prometheus.Collector {
	var names []string
	for _, name := range gateway.Names() {
		names = append(names, string(name))
	}
	figures := telemetry.NewFigures(s.deps.Log, func(ctx context.Context, gauge telemetry.Gauge) error {
		now := s.deps.Clock.Now()
		rows, err := s.db.ProcessedEventCountOpen(ctx, db,
			paymentsdb.ProcessedEventCountOpenParams{Gateways: names, Most: countedEvents, Now: now})
		if err != nil {
			return err
		}
		for _, row := range rows {
			gauge(openGauge, float64(row.Events), row.Gateway, row.State)
			if row.State == string(state.EventQueued) {
				gauge(oldestGauge, max(now.Sub(row.Oldest), 0).Seconds(), row.Gateway)
			}
		}
		return nil
	}, openGauge, oldestGauge)
	return []prometheus.Collector{s.metrics.calls, s.metrics.ignored, s.metrics.applied, figures}
}
