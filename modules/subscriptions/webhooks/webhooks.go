package webhooks

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/charges"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/dunning"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
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
	Config   lifecycle.Config
	Calendar *lifecycle.Calendar
	Reads    *lifecycle.Reads
	Store    *lifecycle.Store
	Debits   *debits.Debits
	Dunning  *dunning.Dunning
	Disputes *disputes.Disputes
	Settler  *settle.Settler
	Charges  *charges.Charges
}

// Locator finds the subscription that an event is about.
type Locator struct {
	jobs     *jobs.Client
	log      *slog.Logger
	payments *payments.Service
	db       *subscriptionsdb.Queries
	store    *lifecycle.Store
	charges  *charges.Charges
}

// Applier applies events to subscriptions.
type Applier struct {
	pool     *pgxpool.Pool
	jobs     *jobs.Client
	clock    clock.Clock
	payments *payments.Service
	cfg      lifecycle.Config
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	reads    *lifecycle.Reads
	store    *lifecycle.Store
	debits   *debits.Debits
	dunning  *dunning.Dunning
	disputes *disputes.Disputes
	settler  *settle.Settler
	charges  *charges.Charges
	locator  *Locator
}

// New makes the room.
func New(d Deps) (*Locator, *Applier) {
	locator := &Locator{jobs: d.Jobs, log: d.Log, payments: d.Payments, db: subscriptionsdb.New(), store: d.Store, charges: d.Charges}
	applier := &Applier{pool: d.Pool, jobs: d.Jobs, clock: d.Clock, payments: d.Payments, cfg: d.Config, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store, debits: d.Debits, dunning: d.Dunning, disputes: d.Disputes, settler: d.Settler, charges: d.Charges, locator: locator}
	return locator, applier
}
