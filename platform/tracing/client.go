package tracing

import (
	"net/http"
	"regexp"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Transport returns next with a span for each request of the service. The service does not hear of the trace.
func (t *Tracer) Transport(service string, next http.RoundTripper) http.RoundTripper {
	return traced{next, service, t.tracer}
}

type traced struct {
	http.RoundTripper
	service string
	tracer  trace.Tracer
}

// RoundTrip implements http.RoundTripper.
func (t traced) RoundTrip(r *http.Request) (*http.Response, error) {
	if !trace.SpanFromContext(r.Context()).IsRecording() {
		return t.RoundTripper.RoundTrip(r)
	}
	template := templateOf(r.URL.Path)
	ctx, span := t.tracer.Start(r.Context(), t.service+" "+r.Method+" "+template,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("peer.service", t.service), attribute.String("http.request.method", r.Method),
			attribute.String("server.address", r.URL.Hostname()), attribute.String("url.template", template)))
	defer span.End()
	res, err := t.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		span.SetStatus(codes.Error, "") // the text has the address, whose query names people
		return res, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", res.StatusCode))
	if res.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return res, nil
}

// word is a part of a path that is one of an API's own. Ids of gateways have digits.
var word = regexp.MustCompile(`^(v\d|[A-Za-z][A-Za-z_-]{0,30})$`)

// templateOf is a path without what is about one record.
func templateOf(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part != "" && !word.MatchString(part) {
			parts[i] = "{id}"
		}
	}
	return strings.Join(parts, "/")
}
