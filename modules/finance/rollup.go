package finance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"marquee/platform/postgres"
)

// foldAtMost bounds what one transaction folds, so that none is long.
const foldAtMost = 20_000

// Fold moves what transactions changed since into the rollups and returns how
// many deltas there were. No figure changes by it, also while it runs: readers
// see a delta either as such or folded.
func (s *Service) Fold(ctx context.Context) (int64, error) {
	var all int64
	for {
		n, err := s.db.RollupFold(ctx, s.deps.Pool, foldAtMost)
		if err != nil {
			return all, fmt.Errorf("fold deltas: %w", err)
		}
		all += n
		if n < foldAtMost {
			return all, nil
		}
	}
}

// Check compares the rollups with what the ledgers say, as of one instant, keeps
// the result for the metric, and returns the number of differences. It reads every
// ledger whole.
func (s *Service) Check(ctx context.Context) (int64, error) {
	found, err := s.db.RollupCheck(ctx, s.deps.Pool, s.deps.Clock.Now())
	if err != nil {
		return 0, fmt.Errorf("compare rollups with the scan: %w", err)
	}
	if found.Differences > 0 {
		s.deps.Log.ErrorContext(ctx, "finance rollups differ from the ledgers",
			slog.Int64("differences", found.Differences), slog.String("examples", string(found.Examples)))
	}
	return found.Differences, nil
}

// UseReportZone tells the database REPORT_TZ, so that psql and the API cut days
// and months at the same instants. Another zone than before counts the rollups
// anew. On a database without this schema it does nothing: its migrations will
// come, and the job that folds tells it then.
func (s *Service) UseReportZone(ctx context.Context) error {
	var changed bool
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) (err error) {
		changed, err = s.db.ReportZoneUse(ctx, tx, s.zone)
		return err
	})
	if notMigrated(err) {
		s.deps.Log.WarnContext(ctx, "the database has no finance schema yet: run marquee migrate up")
		return nil
	}
	if err != nil {
		return fmt.Errorf("set the report time zone %s: %w", s.zone, err)
	}
	s.zoneSet.Store(true)
	if changed {
		s.deps.Log.InfoContext(ctx, "reports have a new time zone", slog.String("report_tz", s.zone))
	}
	return nil
}

func notMigrated(err error) bool {
	var pgErr *pgconn.PgError
	const undefinedFunction, invalidSchema = "42883", "3F000"
	return errors.As(err, &pgErr) && (pgErr.Code == undefinedFunction || pgErr.Code == invalidSchema)
}
