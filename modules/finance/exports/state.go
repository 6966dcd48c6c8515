package exports

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// exportState is the answer of GET /admin/exports/{id}.
type exportState struct {
	ID                objectid.ID   `json:"_id"`
	Kind              string        `json:"kind" enum:"finance,events,customers"`
	Format            string        `json:"format" enum:"xlsx,csv,json"`
	Filename          string        `json:"filename"`
	Status            string        `json:"status" enum:"queued,running,done,failed"`
	Percent           int64         `json:"percent" minimum:"0" maximum:"100" doc:"Of the rows"`
	Rows              int64         `json:"rows" doc:"Written so far"`
	RowsTotal         *int64        `json:"rows_total" nullable:"true" doc:"Null until they are counted"`
	Size              *int64        `json:"size" nullable:"true" doc:"Bytes of the finished file"`
	StatusURL         string        `json:"status_url" doc:"Of this status"`
	DownloadURL       *string       `json:"download_url" nullable:"true" doc:"Of the finished file: works without a token until download_expires_at; status_url gives another"`
	DownloadExpiresAt *httpapi.Time `json:"download_expires_at" nullable:"true"`
	Error             *string       `json:"error" nullable:"true" doc:"Why it failed"`
	CreatedAt         httpapi.Time  `json:"created_at"`
	StartedAt         *httpapi.Time `json:"started_at" nullable:"true"`
	FinishedAt        *httpapi.Time `json:"finished_at" nullable:"true"`
	ExpiresAt         *httpapi.Time `json:"expires_at" nullable:"true" doc:"When the file is removed"`
}

// Statuses of an export that Go asks about.
const (
	done   = "done"
	failed = "failed"
)

// stateOf shows an export to a user, with a link for them alone.
func (s *Exports) stateOf(e financedb.Export, reader objectid.ID) exportState {
	state := exportState{
		ID: e.ID, Kind: e.Kind, Format: e.Format, Filename: e.Filename, Status: e.Status, Rows: e.RowsWritten,
		RowsTotal: e.RowsTotal, Size: e.Size,
		StatusURL: s.deps.Config.PublicURL + httpapi.Prefix + Path + "/" + e.ID.String(), Error: e.Error,
		CreatedAt: httpapi.Time(e.CreatedAt),
		StartedAt: httpapi.TimePtr(e.StartedAt), FinishedAt: httpapi.TimePtr(e.FinishedAt),
		ExpiresAt: httpapi.TimePtr(e.ExpiresAt),
	}
	switch {
	case e.Status == done:
		link, expires := s.linkTo(e, reader)
		until := httpapi.Time(expires)
		state.Percent, state.DownloadURL, state.DownloadExpiresAt = 100, &link, &until
	case e.RowsTotal != nil && *e.RowsTotal > 0:
		state.Percent = min(99, e.RowsWritten*100 / *e.RowsTotal)
	}
	return state
}

// start lets a job write what the caller asks for. Asking again while the
// export is being written leads to the same one.
func (s *Exports) start(ctx context.Context, r request) (e financedb.Export, err error) {
	parameters, err := r.parameters()
	if err != nil {
		return e, err
	}
	caller, now := httpapi.CallerOf(ctx).ID, s.deps.Clock.Now()
	id := objectid.At(now)
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		made, err := s.db.ExportInsert(ctx, tx, financedb.ExportInsertParams{
			ID: id, RequestedBy: caller, Kind: r.Kind, Format: string(r.Format), Parameters: parameters,
			Filename: r.filename, CreatedAt: now,
		})
		if err != nil {
			return fmt.Errorf("keep export: %w", err)
		}
		if made == 0 {
			e, err = s.db.ExportGetOpen(ctx, tx,
				financedb.ExportGetOpenParams{RequestedBy: caller, Kind: r.Kind, Parameters: parameters})
			return err
		}
		if e, err = s.db.ExportGet(ctx, tx, id); err != nil {
			return err
		}
		if err := audit.RecordTx(ctx, tx, audit.Change{
			Resource: "exports", RecordID: id, After: r.auditDoc(),
		}); err != nil {
			return err
		}
		_, err = s.deps.Jobs.InsertTx(ctx, tx, WriteExportArgs{ExportID: id}, nil)
		return err
	})
	if postgres.IsNoRows(err) { // it has just ended
		return e, fault.Conflict("The same export ended a moment ago. Ask again.")
	}
	return e, err
}

// find reads an export that the caller may see: their own, or any for root.
// 404 for all others.
func (s *Exports) find(ctx context.Context, id string, caller httpapi.Caller) (financedb.Export, error) {
	parsed, err := objectid.Parse(id)
	if err != nil {
		return financedb.Export{}, fault.InvalidAt(err.Error(), "path", "id")
	}
	e, err := s.db.ExportGet(ctx, s.deps.Pool, parsed)
	if postgres.IsNoRows(err) || err == nil && !mayRead(e, caller) {
		return financedb.Export{}, fault.NotFound("Export")
	}
	if err != nil {
		return financedb.Export{}, fmt.Errorf("read export: %w", err)
	}
	return e, nil
}

type input struct {
	ID string `path:"id" doc:"The export's _id"`
}

// Get answers GET /admin/exports/{id}: 422 for a malformed id, 404 for an export of
// somebody else unless root asks.
func (h Handlers) Get(ctx context.Context, in *input) (*httpapi.Output[exportState], error) {
	caller := httpapi.CallerOf(ctx)
	e, err := h.s.find(ctx, in.ID, caller)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(h.s.stateOf(e, caller.ID))
}

type exportDeleted struct {
	Message string `json:"message"`
}

// Delete is DELETE /admin/exports/{id}: the row goes with its bytes, and the
// worker, whose next word finds no row, stops.
func (h Handlers) Delete(ctx context.Context, in *input) (*httpapi.Output[exportDeleted], error) {
	e, err := h.s.find(ctx, in.ID, httpapi.CallerOf(ctx))
	if err != nil {
		return nil, err
	}
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		n, err := h.s.db.ExportDelete(ctx, tx, e.ID)
		if err == nil && n == 0 {
			return fault.NotFound("Export")
		}
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: "exports", RecordID: e.ID,
			Before: map[string]string{"kind": e.Kind, "filename": e.Filename, "status": e.Status},
		})
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(exportDeleted{Message: "The export is removed."})
}
