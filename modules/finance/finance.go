package finance

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
)

// Deps are what New needs.
type Deps struct {
	Pool *pgxpool.Pool
	// Reads serves reports, which may lag: the replica when there is one; nil means Pool.
	Reads *pgxpool.Pool
	Jobs  *jobs.Client
	Clock clock.Clock
	Log   *slog.Logger
	Zone  *time.Location // REPORT_TZ
	// Callers opens the download links of exports.
	Callers Callers
	Exports ExportConfig
}

// Service reads the figures.
type Service struct {
	pool     *pgxpool.Pool
	reads    *pgxpool.Pool
	jobs     *jobs.Client
	clock    clock.Clock
	log      *slog.Logger
	location *time.Location
	zone     string      // its name, as the database knows it
	zoneTold atomic.Bool // the database was told the zone
	db       *financedb.Queries
	exports  exports
}

// reportTimeout bounds a statement of a dashboard; exports have their own.
const reportTimeout = 20 * time.Second

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		pool: d.Pool, reads: d.Reads, jobs: d.Jobs, clock: d.Clock, log: d.Log, location: d.Zone, zone: d.Zone.String(), db: financedb.New(),
		exports: newExports(d),
	}
	if s.reads == nil {
		s.reads = d.Pool
	}
	return s
}

// Snapshot runs f in a read-only transaction that sees one instant of the
// database throughout, with finance.now() at the service's clock: figures read in
// it agree with each other. Statements in it may run for timeout; 0 is without end.
func (s *Service) Snapshot(ctx context.Context, timeout time.Duration, f func(tx pgx.Tx) error) error {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return err
	}
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.reads, options, func(tx pgx.Tx) error {
		err := s.db.BeginSnapshot(ctx, tx, financedb.BeginSnapshotParams{
			Now: s.clock.Now().Format(time.RFC3339Nano), Timeout: fmt.Sprint(timeout.Milliseconds()),
		})
		if err != nil {
			return fmt.Errorf("begin snapshot: %w", err)
		}
		return f(tx)
	})
}
