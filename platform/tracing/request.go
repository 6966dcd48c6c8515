package tracing

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Request is the span of a request that is served; the zero value is none.
type Request struct{ span trace.Span }

// StartRequest begins the span of a request and returns the request in it. The trace that its traceparent names goes on
// where its peer is trusted. That of anybody else is linked alone: it decides neither whether its request is recorded
// nor in what trace it is found.
func (t *Tracer) StartRequest(r *http.Request, trusted bool) (*http.Request, Request) {
	if t == nil {
		return r, Request{}
	}
	ctx, options := r.Context(), []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	if parent := parentOf(ctx, traceparent(r.Header)); parent.IsValid() {
		if trusted {
			ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
		} else {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: parent}))
		}
	}
	ctx, span := t.tracer.Start(ctx, "request", options...)
	return r.WithContext(ctx), Request{span}
}

// traceparent is the one of a request; "" where it has none, or several, of which none can be the right one.
func traceparent(h http.Header) string {
	if all := h.Values(parentKey); len(all) == 1 {
		return all[0]
	}
	return ""
}

// End ends the span with the method, the template of the route, and the status of the response.
func (r Request) End(method, route string, status int) {
	if r.span == nil {
		return
	}
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
