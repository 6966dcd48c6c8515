package exports

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/finance/internal/financedb"
)

// SweepEvery is how often exports are looked after.
const SweepEvery = time.Minute

// SweepExportsArgs is the job that removes expired exports and takes those up
// again whose worker was killed.
type SweepExportsArgs struct{}

// Kind names the job.
func (SweepExportsArgs) Kind() string { return "finance_sweep_exports" }

// InsertOpts let one run a minute, however many processes there are.
func (SweepExportsArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByPeriod: SweepEvery}}
}

// errSilent is what became of an export whose worker was killed.
var errSilent = errors.New("finance: the worker fell silent")

// Sweep deletes exports whose time is over, and starts those again whose worker is gone.
func (s *Exports) Sweep(ctx context.Context) error {
	now := s.deps.Clock.Now()
	gone, err := s.db.ExportDeleteExpired(ctx, s.deps.Pool, now)
	if err != nil {
		return fmt.Errorf("remove expired exports: %w", err)
	}
	lost, err := s.db.ExportListLost(ctx, s.deps.Pool, now)
	if err != nil {
		return fmt.Errorf("list lost exports: %w", err)
	}
	for _, e := range lost {
		_, err := s.takeBack(ctx, financedb.Export{ID: e.ID, Attempt: e.Attempt}, errSilent, func(tx pgx.Tx) error {
			_, err := s.deps.Jobs.InsertTx(ctx, tx, WriteExportArgs{ExportID: e.ID}, nil)
			return err
		})
		if err != nil {
			return fmt.Errorf("take export back: %w", err)
		}
	}
	if gone > 0 || len(lost) > 0 {
		s.deps.Log.InfoContext(ctx, "exports swept", slog.Int64("expired", gone), slog.Int("lost", len(lost)))
	}
	return nil
}
