package debits

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/clock"
	"marquee/platform/jobs"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Payments *payments.Service
	Intents  *intent.Service
	Config   lifecycle.Config
	Calendar *lifecycle.Calendar
	Reads    *lifecycle.Reads
	Store    *lifecycle.Store
	Calls    *calls.Calls
}

// Debits orders the debits of automatic PIX and keeps what became of them.
type Debits struct {
	pool     *pgxpool.Pool
	jobs     *jobs.Client
	clock    clock.Clock
	payments *payments.Service
	intents  *intent.Service
	cfg      lifecycle.Config
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	reads    *lifecycle.Reads
	store    *lifecycle.Store
}

// Pauses has the gateways collect nothing for a while.
type Pauses struct {
	pool     *pgxpool.Pool
	clock    clock.Clock
	payments *payments.Service
	intents  *intent.Service
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	reads    *lifecycle.Reads
	store    *lifecycle.Store
	calls    *calls.Calls
	debits   *Debits
}

// New makes the room.
func New(d Deps) (*Debits, *Pauses) {
	debits := &Debits{pool: d.Pool, jobs: d.Jobs, clock: d.Clock, payments: d.Payments, intents: d.Intents, cfg: d.Config, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store}
	pauses := &Pauses{pool: d.Pool, clock: d.Clock, payments: d.Payments, intents: d.Intents, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store, calls: d.Calls, debits: debits}
	return debits, pauses
}
