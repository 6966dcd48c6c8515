// Package tracing follows a request through the process, the database, the gateways and the jobs that it inserts, and
// delivers what it saw to a collector by OTLP over HTTP (docs/operations.md, Traces).
//
// A span tells the template of a route, the name of a query, the host of a gateway, the kind of a job, statuses and
// times. What people sent, arguments of statements, addresses with their queries, and texts of errors, which may quote
// any of these, are in none.
package tracing

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The bounds of what waits for the collector: beyond them spans are lost, and nobody waits.
const (
	queued     = 4096 // spans
	batched    = 512  // spans of one delivery
	batchDelay = 2e9  // nanoseconds until fewer are delivered
)

// Config is what New needs.
type Config struct {
	URL     string                // base address of the collector, whose /v1/traces is given the spans
	Headers map[string]string     // of each delivery, such as a key; secret
	Ratio   float64               // of the traces that begin here, how many are recorded: above 0, to 1
	Service string                // service.name
	Version string                // service.version
	Log     *slog.Logger          // tells of spans that are lost
	Metrics prometheus.Registerer // counts spans; nil: nobody does
}

// Tracer records spans. A process that traces nothing has none: every method does nothing for nil, and costs nothing.
type Tracer struct {
	provider  *sdktrace.TracerProvider
	tracer    trace.Tracer
	collector *collector
}

// New makes a tracer that delivers in the background. Nothing waits for the collector, and what it does not take in
// time is lost. Close it.
func New(cfg Config) *Tracer {
	c := newCollector(cfg)
	process := sdktrace.NewBatchSpanProcessor(c, sdktrace.WithMaxQueueSize(queued),
		sdktrace.WithMaxExportBatchSize(batched), sdktrace.WithBatchTimeout(batchDelay),
		sdktrace.WithExportTimeout(exportTime))
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(counting{process, c.spans.recorded}),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(cfg.Ratio))),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: mostText, AttributeCountLimit: mostParts, EventCountLimit: mostParts,
			LinkCountLimit: mostParts, AttributePerEventCountLimit: mostParts, AttributePerLinkCountLimit: mostParts,
		}),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", cfg.Service), attribute.String("service.version", cfg.Version))),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer("marquee"), collector: c}
}

// A span holds at most so many bytes of a text, and so many attributes or links.
const (
	mostText  = 256
	mostParts = 32
)

// counting counts the spans that are recorded.
type counting struct {
	sdktrace.SpanProcessor
	recorded prometheus.Counter
}

// OnEnd implements sdktrace.SpanProcessor.
func (c counting) OnEnd(s sdktrace.ReadOnlySpan) {
	c.recorded.Inc()
	c.SpanProcessor.OnEnd(s)
}

// Close delivers what is recorded, each batch in one try, until ctx ends. What is left then is lost.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil {
		return
	}
	t.collector.hurry()
	defer t.collector.abort()
	_ = t.provider.Shutdown(ctx) // an error says that ctx has ended
}

// Flush delivers what is recorded so far, until ctx ends.
func (t *Tracer) Flush(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.ForceFlush(ctx)
}

// StartCall begins the span of what the process asks of another program, by a name that holds nothing of anybody's.
// End takes what came of it, of which it tells whether it is an error. Outside of a recorded span it is none.
func (t *Tracer) StartCall(ctx context.Context, name string) (_ context.Context, end func(error)) {
	if t == nil || !isRecorded(ctx) {
		return ctx, func(error) {}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient))
	return ctx, func(err error) {
		if err != nil {
			fail(span, err)
		}
		span.End()
	}
}

// Annotate adds a word of ours, such as a result, to the span that the context is in.
func Annotate(ctx context.Context, key, word string) {
	if isRecorded(ctx) {
		trace.SpanFromContext(ctx).SetAttributes(attribute.String(key, word))
	}
}

// TraceID is that of the trace that the context is in; "" where none is recorded.
func TraceID(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		return span.TraceID().String()
	}
	return ""
}

// isRecorded reports whether the context is in a span that is recorded: what the process does by itself would each be
// a trace.
func isRecorded(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// fail marks a span as one of an error, and tells its kind: the text may quote what nobody is to read.
func fail(span trace.Span, err error) {
	span.SetStatus(codes.Error, "")
	span.SetAttributes(attribute.String("error.type", kindOf(err)))
}

// parentKey is the header, and the member of a job's metadata, that names a trace and a span of it.
const parentKey = "traceparent"

var propagator = propagation.TraceContext{}

// parentOf is the span that a traceparent names; not valid where it names none. What callers may say beside it
// (tracestate, baggage) is not read: nobody bounds what stands there.
func parentOf(ctx context.Context, traceparent string) trace.SpanContext {
	ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{}) // which stays where there is none
	return trace.SpanContextFromContext(propagator.Extract(ctx, propagation.MapCarrier{parentKey: traceparent}))
}

// parentIn is a traceparent that names the span that the context is in; "" outside of a recorded one.
func parentIn(ctx context.Context) string {
	if !isRecorded(ctx) {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagator.Inject(ctx, carrier)
	return carrier[parentKey]
}
