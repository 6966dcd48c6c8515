package replica

import "github.com/prometheus/client_golang/prometheus"

var (
	upGauge  = prometheus.NewDesc("marquee_replica_up", "1 while the replica serves reads.", []string{"replica"}, nil)
	lagGauge = prometheus.NewDesc("marquee_replica_lag_seconds",
		"How far the replica is behind the primary; of one that does not answer nothing is told.", []string{"replica"}, nil)
	repeatedCounter = prometheus.NewDesc("marquee_replica_reads_repeated_total",
		"Reads that failed on a replica, or found nothing there, and were repeated on the primary.", nil, nil)
)

// Describe implements prometheus.Collector.
func (*Set) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{upGauge, lagGauge, repeatedCounter} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s *Set) Collect(to chan<- prometheus.Metric) {
	for _, st := range s.Standings() {
		up := 0.0
		if st.State == OK {
			up = 1
		}
		to <- prometheus.MustNewConstMetric(upGauge, prometheus.GaugeValue, up, st.Name)
		if st.State != Away {
			to <- prometheus.MustNewConstMetric(lagGauge, prometheus.GaugeValue, st.Lag.Seconds(), st.Name)
		}
	}
	to <- prometheus.MustNewConstMetric(repeatedCounter, prometheus.CounterValue, float64(s.repeated.Load()))
}
