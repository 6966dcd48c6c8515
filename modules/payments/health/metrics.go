package health

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	openGauge = prometheus.NewDesc("marquee_intents_open", "Orders to a gateway whose outcome is open.",
		[]string{"gateway", "kind"}, nil)
	notKnownGauge = prometheus.NewDesc("marquee_intents_not_known",
		"Orders of which the gateway told nothing that can be used.", []string{"gateway", "kind"}, nil)
	oldestGauge = prometheus.NewDesc("marquee_intents_oldest_seconds", "Age of the oldest open order.",
		[]string{"gateway", "kind"}, nil)

	failingGauge = prometheus.NewDesc("marquee_gateway_failing_seconds",
		"Since how long the gateway gives no answer that can be used; 0 when it does.", []string{"gateway"}, nil)
	unaskedGauge = prometheus.NewDesc("marquee_gateway_unasked_seconds",
		"Since how long nobody has asked a gateway that fails; 0 when it does not.", []string{"gateway"}, nil)
	suspectGauge = prometheus.NewDesc("marquee_gateway_suspect",
		"1 while too much is missing at the gateway, and nothing is ended by it.", []string{"gateway"}, nil)
)

// scrapeTime bounds what a scrape asks of the database.
const scrapeTime = 5 * time.Second

// Describe names the metrics.
func (*Health) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		openGauge, notKnownGauge, oldestGauge, failingGauge, unaskedGauge, suspectGauge,
	} {
		to <- d
	}
}

// Collect counts the open orders, whichever process has them, and tells how the gateways
// are. While the database is away it tells nothing.
func (h *Health) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	now := h.deps.Clock.Now()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	orders, err := h.db.IntentCountOpen(ctx, h.deps.Pool)
	if err != nil {
		h.deps.Log.WarnContext(ctx, "intents not counted", slog.Any("error", err))
		return
	}
	for _, o := range orders {
		gauge(openGauge, float64(o.Open), string(o.Gateway), string(o.Kind))
		gauge(notKnownGauge, float64(o.NotKnown), string(o.Gateway), string(o.Kind))
		gauge(oldestGauge, now.Sub(o.Oldest).Seconds(), string(o.Gateway), string(o.Kind))
	}
	states, err := h.db.GatewayStateList(ctx, h.deps.Pool)
	if err != nil {
		h.deps.Log.WarnContext(ctx, "states of gateways not read", slog.Any("error", err))
		return
	}
	for _, state := range states {
		failing, unasked, suspect := 0.0, 0.0, 0.0
		if state.FailingSince != nil {
			since := *state.FailingSince
			if state.FailedAt != nil {
				since = *state.FailedAt
			}
			failing, unasked = now.Sub(*state.FailingSince).Seconds(), now.Sub(since).Seconds()
		}
		if state.SuspectSince != nil {
			suspect = 1
		}
		gauge(failingGauge, failing, string(state.Gateway))
		gauge(unaskedGauge, unasked, string(state.Gateway))
		gauge(suspectGauge, suspect, string(state.Gateway))
	}
}
