package reports

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
)

// Deps are what New needs.
type Deps struct {
	Reads *replica.Set // may lag
	Clock clock.Clock
	Log   *slog.Logger
	Zone  *time.Location // REPORT_TZ
	// EndsWithPeriod are the gateways that let a recurrence run to the end of its period when told to end.
	EndsWithPeriod []string
}

// Reports reads the figures.
type Reports struct {
	deps    Deps
	db      *financedb.Queries
	overdue *resource.Resource
}

// reportTimeout bounds a statement of a dashboard; exports have their own.
const reportTimeout = 20 * time.Second

// New makes the room.
func New(d Deps) *Reports {
	return &Reports{deps: d, db: financedb.New(), overdue: overdueList(d.EndsWithPeriod)}
}

// Handlers answers the routes; each reads the database once.
type Handlers struct{ *Reports }

// Handlers returns what answers the routes.
func (s *Reports) Handlers() Handlers { return Handlers{s} }

// CatchUp has what is read for the context be no older than now, and gives replicas some seconds for it.
func (s *Reports) CatchUp(ctx context.Context) (context.Context, error) {
	return s.deps.Reads.CatchUp(ctx)
}

// MayBreakOff reports whether a snapshot may be begun anew: there are replicas.
func (s *Reports) MayBreakOff() bool { return s.deps.Reads.Replicated() }

// Snapshot runs f in a read-only transaction that sees one instant of the
// database throughout, with finance.now() at the service's clock: figures read in
// it agree with each other. Statements in it may run for timeout; 0 is without end. Where a
// replica fails, f is run again on the primary (replica.Final: it is not); its context ends when a replica is given up.
func (s *Reports) Snapshot(ctx context.Context, timeout time.Duration,
	f func(ctx context.Context, tx pgx.Tx) error,
) error {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return err
	}
	return s.snapshot(ctx, timeout, f)
}

// snapshot is Snapshot for what has to be looked for before a HEAD is answered.
func (s *Reports) snapshot(ctx context.Context, timeout time.Duration,
	f func(ctx context.Context, tx pgx.Tx) error,
) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return s.deps.Reads.Read(ctx, func(ctx context.Context, db postgres.Pool) error {
		return pgx.BeginTxFunc(ctx, db, options, func(tx pgx.Tx) error {
			err := s.db.SnapshotBegin(ctx, tx, financedb.SnapshotBeginParams{
				Now:     s.deps.Clock.Now().Format(time.RFC3339Nano),
				Timeout: strconv.FormatInt(timeout.Milliseconds(), 10),
			})
			if err != nil {
				return fmt.Errorf("begin snapshot: %w", err)
			}
			return f(ctx, tx)
		})
	})
}
