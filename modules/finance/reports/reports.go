package reports

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
)

// Deps are what New needs.
type Deps struct {
	Reads postgres.Pool // may lag: the replica when there is one
	Clock clock.Clock
	Zone  *time.Location // REPORT_TZ
}

// Reports reads the figures.
type Reports struct {
	deps Deps
	db   *financedb.Queries
}

// reportTimeout bounds a statement of a dashboard; exports have their own.
const reportTimeout = 20 * time.Second

// New makes the room.
func New(d Deps) *Reports { return &Reports{deps: d, db: financedb.New()} }

// Handlers answers the routes; each reads the database once.
type Handlers struct{ *Reports }

// Handlers returns what answers the routes.
func (s *Reports) Handlers() Handlers { return Handlers{s} }

// Snapshot runs f in a read-only transaction that sees one instant of the
// database throughout, with finance.now() at the service's clock: figures read in
// it agree with each other. Statements in it may run for timeout; 0 is without end.
func (s *Reports) Snapshot(ctx context.Context, timeout time.Duration, f func(tx pgx.Tx) error) error {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return err
	}
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.deps.Reads, options, func(tx pgx.Tx) error {
		err := s.db.SnapshotBegin(ctx, tx, financedb.SnapshotBeginParams{
			Now: s.deps.Clock.Now().Format(time.RFC3339Nano), Timeout: strconv.FormatInt(timeout.Milliseconds(), 10),
		})
		if err != nil {
			return fmt.Errorf("begin snapshot: %w", err)
		}
		return f(tx)
	})
}
