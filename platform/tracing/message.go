package tracing

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// message is one of protobuf as it is written, field by field, by the numbers of OTLP's
// opentelemetry/proto/trace/v1/trace.proto and the files beside it (docs/decisions/traces.md says why here).
type message []byte

func (m message) text(field protowire.Number, s string) message {
	if s == "" {
		return m
	}
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), s)
}

func (m message) bytes(field protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

func (m message) number(field protowire.Number, n uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), n)
}

func (m message) fixed64(field protowire.Number, n uint64) message {
	return protowire.AppendFixed64(protowire.AppendTag(m, field, protowire.Fixed64Type), n)
}

func (m message) fixed32(field protowire.Number, n uint32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, field, protowire.Fixed32Type), n)
}

func (m message) attributes(field protowire.Number, all []attribute.KeyValue) message {
	for _, a := range all {
		m = m.bytes(field, keyValue(a))
	}
	return m
}

// exportRequest is an ExportTraceServiceRequest of spans of one process and one scope.
func exportRequest(spans []sdktrace.ReadOnlySpan) message {
	of := spans[0]
	resource := message(nil).attributes(1, of.Resource().Attributes())
	scope := message(nil).bytes(1, scopeOf(of.InstrumentationScope()))
	for _, s := range spans {
		scope = scope.bytes(2, spanOf(s))
	}
	return message(nil).bytes(1, message(nil).bytes(1, resource).bytes(2, scope))
}

func scopeOf(s instrumentation.Scope) message { return message(nil).text(1, s.Name).text(2, s.Version) }

// The bits of a span's flags above those of its trace: that it is known whether the parent was of another process, and
// that it was.
const (
	remoteIsKnown = 0x100
	isRemote      = 0x200
)

func flagsOf(trace byte, remote bool) uint32 {
	flags := uint32(trace) | remoteIsKnown
	if remote {
		flags |= isRemote
	}
	return flags
}

func spanOf(s sdktrace.ReadOnlySpan) message {
	at := s.SpanContext()
	trace, span := at.TraceID(), at.SpanID()
	m := message(nil).bytes(1, trace[:]).bytes(2, span[:])
	if parent := s.Parent(); parent.HasSpanID() {
		id := parent.SpanID()
		m = m.bytes(4, id[:])
	}
	m = m.text(5, s.Name()).number(6, uint64(s.SpanKind())) //nolint:gosec // the numbers of OTLP, none below 0
	m = m.fixed64(7, uint64(s.StartTime().UnixNano()))      //nolint:gosec // it is after 1970
	m = m.fixed64(8, uint64(s.EndTime().UnixNano()))        //nolint:gosec // as above
	m = m.attributes(9, s.Attributes())
	for _, l := range s.Links() {
		trace, span := l.SpanContext.TraceID(), l.SpanContext.SpanID()
		m = m.bytes(13, message(nil).bytes(1, trace[:]).bytes(2, span[:]).
			fixed32(6, flagsOf(byte(l.SpanContext.TraceFlags()), l.SpanContext.IsRemote())))
	}
	if s.Status().Code == codes.Error {
		m = m.bytes(15, message(nil).number(3, statusError))
	}
	return m.fixed32(16, flagsOf(byte(at.TraceFlags()), s.Parent().IsRemote()))
}

// statusError is Status.STATUS_CODE_ERROR.
const statusError = 2

// keyValue is an attribute; what is neither a number nor a truth is a text.
func keyValue(a attribute.KeyValue) message {
	var value message
	switch a.Value.Type() {
	case attribute.BOOL:
		value = value.number(2, protowire.EncodeBool(a.Value.AsBool()))
	case attribute.INT64:
		value = value.number(3, uint64(a.Value.AsInt64())) //nolint:gosec // as protobuf writes what is below 0
	default:
		value = value.bytes(1, []byte(a.Value.String()))
	}
	return message(nil).text(1, string(a.Key)).bytes(2, value)
}
