package jobadmin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Queue is a queue with what waits in it.
type Queue struct {
	Name        string        `json:"name"`
	PausedAt    *httpapi.Time `json:"paused_at" nullable:"true" doc:"null: its jobs are worked"`
	PausedBy    *objectid.ID  `json:"paused_by" nullable:"true"`
	Reason      string        `json:"reason" doc:"Why it is paused; may be empty"`
	Available   int           `json:"available" doc:"Jobs that wait for a worker"`
	Running     int           `json:"running"`
	Retryable   int           `json:"retryable" doc:"Jobs that failed and are tried again"`
	Scheduled   int           `json:"scheduled" doc:"Jobs that wait for their time"`
	Discarded   int           `json:"discarded" doc:"Jobs that were given up"`
	OldestReady int           `json:"oldest_ready_seconds" doc:"How long the job that waits longest could have run; 0 where none waits"`
}

type queuesBody struct {
	Queues []Queue `json:"queues"`
}

// pause is what a paused queue's metadata say.
type pause struct {
	By     *objectid.ID `json:"paused_by,omitempty"`
	Reason string       `json:"reason,omitempty"`
}

const queueCounts = `
SELECT queue, count(*) FILTER (WHERE state = 'available'), count(*) FILTER (WHERE state = 'running'),
    count(*) FILTER (WHERE state = 'retryable'), count(*) FILTER (WHERE state = 'scheduled'),
    count(*) FILTER (WHERE state = 'discarded'),
    coalesce(extract(epoch FROM clock_timestamp() - min(scheduled_at) FILTER (
        WHERE state IN ('available', 'retryable', 'scheduled') AND scheduled_at <= clock_timestamp())), 0)::int
FROM jobs.river_job
WHERE state IN ('available', 'running', 'retryable', 'scheduled', 'discarded')
GROUP BY queue`

// Queues answers GET /admin/queues.
func (s *Service) Queues(ctx context.Context, _ *struct{}) (*httpapi.Output[queuesBody], error) {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	var all []Queue
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		all, err = s.queuesTx(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	return httpapi.OK(queuesBody{Queues: all})
}

func (s *Service) queuesTx(ctx context.Context, tx pgx.Tx) ([]Queue, error) {
	byName := map[string]*Queue{}
	for _, name := range jobs.Queues() {
		byName[name] = &Queue{Name: name}
	}
	known, err := s.jobs.QueueListTx(ctx, tx, river.NewQueueListParams().First(1000))
	if err != nil {
		return nil, err
	}
	for _, row := range known.Queues {
		byName[row.Name] = queueOf(row)
	}
	rows, err := tx.Query(ctx, queueCounts)
	if err != nil {
		return nil, err
	}
	var q Queue
	_, err = pgx.ForEachRow(rows, []any{
		&q.Name, &q.Available, &q.Running, &q.Retryable, &q.Scheduled, &q.Discarded, &q.OldestReady,
	}, func() error {
		counted := byName[q.Name]
		if counted == nil {
			counted = &Queue{Name: q.Name}
			byName[q.Name] = counted
		}
		q.PausedAt, q.PausedBy, q.Reason = counted.PausedAt, counted.PausedBy, counted.Reason
		*counted = q
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]Queue, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, *byName[name])
	}
	return all, nil
}

func queueOf(row *rivertype.Queue) *Queue {
	q := &Queue{Name: row.Name, PausedAt: timeOf(row.PausedAt)}
	var p pause
	if row.PausedAt != nil && json.Unmarshal(row.Metadata, &p) == nil {
		q.PausedBy, q.Reason = p.By, p.Reason
	}
	return q
}

type queueInput struct {
	Name string `path:"name" maxLength:"128" pattern:"^[A-Za-z0-9_.-]*$" patternDescription:"the name of a queue"`
	Body *struct {
		Reason string `json:"reason" required:"false" maxLength:"500" doc:"Shown beside the queue, and for the audit trail; required for pausing, at least 3 characters"`
	}
}

func (in *queueInput) reason() string {
	if in.Body == nil {
		return ""
	}
	return strings.TrimSpace(in.Body.Reason)
}

// Pause answers POST /admin/queues/{name}/pause: no further job of the queue begins, on any server, also after a
// restart, until it is resumed; jobs that run finish. Errors: 404; 409 for one that is paused.
func (s *Service) Pause(ctx context.Context, in *queueInput) (*httpapi.Output[Queue], error) {
	if err := requireReason(in.reason()); err != nil {
		return nil, err
	}
	by := httpapi.CallerOf(ctx).ID
	why := pause{By: &by, Reason: in.reason()}
	return s.setQueue(ctx, in.Name, why, func(tx pgx.Tx, row *rivertype.Queue) error {
		if row.PausedAt != nil {
			return fault.Conflict("The queue is already paused.")
		}
		return s.jobs.QueuePauseTx(ctx, tx, in.Name, nil)
	})
}

// Resume answers POST /admin/queues/{name}/resume. Errors: 404; 409 for one that is not paused.
func (s *Service) Resume(ctx context.Context, in *queueInput) (*httpapi.Output[Queue], error) {
	return s.setQueue(ctx, in.Name, pause{}, func(tx pgx.Tx, row *rivertype.Queue) error {
		if row.PausedAt == nil {
			return fault.Conflict("The queue is not paused.")
		}
		return s.jobs.QueueResumeTx(ctx, tx, in.Name, nil)
	})
}

// setQueue locks a queue, changes it, and writes why and the audit trail.
func (s *Service) setQueue(ctx context.Context, name string, p pause,
	change func(pgx.Tx, *rivertype.Queue) error,
) (*httpapi.Output[Queue], error) {
	var out *Queue
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT FROM jobs.river_queue WHERE name = $1 FOR UPDATE", name); err != nil {
			return fmt.Errorf("lock queue: %w", err)
		}
		row, err := s.jobs.QueueGetTx(ctx, tx, name)
		if errors.Is(err, rivertype.ErrNotFound) {
			return noQueue(name)
		}
		if err != nil {
			return fmt.Errorf("read queue: %w", err)
		}
		if err := change(tx, row); err != nil {
			return err
		}
		metadata, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("write why the queue is paused: %w", err)
		}
		if _, err := s.jobs.QueueUpdateTx(ctx, tx, name, &river.QueueUpdateParams{Metadata: metadata}); err != nil {
			return fmt.Errorf("write why the queue is paused: %w", err)
		}
		if row, err = s.jobs.QueueGetTx(ctx, tx, name); err != nil {
			return fmt.Errorf("read queue: %w", err)
		}
		out = queueOf(row)
		return audit.RecordTx(ctx, tx, audit.Change{Resource: "queues", Before: struct{}{}, After: struct {
			Queue  string `json:"queue"`
			Paused bool   `json:"paused"`
			Reason string `json:"reason,omitempty"`
		}{name, out.PausedAt != nil, p.Reason}})
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(*out)
}

// noQueue: a queue is known to River once a worker has served it.
func noQueue(name string) error {
	if slices.Contains(jobs.Queues(), name) {
		return fault.Conflict("No worker has served the queue yet.")
	}
	return fault.NotFound("Queue")
}
