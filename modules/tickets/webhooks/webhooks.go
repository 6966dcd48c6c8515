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
	deps Deps
	db   *ticketsdb.Queries
}

// New makes the room.
func New(d Deps) *Applier {
	return &Applier{deps: d, db: ticketsdb.New()}
}
