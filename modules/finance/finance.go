package finance

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/finance/exports"
	"marquee/modules/finance/internal/financedb"
	"marquee/modules/finance/reports"
	"marquee/platform/clock"
	"marquee/platform/jobs"
)

// ExportConfig is the configuration of exports; the zero value of a field means its default.
type ExportConfig = exports.Config

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
	Callers exports.Callers
	Exports ExportConfig
}

// Service reads the figures: reports and exports have rooms of their own, the rollups
// behind both are the service's.
type Service struct {
	deps    Deps
	db      *financedb.Queries
	zone    string      // the name of Deps.Zone, as the database knows it
	zoneSet atomic.Bool // the database was told the zone

	reports *reports.Reports
	exports *exports.Exports
}

// New makes the service.
func New(d Deps) *Service {
	if d.Reads == nil {
		d.Reads = d.Pool
	}
	figures := reports.New(reports.Deps{Reads: d.Reads, Clock: d.Clock, Zone: d.Zone})
	return &Service{
		deps: d, db: financedb.New(), zone: d.Zone.String(), reports: figures,
		exports: exports.New(exports.Deps{
			Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Zone: d.Zone, Reports: figures, Callers: d.Callers,
			Config: d.Exports,
		}),
	}
}

// Snapshot runs f in a read-only transaction that sees one instant of the database.
func (s *Service) Snapshot(ctx context.Context, timeout time.Duration, f func(tx pgx.Tx) error) error {
	return s.reports.Snapshot(ctx, timeout, f)
}

// Overview reads the present figures, all as of one instant.
func (s *Service) Overview(ctx context.Context) (reports.Overview, error) {
	return s.reports.Overview(ctx)
}

// Revenue reads the series of a period.
func (s *Service) Revenue(ctx context.Context, p reports.RevenuePeriod) (reports.Revenue, error) {
	return s.reports.Revenue(ctx, p)
}

// Churn reads the last months, the present one among them.
func (s *Service) Churn(ctx context.Context, months int) (reports.Churn, error) {
	return s.reports.Churn(ctx, months)
}
