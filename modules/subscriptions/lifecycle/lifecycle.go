package lifecycle

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/clock"
	"marquee/platform/jobs"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service
	Payments *payments.Service
	Intents  *intent.Service
	Promos   PromoCodes
	Config   Config
}

// Calendar knows the days and terms of subscriptions: pure, but for the clock.
type Calendar struct {
	clock clock.Clock
	cfg   Config
}

// Reads answers what the rows of a subscription say.
type Reads struct {
	deps     Deps
	db       *subscriptionsdb.Queries
	calendar *Calendar
}

// Store is the only one that writes a subscription's state.
type Store struct {
	deps     Deps
	db       *subscriptionsdb.Queries
	calendar *Calendar
	reads    *Reads
}

// New makes the room.
func New(d Deps) (*Calendar, *Reads, *Store) {
	calendar := &Calendar{clock: d.Clock, cfg: d.Config}
	reads := &Reads{deps: d, db: subscriptionsdb.New(), calendar: calendar}
	store := &Store{deps: d, db: subscriptionsdb.New(), calendar: calendar, reads: reads}
	return calendar, reads, store
}
