package finance

import (
	"log/slog"
	"sync/atomic"
	"time"

	"marquee/modules/finance/exports"
	"marquee/modules/finance/internal/financedb"
	"marquee/modules/finance/reports"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/stream"
)

// ExportConfig is the configuration of exports; the zero value of a field means its default.
type ExportConfig = exports.Config

// Deps are what New needs.
type Deps struct {
	Pool postgres.Pool
	// Reads serves reports, which may lag: the replica when there is one; nil means Pool.
	Reads *replica.Set
	Jobs  *jobs.Client
	Clock clock.Clock
	Log   *slog.Logger
	Zone  *time.Location // REPORT_TZ
	// EndsWithPeriod are the gateways that let a recurrence run to the end of its period when told to end.
	EndsWithPeriod []string
	// Callers opens the download links of exports.
	Callers exports.Callers
	// Streams tell how far exports are.
	Streams *stream.Streams
	Exports ExportConfig
}

type figures = reports.Reports

// Service reads the figures: reports and exports have rooms of their own, the rollups
// behind both are the service's.
type Service struct {
	*figures
	deps    Deps
	db      *financedb.Queries
	zone    string      // the name of Deps.Zone, as the database knows it
	zoneSet atomic.Bool // the database was told the zone

	exports *exports.Exports
}

// New makes the service.
func New(d Deps) *Service {
	if d.Reads == nil {
		d.Reads = replica.Only(d.Pool)
	}
	figures := reports.New(reports.Deps{
		Reads: d.Reads, Clock: d.Clock, Log: d.Log, Zone: d.Zone, EndsWithPeriod: d.EndsWithPeriod,
	})
	return &Service{
		deps: d, db: financedb.New(), zone: d.Zone.String(), figures: figures,
		exports: exports.New(exports.Deps{
			Pool: d.Pool, Jobs: d.Jobs, Clock: d.Clock, Log: d.Log, Zone: d.Zone, Reports: figures, Callers: d.Callers,
			Config: d.Exports, Streams: d.Streams,
		}),
	}
}
