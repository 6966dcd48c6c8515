package resource

import "github.com/prometheus/client_golang/prometheus"

// UnknownFields counts the fields in filters and sorts that the collection does
// not show. The answer never names them (docs/contract/filters.md, Paths). Register
// it with the process' metrics.
var UnknownFields = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "marquee_query_unknown_fields_total", Help: "Fields in filters and sorts that the collection does not show.",
}, []string{"collection"})

func countUnknown(collection string, n int) {
	if n > 0 {
		UnknownFields.WithLabelValues(collection).Add(float64(n))
	}
}
