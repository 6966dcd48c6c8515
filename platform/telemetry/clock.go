package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// NewClockGauge tells how far the machine's clock is ahead of the database's.
func NewClockGauge(ahead func() time.Duration) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "marquee_clock_ahead_seconds",
		Help: "How far the machine's clock is ahead of the database's, by which the process corrects its own.",
	}, func() float64 { return ahead().Seconds() })
}
