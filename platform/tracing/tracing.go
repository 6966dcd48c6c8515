// Package tracing follows a request through the process, the database, the gateways and the jobs that it inserts, and
// hands what it saw to a collector by OTLP over HTTP.
//
// A span tells the template of a route, the name of a query, the host of a gateway, the kind of a job, statuses and
// times. What people sent, arguments of statements, addresses with their queries, and texts of errors, which may quote
// any of these, are in none.
package tracing

import (
	"context"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config is what New needs.
type Config struct {
	Endpoint string            // base URL of the collector, such as http://127.0.0.1:4318; spans go to its /v1/traces
	Headers  map[string]string // of each delivery, such as a key; secret
	Ratio    float64           // of the traces that begin here, how many are recorded: 0 to 1
	Service  string            // service.name
	Version  string            // service.version
	Log      *slog.Logger
}

// Tracer records spans. A process without one traces nothing, and pays nothing for it.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New makes a tracer that delivers in the background; nothing waits for the collector, and what it does not take in
// time is lost. Close it.
func New(cfg Config) *Tracer {
	return newTracer(cfg, sdktrace.WithBatcher(otlptrace.NewUnstarted(newCollector(cfg))))
}

func newTracer(cfg Config, processor sdktrace.TracerProviderOption) *Tracer {
	provider := sdktrace.NewTracerProvider(processor,
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(cfg.Ratio))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", cfg.Service), attribute.String("service.version", cfg.Version))),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer("marquee")}
}

// Close delivers what is recorded, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Flush delivers what is recorded so far, until ctx ends.
func (t *Tracer) Flush(ctx context.Context) error { return t.provider.ForceFlush(ctx) }

// TraceID is that of the trace that the context is in; "" where none is recorded.
func TraceID(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		return span.TraceID().String()
	}
	return ""
}

// propagator writes and reads traceparent alone: baggage would carry what callers put into it.
var propagator = propagation.TraceContext{}

// Request is the span of a request that is answered.
type Request struct{ span trace.Span }

// StartRequest begins the span of a request. Of a trusted caller the trace goes on that its traceparent names.
func (t *Tracer) StartRequest(r *http.Request, trusted bool) (context.Context, Request) {
	ctx := r.Context()
	if trusted {
		ctx = propagator.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	return ctx, Request{span}
}

// End ends the span: the method, the template of the route, and the status of the answer.
func (r Request) End(method, route string, status int) {
	if r.span.IsRecording() {
		r.span.SetName(method + " " + route)
		r.span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
			attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			r.span.SetStatus(codes.Error, "")
		}
	}
	r.span.End()
}
