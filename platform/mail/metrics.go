package mail

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count the mails that a process hands to the mail server. Nil counts none.
type Metrics struct {
	mails *prometheus.CounterVec
	took  prometheus.Histogram
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		mails: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "marquee_mails_total", Help: "Mails handed to the mail server, by whether it took them.",
		}, []string{"result"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "marquee_mail_seconds", Help: "How long the mail server took for a mail.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 15},
		}),
	}
	reg.MustRegister(m.mails, m.took)
	m.mails.WithLabelValues(resultSent)
	m.mails.WithLabelValues(resultFailed)
	return m
}

// What becomes of a mail; one that failed is tried again by its job.
const (
	resultSent   = "sent"
	resultFailed = "failed"
)

// Count returns a sender whose mails count.
func (m *Metrics) Count(s Sender) Sender {
	if m == nil {
		return s
	}
	return counted{s, m}
}

type counted struct {
	Sender
	metrics *Metrics
}

// Send implements Sender.
func (c counted) Send(ctx context.Context, m Message) error {
	begun := time.Now()
	err := c.Sender.Send(ctx, m)
	c.metrics.took.Observe(time.Since(begun).Seconds())
	result := resultSent
	if err != nil {
		result = resultFailed
	}
	c.metrics.mails.WithLabelValues(result).Inc()
	return err
}
