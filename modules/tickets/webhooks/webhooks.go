package webhooks

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/platform/clock"
	"marquee/platform/jobs"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Payments *payments.Service
	Orders   *orders.Store
}

// Applier is the room.
type Applier struct {
	pool     *pgxpool.Pool
	jobs     *jobs.Client
	clock    clock.Clock
	log      *slog.Logger
	payments *payments.Service
	orders   *orders.Store
	db       *ticketsdb.Queries
}

// New makes the room.
func New(d Deps) *Applier {
	return &Applier{pool: d.Pool, jobs: d.Jobs, clock: d.Clock, log: d.Log, payments: d.Payments, orders: d.Orders, db: ticketsdb.New()}
}
