package jobadmin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"

	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// Service reads and changes jobs through River's client.
type Service struct {
	pool postgres.Pool
	jobs *jobs.Client
	log  *slog.Logger
}

// New makes it; the client need not work jobs.
func New(pool postgres.Pool, client *jobs.Client, log *slog.Logger) *Service {
	return &Service{pool, client, log}
}

// Job is a job as staff see it.
type Job struct {
	Key         objectid.ID   `json:"_id" doc:"Its number as 24 hexadecimal digits"`
	ID          int64         `json:"id"`
	Kind        string        `json:"kind"`
	Queue       string        `json:"queue"`
	State       string        `json:"state" enum:"available,cancelled,completed,discarded,pending,retryable,running,scheduled"`
	Attempt     int           `json:"attempt" doc:"How often it was tried"`
	MaxAttempts int           `json:"max_attempts"`
	CreatedAt   httpapi.Time  `json:"created_at"`
	ScheduledAt httpapi.Time  `json:"scheduled_at" doc:"When it is to run, or was"`
	AttemptedAt *httpapi.Time `json:"attempted_at" nullable:"true"`
	FinalizedAt *httpapi.Time `json:"finalized_at" nullable:"true"`
	Failures    []Failure     `json:"failures" doc:"Of its attempts, the last ones"`
	Arguments   any           `json:"arguments" doc:"An object; its values are *** but for root users"`
}

// Failure is an attempt that failed.
type Failure struct {
	Attempt int          `json:"attempt"`
	At      httpapi.Time `json:"at"`
	Error   string       `json:"error" doc:"*** but for root users"`
}

// maxFailures are shown of a job.
const maxFailures = 5

// masked stands for what only root users read.
const masked = "***"

type listInput struct {
	State  string `query:"state" enum:"available,cancelled,completed,discarded,pending,retryable,running,scheduled"`
	Kind   string `query:"kind" maxLength:"128" pattern:"^[A-Za-z0-9_.-]*$" patternDescription:"the name of a kind"`
	Queue  string `query:"queue" maxLength:"128" pattern:"^[A-Za-z0-9_.-]*$" patternDescription:"the name of a queue"`
	Before int64  `query:"before" minimum:"1" doc:"An id: jobs made before that one"`
	Qty    int    `query:"qty" minimum:"1" maximum:"100" doc:"An older word for qty_docs_page, which it wins over"`
}

// params are those of the list, with what the older words ask for beside the filter.
func (in *listInput) params(ctx context.Context) (resource.Params, error) {
	for name, value := range map[string]string{"kind": in.Kind, "queue": in.Queue} {
		if !utf8.ValidString(value) {
			return resource.Params{}, fault.InvalidAt("is not valid UTF-8", "query", name)
		}
	}
	p, err := visible[""].ParseParams(httpapi.RequestURL(ctx))
	if err != nil || p.ID != "" {
		return p, err
	}
	if in.Qty > 0 && !p.Range {
		p.Size = in.Qty
	}
	if _, err := visible[""].Prepare(p); err != nil { // of what the client wrote, before anything is added
		return p, err
	}
	asked := map[string]any{}
	for name, value := range map[string]string{"state": in.State, "kind": in.Kind, "queue": in.Queue} {
		if value != "" {
			asked[name] = value
		}
	}
	if in.Before > 0 {
		asked["id"] = map[string]int64{"$lt": in.Before}
	}
	if len(asked) == 0 {
		return p, nil
	}
	both := []any{asked}
	if filter := strings.TrimSpace(p.Query); filter != "" && filter != "null" {
		both = append(both, json.RawMessage(filter))
	}
	filter, err := json.Marshal(map[string]any{"$and": both})
	p.Query = string(filter)
	return p, err
}

type listBody struct {
	httpapi.Envelope[Job]
	Jobs  []Job `json:"jobs" doc:"The same as docs, under an older name"`
	More  bool  `json:"more" doc:"There are others after the last of these"`
	Total int   `json:"total" doc:"Those that match and that a bulk act may be done to; counted up to 100001"`
}

// List answers GET /admin/jobs: a list of the collections' contract, whose rows say besides, as far as the caller may
// know it, what each job was given and how it failed. Errors: 422 for names that are no text, and those of a list.
func (s *Service) List(ctx context.Context, in *listInput) (*httpapi.Output[listBody], error) {
	params, err := in.params(ctx)
	if err != nil {
		return nil, err
	}
	list, err := visible.by(params.Query).Prepare(params)
	if err != nil {
		return nil, err
	}
	var body listBody
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if err := list.Run(ctx, tx); err != nil {
			return err
		}
		if err := json.Unmarshal(list.Envelope(ctx).Body, &body.Envelope); err != nil {
			return fmt.Errorf("read the page of jobs: %w", err)
		}
		if err := s.completeTx(ctx, tx, body.Docs); err != nil {
			return err
		}
		if params.ID != "" {
			body.Total = len(body.Docs)
			return nil
		}
		body.Total, err = countTx(ctx, tx, params.Query)
		return err
	})
	if err != nil {
		return nil, resource.Report(ctx, s.log, err)
	}
	body.Jobs = body.Docs
	body.More = params.ID == "" && params.Offset()+len(body.Docs) < body.Pagination.QtyTotalDocs
	return httpapi.OK(body)
}

// ListDoc documents List.
func ListDoc() []httpapi.Option { return visible[""].ParamsDoc() }

// completeTx adds to jobs what they were given and how they failed, as far as the caller may know it.
func (s *Service) completeTx(ctx context.Context, tx pgx.Tx, docs []Job) error {
	at := map[int64]*Job{}
	ids := make([]int64, 0, len(docs))
	for i := range docs {
		// One that goes meanwhile has neither.
		docs[i].describe(httpapi.CallerOf(ctx), &rivertype.JobRow{EncodedArgs: []byte("{}")})
		at[docs[i].ID] = &docs[i]
		ids = append(ids, docs[i].ID)
	}
	rows, err := tx.Query(ctx, "SELECT id, max_attempts, args, errors FROM jobs.river_job WHERE id = ANY ($1)", ids)
	if err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	var row rivertype.JobRow
	_, err = pgx.ForEachRow(rows, []any{&row.ID, &row.MaxAttempts, &row.EncodedArgs, &row.Errors}, func() error {
		at[row.ID].describe(httpapi.CallerOf(ctx), &row)
		row = rivertype.JobRow{}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	return nil
}

// jobFor is a job as the caller may see it.
func jobFor(caller httpapi.Caller, row *rivertype.JobRow) Job {
	j := Job{
		Key: keyOf(row.ID), ID: row.ID, Kind: row.Kind, Queue: row.Queue, State: string(row.State),
		Attempt: row.Attempt, CreatedAt: httpapi.Time(row.CreatedAt),
		ScheduledAt: httpapi.Time(row.ScheduledAt),
		AttemptedAt: timeOf(row.AttemptedAt), FinalizedAt: timeOf(row.FinalizedAt),
	}
	j.describe(caller, row)
	return j
}

// describe says what the job was given and how it failed, masked but for root.
func (j *Job) describe(caller httpapi.Caller, row *rivertype.JobRow) {
	j.MaxAttempts, j.Failures, j.Arguments = row.MaxAttempts, []Failure{}, map[string]any{}
	_ = json.Unmarshal(row.EncodedArgs, &j.Arguments) // what River holds is JSON
	if !caller.Root {
		j.Arguments = mask(j.Arguments)
	}
	for _, e := range row.Errors[max(0, len(row.Errors)-maxFailures):] {
		f := Failure{Attempt: e.Attempt, At: httpapi.Time(e.At), Error: masked}
		if caller.Root {
			f.Error = e.Error
		}
		j.Failures = append(j.Failures, f)
	}
}

// keyOf is a job's number in the form of an id.
func keyOf(number int64) objectid.ID { return objectid.ID(fmt.Sprintf("%024x", number)) }

func timeOf(t *time.Time) *httpapi.Time { return (*httpapi.Time)(t) }

// mask leaves the names of an object, and of those in it.
func mask(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return masked
	}
	for name, v := range object {
		object[name] = mask(v)
	}
	return object
}

type jobInput struct {
	ID   int64 `path:"id" minimum:"1" doc:"The job's number"`
	Body *struct {
		Reason string `json:"reason" required:"false" maxLength:"500" doc:"For the audit trail; required for cancelling, at least 3 characters"`
	}
}

func (in *jobInput) reason() string {
	if in.Body == nil {
		return ""
	}
	return strings.TrimSpace(in.Body.Reason)
}

// MinReason is the least that the reason for cancelling a job has, in bytes.
const MinReason = 3

// requireReason is 422 for one that says nothing.
func requireReason(reason string) error {
	if len(reason) < MinReason {
		return fault.InvalidAt("has to be at least 3 characters long", "body", "reason")
	}
	return nil
}

// Retry answers POST /admin/jobs/{id}/retry: a job that was given up or cancelled runs again. Errors: 404; 409 for a
// job in any other state, and while another one does the same.
func (s *Service) Retry(ctx context.Context, in *jobInput) (*httpapi.Output[Job], error) {
	return s.startTx(ctx, in, func(state rivertype.JobState) error {
		switch state {
		case rivertype.JobStateDiscarded, rivertype.JobStateCancelled:
			return nil
		case rivertype.JobStateCompleted:
			return fault.Conflict("The job is done: it is not run again.")
		case rivertype.JobStateRunning:
			return fault.Conflict("The job is running.")
		default:
			return fault.Conflict("The job has not been given up: it still waits, and can be run at once.")
		}
	})
}

// Run answers POST /admin/jobs/{id}/run: a job that waits for its time runs at once. Errors: 404; 409 for a job in any
// other state.
func (s *Service) Run(ctx context.Context, in *jobInput) (*httpapi.Output[Job], error) {
	return s.startTx(ctx, in, func(state rivertype.JobState) error {
		switch state {
		case rivertype.JobStateScheduled, rivertype.JobStateRetryable, rivertype.JobStatePending:
			return nil
		case rivertype.JobStateAvailable:
			return fault.Conflict("The job already waits for the next free worker.")
		case rivertype.JobStateRunning:
			return fault.Conflict("The job is running.")
		default:
			return fault.Conflict("The job has ended: it does not wait any more.")
		}
	})
}

// startTx lets a job run whose state allows it.
func (s *Service) startTx(ctx context.Context, in *jobInput, allowed func(rivertype.JobState) error,
) (*httpapi.Output[Job], error) {
	job, err := s.changeTx(ctx, in.ID, in.reason(), allowed, s.jobs.JobRetryTx)
	if postgres.Constraint(err) == "river_job_unique_idx" {
		return nil, fault.Conflict("Another job that does the same already waits.")
	}
	return job, err
}

// Cancel answers POST /admin/jobs/{id}/cancel: a job that waits does not run, and one that runs is told to stop and is
// not tried again. Errors: 404; 409 for one that has ended.
func (s *Service) Cancel(ctx context.Context, in *jobInput) (*httpapi.Output[Job], error) {
	if err := requireReason(in.reason()); err != nil {
		return nil, err
	}
	return s.changeTx(ctx, in.ID, in.reason(), func(state rivertype.JobState) error {
		switch state {
		case rivertype.JobStateCancelled, rivertype.JobStateCompleted, rivertype.JobStateDiscarded:
			return fault.Conflict("The job has already ended.")
		default:
			return nil
		}
	}, s.jobs.JobCancelTx)
}

// changeTx locks a job, so that its state is still the one that was judged when it changes, and writes the audit trail.
func (s *Service) changeTx(ctx context.Context, id int64, reason string, allowed func(rivertype.JobState) error,
	change func(context.Context, pgx.Tx, int64) (*rivertype.JobRow, error),
) (*httpapi.Output[Job], error) {
	var row *rivertype.JobRow
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var state rivertype.JobState
		err := tx.QueryRow(ctx, "SELECT state FROM jobs.river_job WHERE id = $1 FOR UPDATE", id).Scan(&state)
		if postgres.IsNoRows(err) {
			return fault.NotFound("Job")
		}
		if err != nil {
			return fmt.Errorf("lock job: %w", err)
		}
		if err := allowed(state); err != nil {
			return err
		}
		if row, err = change(ctx, tx, id); err != nil {
			return fmt.Errorf("change job %d: %w", id, err)
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: "jobs", Before: entry{State: string(state)},
			After: entry{ID: id, Kind: row.Kind, State: string(row.State), Reason: reason},
		})
	})
	if errors.Is(err, rivertype.ErrNotFound) {
		return nil, fault.NotFound("Job")
	}
	if err != nil {
		return nil, err
	}
	return httpapi.OK(jobFor(httpapi.CallerOf(ctx), row))
}

// entry is what the audit trail says of a job.
type entry struct {
	ID     int64  `json:"job_id,omitempty"`
	Kind   string `json:"kind,omitempty"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
}
