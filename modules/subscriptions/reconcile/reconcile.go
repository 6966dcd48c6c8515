package reconcile

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/retries"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/clock"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Clock    clock.Clock
	Log      *slog.Logger
	Payments *payments.Service
	Intents  *intent.Service
	Config   lifecycle.Config
	Calendar *lifecycle.Calendar
	Reads    *lifecycle.Reads
	Store    *lifecycle.Store
	Calls    *calls.Calls
	Settler  *settle.Settler
	Applier  *webhooks.Applier
	Retries  *retries.Retries
	Recovery *recovery.Recovery
}

// Reconciler compares subscriptions with what the gateways say of them.
type Reconciler struct {
	pool     *pgxpool.Pool
	clock    clock.Clock
	log      *slog.Logger
	payments *payments.Service
	intents  *intent.Service
	cfg      lifecycle.Config
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	reads    *lifecycle.Reads
	store    *lifecycle.Store
	calls    *calls.Calls
	settler  *settle.Settler
	applier  *webhooks.Applier
	retries  *retries.Retries
	recovery *recovery.Recovery
}

// New makes the room.
func New(d Deps) *Reconciler {
	return &Reconciler{pool: d.Pool, clock: d.Clock, log: d.Log, payments: d.Payments, intents: d.Intents, cfg: d.Config, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store, calls: d.Calls, settler: d.Settler, applier: d.Applier, retries: d.Retries, recovery: d.Recovery}
}
