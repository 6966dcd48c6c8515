package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Clients are the figures of the services that a process asks over HTTP.
type Clients struct{ took *prometheus.HistogramVec }

// NewClients registers them.
func NewClients(reg prometheus.Registerer) *Clients {
	c := &Clients{took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "marquee_gateway_request_seconds",
		Help:    "Time until a gateway answered a request, by its status (2xx, 4xx, 429, 5xx; none: it did not answer).",
		Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 60},
	}, []string{"gateway", "result"})}
	reg.MustRegister(c.took)
	return c
}

// Transport returns next, nil being http.DefaultTransport, with each request of the gateway observed.
func (c *Clients) Transport(gateway string, next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	for _, result := range []string{noReply, "2xx", "4xx", "429", "5xx"} {
		c.took.WithLabelValues(gateway, result)
	}
	return observed{next, gateway, c.took}
}

const noReply = "none"

type observed struct {
	http.RoundTripper
	gateway string
	took    *prometheus.HistogramVec
}

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := time.Now()
	res, err := o.RoundTripper.RoundTrip(r)
	result := noReply
	if err == nil {
		result = resultOf(res.StatusCode)
	}
	o.took.WithLabelValues(o.gateway, result).Observe(time.Since(begun).Seconds())
	return res, err
}

// resultOf is the class of a status; what rests the client stands apart.
func resultOf(status int) string {
	if status == http.StatusTooManyRequests {
		return "429"
	}
	return strconv.Itoa(status/100) + "xx"
}
