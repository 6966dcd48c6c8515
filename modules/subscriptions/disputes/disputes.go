package disputes

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/clock"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Clock    clock.Clock
	Payments *payments.Service
	Calendar *lifecycle.Calendar
	Reads    *lifecycle.Reads
	Store    *lifecycle.Store
}

// Disputes follows the disputes about a subscription's payments.
type Disputes struct {
	pool     *pgxpool.Pool
	clock    clock.Clock
	payments *payments.Service
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	reads    *lifecycle.Reads
	store    *lifecycle.Store
}

// New makes the room.
func New(d Deps) *Disputes {
	return &Disputes{pool: d.Pool, clock: d.Clock, payments: d.Payments, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store}
}
