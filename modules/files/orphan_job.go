package files

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"marquee/modules/files/internal/filesdb"
	"marquee/platform/objectid"
)

const (
	// orphanAge is how old a file is before it can be an orphan: what is being
	// uploaded or committed is younger.
	orphanAge = 24 * time.Hour
	// orphanPage is how many files are looked at in one round.
	orphanPage = 500
)

// SweepOrphansArgs is the daily job that removes uploads that nobody kept and
// files whose record is gone.
type SweepOrphansArgs struct{}

// Kind names the job.
func (SweepOrphansArgs) Kind() string { return "files_sweep_orphans" }

// InsertOpts let one run a day, however many processes start.
func (SweepOrphansArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByPeriod: 24 * time.Hour}}
}

func (s *Service) sweepOrphans(ctx context.Context) error {
	before := s.deps.Clock.Now().Add(-orphanAge)
	unkept, err := s.db.ContentDeleteUnkept(ctx, s.deps.Pool, before)
	if err != nil {
		return fmt.Errorf("sweep unkept uploads: %w", err)
	}
	var orphans int64
	for _, records := range s.records {
		n, err := s.sweepKind(ctx, records, before)
		if err != nil {
			return err
		}
		orphans += n
	}
	if unkept+orphans > 0 {
		s.deps.Log.InfoContext(ctx, "files swept", slog.Int64("unkept_uploads", unkept), slog.Int64("orphans", orphans))
	}
	return nil
}

// sweepKind walks the files of one kind of records and deletes those that their
// module has no more use for. Files of a kind that no module registered stay.
func (s *Service) sweepKind(ctx context.Context, records Records, before time.Time) (deleted int64, err error) {
	kind := records.FileKind()
	for after := objectid.ID("000000000000000000000000"); ; {
		rows, err := s.db.FileListOfKind(ctx, s.deps.Pool,
			filesdb.FileListOfKindParams{OwnerKind: kind, Before: before, After: after, PageSize: orphanPage})
		if err != nil || len(rows) == 0 {
			return deleted, err
		}
		refs := make([]Ref, len(rows))
		for i, row := range rows {
			refs[i] = Ref{FileID: row.ID, RecordID: row.OwnerID, Purpose: row.Purpose}
		}
		gone, err := records.AbandonedFiles(ctx, refs)
		if err != nil {
			return deleted, fmt.Errorf("ask for abandoned files of %s: %w", kind, err)
		}
		n, err := s.db.FileDeleteMany(ctx, s.deps.Pool, objectid.Strings(gone))
		if err != nil {
			return deleted, fmt.Errorf("delete orphans of %s: %w", kind, err)
		}
		deleted += n
		after = rows[len(rows)-1].ID
	}
}
