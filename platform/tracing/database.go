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

// Database returns a tracer of statements, for a pool; nil where nothing is traced. A statement has a span within one
// alone.
func (t *Tracer) Database() pgx.QueryTracer {
	if t == nil {
		return nil
	}
	return database{t.tracer}
}

type database struct{ tracer trace.Tracer }

var (
	_ pgx.BatchTracer    = database{}
	_ pgx.CopyFromTracer = database{}
)

// TraceQueryStart implements pgx.QueryTracer.
func (d database) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !isRecorded(ctx) {
		return ctx
	}
	return d.start(ctx, queryName(data.SQL), 0)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (database) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	end(ctx, data.Err)
}

// mostNamed is how many statements of a batch a span names.
const mostNamed = 8

// TraceBatchStart implements pgx.BatchTracer.
func (d database) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if !isRecorded(ctx) {
		return ctx
	}
	var names []string
	for _, query := range data.Batch.QueuedQueries[:min(data.Batch.Len(), mostNamed)] {
		names = append(names, queryName(query.SQL))
	}
	return d.start(ctx, strings.Join(names, ", "), data.Batch.Len())
}

// TraceBatchQuery implements pgx.BatchTracer.
func (database) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (database) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	end(ctx, data.Err)
}

// TraceCopyFromStart implements pgx.CopyFromTracer.
func (d database) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn,
	data pgx.TraceCopyFromStartData,
) context.Context {
	if !isRecorded(ctx) {
		return ctx
	}
	return d.start(ctx, "COPY "+strings.Join(data.TableName, "."), 0)
}

// TraceCopyFromEnd implements pgx.CopyFromTracer.
func (database) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromEndData) {
	end(ctx, data.Err)
}

// statementKey marks the contexts of statements, so that none ends the span that it is in.
type statementKey struct{}

// start begins the span of a statement, or of a batch of so many.
func (d database) start(ctx context.Context, name string, batch int) context.Context {
	ctx, span := d.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", "postgresql")))
	if batch > 0 {
		span.SetAttributes(attribute.Int("db.operation.batch.size", batch))
	}
	return context.WithValue(ctx, statementKey{}, span)
}

// end ends the span of a statement. Of an error it tells the code.
func end(ctx context.Context, err error) {
	span, ok := ctx.Value(statementKey{}).(trace.Span)
	if !ok {
		return
	}
	var refused *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, pgx.ErrNoRows):
	case errors.As(err, &refused):
		span.SetStatus(codes.Error, "")
		span.SetAttributes(attribute.String("db.response.status_code", refused.Code))
	default:
		fail(span, err)
	}
	span.End()
}

var (
	named   = regexp.MustCompile(`^\s*-- name: (\w{1,80}) :[a-z]+\s`)
	command = regexp.MustCompile(`^(?:\s|--[^\n]*\n)*([A-Za-z]{1,20})\b`)
	table   = regexp.MustCompile(`\b(?i:FROM|INTO|UPDATE|TABLE)\s+([a-z_]{1,40}\.[a-z_]{1,60})\b`)
)

// queryName is the name that sqlc's queries have, else the command and the first table of a statement: never more of
// it, since a filter of a client may stand in its text.
func queryName(sql string) string {
	if m := named.FindStringSubmatch(sql); m != nil {
		return m[1]
	}
	m := command.FindStringSubmatch(sql)
	if m == nil {
		return "statement"
	}
	name := strings.ToUpper(m[1])
	if of := table.FindStringSubmatch(sql); of != nil {
		name += " " + of[1]
	}
	return name
}
