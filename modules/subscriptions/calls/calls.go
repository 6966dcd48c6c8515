package calls

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/clock"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Clock    clock.Clock
	Log      *slog.Logger
	Payments *payments.Service
	Intents  *intent.Service
	Calendar *lifecycle.Calendar
	Store    *lifecycle.Store
}

// Calls ends and repeats what is asked of the gateways.
type Calls struct {
	pool     *pgxpool.Pool
	clock    clock.Clock
	log      *slog.Logger
	payments *payments.Service
	intents  *intent.Service
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	store    *lifecycle.Store
}

// New makes the room.
func New(d Deps) *Calls {
	return &Calls{pool: d.Pool, clock: d.Clock, log: d.Log, payments: d.Payments, intents: d.Intents, db: subscriptionsdb.New(), calendar: d.Calendar, store: d.Store}
}
