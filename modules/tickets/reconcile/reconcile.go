package reconcile

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/platform/clock"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Clock    clock.Clock
	Payments *payments.Service
	Orders   *orders.Store
}

// Reconciler is the room.
type Reconciler struct {
	pool     *pgxpool.Pool
	clock    clock.Clock
	payments *payments.Service
	intents  *intent.Service
	orders   *orders.Store
	db       *ticketsdb.Queries
}

// New makes the room.
func New(d Deps) *Reconciler {
	return &Reconciler{pool: d.Pool, clock: d.Clock, payments: d.Payments, intents: d.Payments.Intents(), orders: d.Orders, db: ticketsdb.New()}
}
