package tracing

import (
	"context"
	"errors"
	"net"
	"net/http"
	"regexp"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Transport returns next with a span for each request of a service. The service is given the traceparent, which says
// nothing but two random numbers.
func (t *Tracer) Transport(service string, next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return traced{next, service, t.tracer}
}

type traced struct {
	http.RoundTripper
	service string
	tracer  trace.Tracer
}

// RoundTrip implements http.RoundTripper.
func (t traced) RoundTrip(r *http.Request) (*http.Response, error) {
	if !isRecorded(r.Context()) {
		return t.RoundTripper.RoundTrip(r)
	}
	template := templateOf(r.URL.Path)
	ctx, span := t.tracer.Start(r.Context(), t.service+" "+r.Method+" "+template,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("peer.service", t.service), attribute.String("http.request.method", r.Method),
			attribute.String("server.address", r.URL.Hostname()), attribute.String("url.template", template)))
	defer span.End()
	r = r.Clone(ctx) // whose header is not the caller's
	r.Header.Set(parentKey, parentIn(ctx))
	res, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		fail(span, err)
		return res, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", res.StatusCode))
	if res.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return res, nil
}

// word is a part of a path that is one of an API: payment_intents, pixQrCode, v3. Ids of gateways have digits, or
// capitals behind an underscore.
var word = regexp.MustCompile(`^(?:v\d|[a-z]{1,30}|[a-z]+(?:_[a-z]+){1,4}|[a-z]+(?:[A-Z][a-z]+){1,4})$`)

// longestWord is that of a part of a path that is shown.
const longestWord = 40

// templateOf is a path without what is of one record.
func templateOf(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part != "" && (len(part) > longestWord || !word.MatchString(part)) {
			parts[i] = "{id}"
		}
	}
	return strings.Join(parts, "/")
}

// kindOf is an error in a word.
func kindOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return "other"
}
