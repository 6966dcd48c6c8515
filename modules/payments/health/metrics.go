package health

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	failingGauge = prometheus.NewDesc("marquee_gateway_failing_seconds", "Since how long the gateway gives no answer that can be used; 0 when it does.", []string{"gateway"}, nil)
	unaskedGauge = prometheus.NewDesc("marquee_gateway_unasked_seconds", "Since how long nobody has asked a gateway that fails; 0 when it does not.", []string{"gateway"}, nil)
	suspectGauge = prometheus.NewDesc("marquee_gateway_suspect", "1 while too much is missing at the gateway, and nothing is ended by it.", []string{"gateway"}, nil)
)

// scrapeTime bounds what a scrape asks of the database.
const scrapeTime = 5 * time.Second

// Describe names the metrics.
func (*Health) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{failingGauge, unaskedGauge, suspectGauge} {
		to <- d
	}
}

// Collect tells how the gateways are. While the database is away it tells nothing.
func (h *Health) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	now := h.deps.Clock.Now()
	states, err := h.db.GatewayStateList(ctx, h.deps.Pool)
	if err != nil {
		h.deps.Log.WarnContext(ctx, "states of gateways not read", slog.Any("error", err))
		return
	}
	for _, state := range states {
		failing, unasked, suspect := 0.0, 0.0, 0.0
		if state.FailingSince != nil {
			asked := *state.FailingSince
			if state.FailedAt != nil {
				asked = *state.FailedAt
			}
			failing, unasked = now.Sub(*state.FailingSince).Seconds(), now.Sub(asked).Seconds()
		}
		if state.SuspectSince != nil {
			suspect = 1
		}
		for d, v := range map[*prometheus.Desc]float64{failingGauge: failing, unaskedGauge: unasked, suspectGauge: suspect} {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, state.Gateway)
		}
	}
}
