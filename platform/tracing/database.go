package tracing

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Database returns a tracer of statements, for a pool. A statement has a span within one alone: what the process asks
// for itself would each be a trace.
func (t *Tracer) Database() pgx.QueryTracer { return database{t.tracer} }

type database struct{ tracer trace.Tracer }

var (
	_ pgx.BatchTracer    = database{}
	_ pgx.CopyFromTracer = database{}
)

// TraceQueryStart implements pgx.QueryTracer.
func (d database) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx
	}
	return d.start(ctx, queryName(data.SQL))
}

// TraceQueryEnd implements pgx.QueryTracer.
func (database) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	end(ctx, data.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (d database) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx
	}
	var names []string
	for _, query := range data.Batch.QueuedQueries[:min(len(data.Batch.QueuedQueries), mostNamed)] {
		names = append(names, queryName(query.SQL))
	}
	ctx = d.start(ctx, strings.Join(names, ", "))
	trace.SpanFromContext(ctx).SetAttributes(attribute.Int("db.operation.batch.size", data.Batch.Len()))
	return ctx
}

// mostNamed is how many statements of a batch a span names.
const mostNamed = 10

// TraceBatchQuery implements pgx.BatchTracer.
func (database) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (database) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	end(ctx, data.Err)
}

// TraceCopyFromStart implements pgx.CopyFromTracer.
func (d database) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromStartData) context.Context {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx
	}
	return d.start(ctx, "COPY "+strings.Join(data.TableName, "."))
}

// TraceCopyFromEnd implements pgx.CopyFromTracer.
func (database) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromEndData) {
	end(ctx, data.Err)
}

// statementKey marks the contexts of statements, so that none ends the span that it is in.
type statementKey struct{}

func (d database) start(ctx context.Context, name string) context.Context {
	ctx, span := d.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", "postgresql")))
	return context.WithValue(ctx, statementKey{}, span)
}

// end ends the span of a statement. Of an error it tells the code: the text may quote an argument.
func end(ctx context.Context, err error) {
	span, ok := ctx.Value(statementKey{}).(trace.Span)
	if !ok {
		return
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		span.SetStatus(codes.Error, "")
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			span.SetAttributes(attribute.String("db.response.status_code", refused.Code))
		}
	}
	span.End()
}

var (
	named   = regexp.MustCompile(`^\s*-- name: (\w+) `)
	command = regexp.MustCompile(`^\s*([A-Za-z]+)`)
)

// queryName is the name that sqlc's queries have, else the first word of a statement: never more of it, since a filter
// of a client may stand in its text.
func queryName(sql string) string {
	if m := named.FindStringSubmatch(sql); m != nil {
		return m[1]
	}
	if m := command.FindStringSubmatch(sql); m != nil {
		return strings.ToUpper(m[1])
	}
	return "statement"
}
