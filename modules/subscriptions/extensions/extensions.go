package extensions

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
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
	Log      *slog.Logger
	Payments *payments.Service
	Intents  *intent.Service
	Config   lifecycle.Config
	Calendar *lifecycle.Calendar
	Reads    *lifecycle.Reads
	Store    *lifecycle.Store
}

// Extensions gives time without a charge, and has the next charge moved.
type Extensions struct {
	pool     *pgxpool.Pool
	jobs     *jobs.Client
	clock    clock.Clock
	log      *slog.Logger
	payments *payments.Service
	intents  *intent.Service
	cfg      lifecycle.Config
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	reads    *lifecycle.Reads
	store    *lifecycle.Store
}

// New makes the room.
func New(d Deps) *Extensions {
	return &Extensions{pool: d.Pool, jobs: d.Jobs, clock: d.Clock, log: d.Log, payments: d.Payments, intents: d.Intents, cfg: d.Config, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store}
}
