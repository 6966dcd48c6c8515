package jobadmin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
)

// Service reads and changes jobs through River's client.
type Service struct {
	pool postgres.Pool
	jobs *jobs.Client
}

// New makes it; the client need not work jobs.
func New(pool postgres.Pool, client *jobs.Client) *Service { return &Service{pool, client} }

// Job is a job as staff see it.
type Job struct {
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
	Qty    int    `query:"qty" minimum:"1" maximum:"100" default:"25"`
}

type listBody struct {
	Jobs  []Job `json:"jobs" doc:"The last made first"`
	More  bool  `json:"more" doc:"There are others before the last of these"`
	Total int   `json:"total" doc:"Jobs of that state, kind and queue that a bulk act may be done to; counted up to 100001"`
}

// List answers GET /admin/jobs. Errors: 422 for names that are no text.
func (s *Service) List(ctx context.Context, in *listInput) (*httpapi.Output[listBody], error) {
	params := river.NewJobListParams().OrderBy(river.JobListOrderByID, river.SortOrderDesc).First(in.Qty + 1)
	if in.State != "" {
		params = params.States(rivertype.JobState(in.State))
	}
	if in.Kind != "" {
		params = params.Kinds(in.Kind)
	}
	if in.Queue != "" {
		params = params.Queues(in.Queue)
	}
	for name, value := range map[string]string{"kind": in.Kind, "queue": in.Queue} {
		if !utf8.ValidString(value) {
			return nil, fault.InvalidAt("is not valid UTF-8", "query", name)
		}
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	if in.Before > 0 {
		params = params.Where("id < @before", river.NamedArgs{"before": in.Before})
	}
	var found *river.JobListResult
	var total int
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if found, err = s.jobs.JobListTx(ctx, tx, params); err != nil {
			return err
		}
		total, err = countTx(ctx, tx, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	body := listBody{Jobs: []Job{}, More: len(found.Jobs) > in.Qty, Total: total}
	for _, row := range found.Jobs[:min(len(found.Jobs), in.Qty)] {
		body.Jobs = append(body.Jobs, jobFor(httpapi.CallerOf(ctx), row))
	}
	return httpapi.OK(body)
}

// jobFor is a job as the caller may see it.
func jobFor(caller httpapi.Caller, row *rivertype.JobRow) Job {
	j := Job{
		ID: row.ID, Kind: row.Kind, Queue: row.Queue, State: string(row.State), Attempt: row.Attempt,
		MaxAttempts: row.MaxAttempts, CreatedAt: httpapi.Time(row.CreatedAt),
		ScheduledAt: httpapi.Time(row.ScheduledAt),
		AttemptedAt: timeOf(row.AttemptedAt), FinalizedAt: timeOf(row.FinalizedAt), Failures: []Failure{},
		Arguments: map[string]any{},
	}
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
	return j
}

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
