// Package collector takes spans as a collector of OpenTelemetry does, by OTLP over HTTP, for tests. It reads them with
// the types that OpenTelemetry generates of the protocol, and what it cannot read fails the test.
package collector

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"marquee/testutil/cleanup"
)

// Span is one that was delivered. Ids are hexadecimal; the parent of a root is "".
type Span struct {
	Service, Name     string
	Trace, ID, Parent string
	Kind              string // server, client, consumer
	Failed            bool
	Attributes        map[string]string // numbers in decimal
	Links             []string          // the traces that it is linked with
	Start, End        time.Time
}

// Collector keeps what is delivered to it.
type Collector struct {
	URL string // to be configured

	t      testing.TB
	mu     sync.Mutex
	spans  []Span
	text   strings.Builder
	header http.Header
}

// Start opens one until the test ends.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{t: t}
	server := httptest.NewServer(http.HandlerFunc(c.receive))
	cleanup.Add(t, server.Close)
	c.URL = server.URL
	return c
}

// Spans are those that were delivered until now, in their order.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span{}, c.spans...)
}

// Text is all that was delivered until now, as JSON: texts stand in it as they are, and the bytes of ids, among which
// any short text may be by chance, as base64.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// Header is that of the last delivery.
func (c *Collector) Header() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	assert.Equal(c.t, "POST /v1/traces", r.Method+" "+r.URL.Path)
	assert.Equal(c.t, "application/x-protobuf", r.Header.Get("Content-Type"))
	assert.Equal(c.t, "gzip", r.Header.Get("Content-Encoding"))
	packed, err := gzip.NewReader(r.Body)
	if !assert.NoError(c.t, err) {
		return
	}
	raw, err := io.ReadAll(packed)
	assert.NoError(c.t, err)
	var data tracepb.TracesData // whose form is that of an ExportTraceServiceRequest
	if !assert.NoError(c.t, proto.Unmarshal(raw, &data)) {
		return
	}
	assert.Zero(c.t, unknown(data.ProtoReflect()), "bytes that the protocol does not know")
	text, err := protojson.Marshal(&data)
	assert.NoError(c.t, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(text)
	c.header = r.Header
	for _, of := range data.GetResourceSpans() {
		service := attributes(of.GetResource().GetAttributes())["service.name"]
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, spanOf(service, s))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // and an empty message
}

// unknown counts the bytes of fields that the message and those in it do not have.
func unknown(m protoreflect.Message) int {
	n := len(m.GetUnknown())
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Kind() != protoreflect.MessageKind:
		case field.IsList():
			for i := range v.List().Len() {
				n += unknown(v.List().Get(i).Message())
			}
		default:
			n += unknown(v.Message())
		}
		return true
	})
	return n
}

func spanOf(service string, s *tracepb.Span) Span {
	span := Span{
		Service: service, Name: s.GetName(), Trace: hex.EncodeToString(s.GetTraceId()),
		ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Kind:       strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_")),
		Failed:     s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR,
		Attributes: attributes(s.GetAttributes()),
		Start:      instant(s.GetStartTimeUnixNano()), End: instant(s.GetEndTimeUnixNano()),
	}
	for _, l := range s.GetLinks() {
		span.Links = append(span.Links, hex.EncodeToString(l.GetTraceId()))
	}
	return span
}

func instant(nanoseconds uint64) time.Time {
	return time.Unix(0, int64(nanoseconds)) //nolint:gosec // of our time
}

func attributes(all []*commonpb.KeyValue) map[string]string {
	texts := map[string]string{}
	for _, a := range all {
		switch v := a.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			texts[a.GetKey()] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			texts[a.GetKey()] = strconv.FormatInt(v.IntValue, 10)
		case *commonpb.AnyValue_BoolValue:
			texts[a.GetKey()] = strconv.FormatBool(v.BoolValue)
		}
	}
	return texts
}
