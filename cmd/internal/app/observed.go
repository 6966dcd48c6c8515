package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

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

// flushTime is how long a process that ends delivers spans, within the time that it has to end in.
const flushTime = 2 * time.Second

// header is one of TRACES_HEADERS.
var header = regexp.MustCompile("^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([\\x20-\\x7e]+)$")

// headers are those of each delivery. The error names none of them, which are secret.
func (t Traces) headers() (map[string]string, error) {
	all := map[string]string{}
	for _, text := range t.Headers {
		m := header.FindStringSubmatch(text)
		if m == nil {
			return nil, errors.New("it is not of the form name=value")
		}
		all[m[1]] = strings.TrimSpace(m[2])
	}
	return all, nil
}

// tracer records the spans of the process that has this name in traces; nil where nothing is traced.
func (t Traces) tracer(service string, log *slog.Logger, metrics prometheus.Registerer) (*tracing.Tracer, error) {
	if t.URL == "" || service == "" {
		return nil, nil //nolint:nilnil // of tracing.Tracer nil is one that does nothing
	}
	headers, err := t.headers()
	if err != nil {
		return nil, err
	}
	return tracing.New(tracing.Config{
		URL: t.URL, Headers: headers, Ratio: t.Ratio, Service: service, Version: Version(), Log: log, Metrics: metrics,
	}), nil
}

// flush delivers the last spans of a process that ends, in what is left of the time that it has.
//
//nolint:contextcheck // the contexts of such a process have ended
func (a *App) flush() {
	most := flushTime
	if by, draining := a.endBy.Load().(time.Time); draining {
		most = min(most, time.Until(by))
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	a.observed.tracer.Close(ctx)
}

// tracedMail is a sender whose mails have a span each. Nobody's address is in it.
type tracedMail struct {
	mail.Sender
	tracer *tracing.Tracer
}

// Send implements mail.Sender.
func (t tracedMail) Send(ctx context.Context, m mail.Message) error {
	ctx, end := t.tracer.StartCall(ctx, "send mail")
	err := t.Sender.Send(ctx, m)
	end(err)
	return err
}
