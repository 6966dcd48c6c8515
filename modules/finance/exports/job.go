package exports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/export"
	"marquee/platform/fault"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

const (
	// MaxAttempts is how often an export is begun before it counts as failed.
	MaxAttempts = 3
	// TimeLimit bounds one attempt.
	TimeLimit = 6 * time.Hour
	// cleanupTime is how long a worker that has to stop may take to remove what it wrote.
	cleanupTime = 10 * time.Second
)

// WriteExportArgs is the job that writes an export.
type WriteExportArgs struct {
	ExportID objectid.ID `json:"export_id"`
}

// Kind names the job.
func (WriteExportArgs) Kind() string { return "finance_write_export" }

// InsertOpts give exports a queue of their own, so that long ones hold nothing
// up. River may try more often than an export is begun: that a database did not
// answer is no attempt.
func (WriteExportArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: jobs.QueueExport, MaxAttempts: 10}
}

// Run begins an export and writes it. One that is done or deleted is left
// alone; one in another worker's hands is looked at again when that one, should it
// have died, has been silent for long enough. What it wrote of an export that it
// could not finish is removed.
func (s *Exports) Run(ctx context.Context, id objectid.ID) error {
	now := s.deps.Clock.Now()
	e, err := s.db.ExportBegin(ctx, s.deps.Pool, financedb.ExportBeginParams{
		ID: id, Now: now, LeaseUntil: now.Add(s.deps.Config.Lease),
	})
	if postgres.IsNoRows(err) {
		return s.wait(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("begin export: %w", err)
	}
	if err := s.writeStored(ctx, e); err != nil {
		return s.giveUp(ctx, e, err)
	}
	return nil
}

// pause is the longest time between two looks at an export that another worker
// writes. River works longer pauses by its leader alone, who may be the one that died.
const pause = 5 * time.Second

// wait has the job come back while another worker writes the export.
func (s *Exports) wait(ctx context.Context, id objectid.ID) error {
	e, err := s.db.ExportGet(ctx, s.deps.Pool, id)
	if postgres.IsNoRows(err) || err == nil && (e.Status != "running" || e.LeaseUntil == nil) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read export: %w", err)
	}
	return river.JobSnooze(min(max(e.LeaseUntil.Sub(s.deps.Clock.Now()), 0)+100*time.Millisecond, pause))
}

// writeStored writes the file of an export into its chunks and closes it.
func (s *Exports) writeStored(ctx context.Context, e financedb.Export) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var rows atomic.Int64
	go s.keepLease(ctx, e, &rows, stop)

	if _, err := s.db.ExportChunkDelete(ctx, s.deps.Pool, e.ID); err != nil {
		return fmt.Errorf("remove earlier attempt: %w", err)
	}
	var r request
	if err := json.Unmarshal(e.Parameters, &r); err != nil {
		return fmt.Errorf("read export request: %w", err)
	}
	out := s.newChunkWriter(ctx, e)
	counted := func(total int64) error {
		_, err := s.db.ExportCountRows(ctx, s.deps.Pool,
			financedb.ExportCountRowsParams{ID: e.ID, Attempt: e.Attempt, RowsTotal: total})
		return err
	}
	fresh, err := s.deps.Reports.CatchUp(ctx) // whoever asked may have written just before
	if err == nil {
		progress := func(n int64) error { rows.Store(n); return nil }
		err = s.write(fresh, out, r, counted, export.Options{Progress: progress})
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = s.finish(ctx, e, out.size, rows.Load())
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // what a broken-off statement says tells less
	}
	return err
}

func (s *Exports) finish(ctx context.Context, e financedb.Export, size, rows int64) error {
	now := s.deps.Clock.Now()
	n, err := s.db.ExportFinish(ctx, s.deps.Pool, financedb.ExportFinishParams{
		ID: e.ID, Attempt: e.Attempt, Size: size, RowsWritten: rows, Now: now, ExpiresAt: now.Add(s.deps.Config.TTL),
	})
	if err == nil && n == 0 {
		err = errLost
	}
	return err
}

// keepLease says again and again that the worker lives and how far it is, until
// ctx ends. When the export is no longer the worker's, it stops the worker.
func (s *Exports) keepLease(ctx context.Context, e financedb.Export, rows *atomic.Int64, stop context.CancelCauseFunc) {
	beat := time.NewTicker(max(s.deps.Config.Lease/20, 10*time.Millisecond))
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
		n, err := s.db.ExportBeat(ctx, s.deps.Pool, financedb.ExportBeatParams{
			ID: e.ID, Attempt: e.Attempt, RowsWritten: rows.Load(),
			LeaseUntil: s.deps.Clock.Now().Add(s.deps.Config.Lease),
		})
		if err == nil && n == 0 {
			stop(errLost)
			return
		}
	}
}

// giveUp removes what an attempt has written, and lets the export wait for the
// next attempt or, after the last one, end as failed.
func (s *Exports) giveUp(ctx context.Context, e financedb.Export, cause error) error {
	if errors.Is(cause, errLost) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	again, err := s.takeBack(ctx, e, cause, nil)
	if err != nil {
		return errors.Join(cause, err) // the sweep does it once the lease is over
	}
	if again {
		return cause
	}
	s.deps.Log.ErrorContext(ctx, "export failed", slog.String("export_id", e.ID.String()), slog.String("kind", e.Kind),
		slog.Any("error", cause))
	return nil
}

// takeBack ends an attempt in one transaction: its bytes go, and the export is
// queued again, and then runs, or failed. again is true when it is queued.
func (s *Exports) takeBack(ctx context.Context, e financedb.Export, cause error,
	then func(pgx.Tx) error,
) (again bool, err error) {
	var known *fault.Error
	sentence, final := "The export could not be written.", errors.As(cause, &known)
	if final {
		sentence = known.Message
	}
	again = !final && e.Attempt < MaxAttempts
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		var n int64
		var err error
		if again {
			n, err = s.db.ExportRequeue(ctx, tx, financedb.ExportRequeueParams{ID: e.ID, Attempt: e.Attempt})
		} else {
			now := s.deps.Clock.Now()
			n, err = s.db.ExportFail(ctx, tx, financedb.ExportFailParams{
				ID: e.ID, Attempt: e.Attempt, Error: sentence, Now: now, ExpiresAt: now.Add(s.deps.Config.TTL),
			})
		}
		if err != nil || n == 0 {
			return err
		}
		if _, err = s.db.ExportChunkDelete(ctx, tx, e.ID); err != nil || !again || then == nil {
			return err
		}
		return then(tx)
	})
	return again, err
}
