package tracing

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Jobs returns the middleware of a job client: a job goes on with the trace in which it was inserted, whichever process
// works it.
func (t *Tracer) Jobs() []rivertype.Middleware {
	return []rivertype.Middleware{river.JobInsertMiddlewareFunc(insertTraced), river.WorkerMiddlewareFunc(t.work)}
}

// parentKey is under what a job's metadata name the trace.
const parentKey = "traceparent"

func insertTraced(ctx context.Context, all []*rivertype.JobInsertParams,
	insert func(context.Context) ([]*rivertype.JobInsertResult, error),
) ([]*rivertype.JobInsertResult, error) {
	carrier := propagation.MapCarrier{}
	if trace.SpanFromContext(ctx).IsRecording() {
		propagator.Inject(ctx, carrier)
	}
	if parent := carrier.Get(parentKey); parent != "" {
		for _, p := range all {
			p.Metadata = withParent(p.Metadata, parent)
		}
	}
	return insert(ctx)
}

// withParent adds the trace to metadata; what is no object stays as it is.
func withParent(metadata []byte, parent string) []byte {
	all := map[string]json.RawMessage{}
	if len(metadata) > 0 && json.Unmarshal(metadata, &all) != nil {
		return metadata
	}
	all[parentKey], _ = json.Marshal(parent) // a string always marshals
	added, err := json.Marshal(all)
	if err != nil {
		return metadata
	}
	return added
}

func (t *Tracer) work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	var metadata struct {
		Parent string `json:"traceparent"`
	}
	if json.Unmarshal(job.Metadata, &metadata) == nil {
		ctx = propagator.Extract(ctx, propagation.MapCarrier{parentKey: metadata.Parent})
	}
	ctx, span := t.tracer.Start(ctx, "job "+job.Kind, trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attribute.String("job.kind", job.Kind), attribute.String("job.queue", job.Queue),
			attribute.Int64("job.id", job.ID), attribute.Int("job.attempt", job.Attempt)))
	defer span.End()
	err := work(ctx)
	var snoozed *rivertype.JobSnoozeError
	if err != nil && !errors.As(err, &snoozed) {
		span.SetStatus(codes.Error, "") // the text may quote what the job is about
	}
	return err
}
