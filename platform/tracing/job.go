package tracing

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Jobs returns the middleware of a job client: a job goes on with the trace in which it was inserted, whichever process
// works it. None where nothing is traced.
func (t *Tracer) Jobs() []rivertype.Middleware {
	if t == nil {
		return nil
	}
	return []rivertype.Middleware{river.JobInsertMiddlewareFunc(insertTraced), river.WorkerMiddlewareFunc(t.work)}
}

// insertTraced names the span that the context is in in the metadata of the jobs.
func insertTraced(ctx context.Context, all []*rivertype.JobInsertParams,
	insert func(context.Context) ([]*rivertype.JobInsertResult, error),
) ([]*rivertype.JobInsertResult, error) {
	if parent := parentIn(ctx); parent != "" {
		for _, p := range all {
			p.Metadata = withParent(p.Metadata, parent)
		}
	}
	return insert(ctx)
}

// withParent adds the trace to metadata; what is no object stays as it is.
func withParent(metadata []byte, parent string) []byte {
	all := map[string]json.RawMessage{}
	if len(metadata) > 0 && json.Unmarshal(metadata, &all) != nil || all == nil {
		return metadata
	}
	all[parentKey], _ = json.Marshal(parent) // a string always marshals
	added, err := json.Marshal(all)
	if err != nil {
		return metadata
	}
	return added
}

// sameTrace is how long after its insertion a job still belongs to the trace in which it was inserted. One that is
// worked later, such as a mail of next week, has a trace of its own with a link to that: few ways to show traces
// bear one that lasts for days.
const sameTrace = time.Hour

// work is a middleware that gives a job a span.
func (t *Tracer) work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attribute.String("job.kind", job.Kind), attribute.String("job.queue", job.Queue),
			attribute.Int64("job.id", job.ID), attribute.Int("job.attempt", job.Attempt)),
	}
	var metadata struct {
		Parent string `json:"traceparent"`
	}
	_ = json.Unmarshal(job.Metadata, &metadata) // which is an object wherever it is ours
	if parent := parentOf(ctx, metadata.Parent); parent.IsValid() {
		if time.Since(job.CreatedAt) < sameTrace {
			ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
		} else {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: parent}))
		}
	}
	ctx, span := t.tracer.Start(ctx, "job "+job.Kind, options...)
	defer span.End() // also of one that panics
	err := work(ctx)
	var snoozed *rivertype.JobSnoozeError
	if err != nil && !errors.As(err, &snoozed) {
		fail(span, err)
	}
	return err
}
