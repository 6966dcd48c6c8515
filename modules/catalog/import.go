package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// The states of an import.
const (
	importChecked = "checked"
	importRunning = "running"
)

const (
	// importedAtOnce is how many records are written between two looks at whether the import is stopped.
	importedAtOnce = 200
	// maxImportAttempts is how often an import is begun before it counts as failed.
	maxImportAttempts = 3
	// importTime bounds one attempt.
	importTime = 30 * time.Minute
	// importRetention is how long what ended is known, checkedRetention what was never started.
	importRetention, checkedRetention = 30 * 24 * time.Hour, 24 * time.Hour
)

// runImportArgs is the job that writes an import.
type runImportArgs struct {
	ImportID objectid.ID `json:"import_id"`
}

// Kind names the job.
func (runImportArgs) Kind() string { return "catalog_run_import" }

// InsertOpts leave one job to an import, in the queue of what takes long.
func (runImportArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		Queue:      jobs.QueueExport,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: jobs.WaitingStates},
	}
}

// sweepImportsArgs is the job that forgets old imports, and gives those a job again that lost theirs.
type sweepImportsArgs struct{}

// Kind names the job.
func (sweepImportsArgs) Kind() string { return "catalog_sweep_imports" }

// Workers adds the module's jobs.
func (s *Service) Workers(w *river.Workers) {
	jobs.HandleWithin(w, importTime, func(ctx context.Context, a runImportArgs) error {
		return s.runImport(ctx, a.ImportID)
	})
	jobs.Handle(w, func(ctx context.Context, _ sweepImportsArgs) error { return s.sweepImports(ctx) })
}

// Periodic returns the jobs that come by the clock.
func (*Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{jobs.NewPeriodic(river.PeriodicInterval(time.Minute), sweepImportsArgs{},
		&river.InsertOpts{MaxAttempts: 1}, &river.PeriodicJobOpts{ID: sweepImportsArgs{}.Kind()})}
}

func (s *Service) sweepImports(ctx context.Context) error {
	now := s.deps.Clock.Now()
	err := s.db.ImportDeleteOld(ctx, s.deps.Pool, catalogdb.ImportDeleteOldParams{
		EndedBefore: now.Add(-importRetention), CheckedBefore: now.Add(-checkedRetention),
	})
	if err != nil {
		return fmt.Errorf("forget imports: %w", err)
	}
	ids, err := s.db.ImportListRunning(ctx, s.deps.Pool)
	if err != nil {
		return fmt.Errorf("list imports: %w", err)
	}
	for _, id := range ids {
		if _, err := s.deps.Jobs.Insert(ctx, runImportArgs{ImportID: id}, nil); err != nil {
			return fmt.Errorf("queue import: %w", err)
		}
	}
	return nil
}

// errImportStopped says that an import was stopped, or ended by another worker, before its transaction was committed.
var errImportStopped = errors.New("catalog: the import has ended")

// runImport writes an import, all of it in one transaction that also ends it: a worker that dies, and a stop, leave
// nothing of it, and whoever takes it up again begins at the first line. It ends as failed where the lines are refused
// by then, where whoever started it may not write videos any more, and after the last attempt.
func (s *Service) runImport(ctx context.Context, id objectid.ID) error {
	one, err := s.db.ImportBegin(ctx, s.deps.Pool, id)
	if postgres.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("begin import: %w", err)
	}
	if one.Attempts > maxImportAttempts {
		return s.failImport(ctx, one, "It was begun three times and never came to its end.")
	}
	err = s.writeImport(ctx, one)
	var refused *fault.Error
	switch {
	case err == nil, errors.Is(err, errImportStopped):
		return nil
	case errors.As(err, &refused) && refused.Kind != fault.KindUnavailable && refused.Kind != fault.KindInternal:
		return s.failImport(ctx, one, refused.Message)
	case one.Attempts == maxImportAttempts:
		s.deps.Log.ErrorContext(ctx, "an import failed", slog.String("import_id", id.String()), slog.Any("error", err))
		return s.failImport(ctx, one, "It failed here; the log says why.")
	}
	return err
}

func (s *Service) failImport(ctx context.Context, one catalogdb.CatalogImport, says string) error {
	_, err := s.db.ImportFail(ctx, s.deps.Pool,
		catalogdb.ImportFailParams{ID: one.ID, Error: says, Now: s.deps.Clock.Now()})
	if err != nil {
		return fmt.Errorf("end import: %w", err)
	}
	return nil
}

// importWrites are the routes whose rights an import needs, with what is written by each.
var importWrites = []struct {
	outcome, route string
	needed         func(catalogdb.CatalogImport) bool
	write          func(context.Context, pgx.Tx, resource.Actor, resource.RawJSON) ([]objectid.ID, error)
}{
	{outcomeCreate, "video_create", func(i catalogdb.CatalogImport) bool { return i.Creates > 0 }, Videos.CreateTx},
	{outcomeUpdate, "video_update", func(i catalogdb.CatalogImport) bool { return i.Updates > 0 }, Videos.UpdateTx},
}

// asStarter is a context of whoever started the import, as they are now, for each thing that it writes.
func (s *Service) asStarter(ctx context.Context, one catalogdb.CatalogImport) (map[string]context.Context, error) {
	var claims httpapi.Claims
	if err := json.Unmarshal(one.Claims, &claims); err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	as := map[string]context.Context{}
	for _, w := range importWrites {
		if !w.needed(one) {
			continue
		}
		var refused *fault.Error
		starter, err := httpapi.Continue(ctx, s.api, claims, httpapi.Named(s.api, w.route), one.ID.String())
		if errors.As(err, &refused) {
			return nil, fault.Forbidden("Whoever began this may not do it any more, or their sign-in was ended.")
		}
		if err != nil {
			return nil, fmt.Errorf("read who started the import: %w", err)
		}
		as[w.outcome] = starter //nolint:fatcontext // one for each of the two routes, none within another
	}
	return as, nil
}

func (s *Service) writeImport(ctx context.Context, one catalogdb.CatalogImport) error {
	as, err := s.asStarter(ctx, one)
	if err != nil {
		return err
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		written := int32(0)
		for _, w := range importWrites {
			as := as[w.outcome]
			if as == nil {
				continue
			}
			by := resource.Actor{ID: one.ActorID, Now: s.deps.Clock.Now()}
			for after := int32(0); ; {
				rows, err := s.db.ImportRowListToWrite(ctx, tx, catalogdb.ImportRowListToWriteParams{
					ImportID: one.ID, Outcome: w.outcome, After: after, Qty: importedAtOnce,
				})
				if err != nil {
					return fmt.Errorf("read lines: %w", err)
				}
				if len(rows) == 0 {
					break
				}
				after = rows[len(rows)-1].Position
				ids, err := w.write(as, tx, by, bodyOf(rows)) //nolint:contextcheck // as is of ctx
				if err != nil {
					return lineOf(err, rows)
				}
				if w.outcome == outcomeCreate {
					if err := s.rememberMade(ctx, tx, one.ID, rows, ids); err != nil {
						return err
					}
				}
				written += int32(len(rows)) //nolint:gosec // at most 20,000
				n, err := s.db.ImportProgress(ctx, s.deps.Pool,
					catalogdb.ImportProgressParams{ID: one.ID, Written: written})
				if err != nil {
					return fmt.Errorf("say how far it is: %w", err)
				}
				if n == 0 {
					return errImportStopped
				}
			}
		}
		n, err := s.db.ImportFinish(ctx, tx, catalogdb.ImportFinishParams{ID: one.ID, Now: s.deps.Clock.Now()})
		if err == nil && n == 0 {
			err = errImportStopped
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, as := range as {
		return httpapi.ListsFromNow(as, s.api) //nolint:contextcheck // as is of ctx; whoever started it lists nothing older
	}
	return nil
}

func bodyOf(rows []catalogdb.ImportRowListToWriteRow) resource.RawJSON {
	body := []byte{'['}
	for i, r := range rows {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, r.Record...)
	}
	return append(body, ']')
}

// lineOf is the error with the line of the file that it is about, in place of an index of a body that nobody sent.
func lineOf(err error, rows []catalogdb.ImportRowListToWriteRow) error {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return err
	}
	said := *refused
	for i, r := range rows {
		if at := fmt.Sprintf(" (index %d of the body)", i); len(rows) > 1 && strings.Contains(said.Message, at) {
			said.Message = strings.Replace(said.Message, at, fmt.Sprintf(" (line %d)", r.Line), 1)
			return &said
		}
	}
	if len(said.Issues) > 0 && len(said.Issues[0].Loc) > 1 {
		if i, is := said.Issues[0].Loc[1].(int); is && i < len(rows) {
			said.Message += fmt.Sprintf(" (line %d)", rows[i].Line)
			return &said
		}
	}
	if len(rows) == 1 {
		said.Message += fmt.Sprintf(" (line %d)", rows[0].Line)
	}
	return &said
}

func (s *Service) rememberMade(ctx context.Context, tx pgx.Tx, importID objectid.ID,
	rows []catalogdb.ImportRowListToWriteRow, ids []objectid.ID,
) error {
	type one struct {
		Position int32       `json:"position"`
		ID       objectid.ID `json:"id"`
	}
	made := make([]one, len(rows))
	for i, r := range rows {
		made[i] = one{r.Position, ids[i]}
	}
	raw, err := json.Marshal(made)
	if err == nil {
		err = s.db.ImportRowSetMade(ctx, tx, catalogdb.ImportRowSetMadeParams{ImportID: importID, Made: raw})
	}
	if err != nil {
		return fmt.Errorf("remember what was made: %w", err)
	}
	return nil
}
