package app

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/platform/telemetry"
	"marquee/platform/tracing"
)

// observed is by what operators see what a process does with what it stands on. It is there before all else.
type observed struct {
	registry *prometheus.Registry
	pools    *telemetry.Pools
	clients  *telemetry.Clients
	mails    *mail.Metrics
	tracer   *tracing.Tracer // nil where nothing is traced
}

// newObserved makes it for the process that has this name in traces.
func newObserved(cfg Config, service string, log *slog.Logger) (observed, error) {
	registry := telemetry.NewRegistry()
	tracer, err := cfg.Traces.tracer(service, log, registry)
	return observed{
		registry: registry, pools: telemetry.NewPools(registry), clients: telemetry.NewClients(registry),
		mails: mail.NewMetrics(registry), tracer: tracer,
	}, err
}

// transport is how a gateway is called.
func (o observed) transport(gateway string) http.RoundTripper {
	return o.tracer.Transport(gateway, o.clients.Transport(gateway, nil))
}

// sender is s, observed.
func (o observed) sender(s mail.Sender) mail.Sender {
	if s = o.mails.Count(s); o.tracer != nil {
		s = tracedMail{s, o.tracer}
	}
	return s
}

// gate returns the gate of a pool whose waits are observed.
func (o observed) gate(pool string, g *postgres.Gate) *postgres.Gate {
	if g != nil {
		g.Waited = o.pools.Waited(pool)
	}
	return g
}

var databaseGauge = prometheus.NewDesc("marquee_database_up", "1 while the database answers.", nil, nil)

// registerMetrics registers what is told of the database and by the modules. What is read for it comes over the
// connections of GET /health, which nothing else takes, and at most once in some seconds.
func (a *App) registerMetrics() {
	telemetry.RegisterPool(a.metrics, a.db.pooled)
	a.metrics.MustRegister(resource.UnknownFields, telemetry.NewClockGauge(a.clock.Ahead), a.db.reads)
	a.metrics.MustRegister(a.modules.catalog.Metrics()...)
	a.metrics.MustRegister(a.modules.payments.Metrics(a.db.health)...)
	a.metrics.MustRegister(a.modules.tickets.Metrics(a.db.health)...)
	a.metrics.MustRegister(telemetry.Cached(a.modules.invariants), jobs.Figures(a.db.health, a.log))
	for _, c := range a.modules.finance.Metrics() {
		a.metrics.MustRegister(telemetry.Cached(c))
	}
	a.metrics.MustRegister(telemetry.NewFigures(a.log, func(ctx context.Context, gauge telemetry.Gauge) error {
		up := 0.0
		if ping(ctx, a.db.health) == nil {
			up = 1
		}
		gauge(databaseGauge, up)
		return nil
	}, databaseGauge))
}
