package checkout

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/clock"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service
	Payments *payments.Service
	Intents  *intent.Service
	Settings lifecycle.Settings
	Promos   lifecycle.PromoCodes
	Config   lifecycle.Config
	Calendar *lifecycle.Calendar
	Reads    *lifecycle.Reads
	Store    *lifecycle.Store
	Calls    *calls.Calls
	Plans    *plans.Plans
	Settler  *settle.Settler
	Recovery *recovery.Recovery
}

// Checkout sells subscriptions.
type Checkout struct {
	pool     *pgxpool.Pool
	clock    clock.Clock
	log      *slog.Logger
	accounts *accounts.Service
	payments *payments.Service
	intents  *intent.Service
	settings lifecycle.Settings
	promos   lifecycle.PromoCodes
	cfg      lifecycle.Config
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	reads    *lifecycle.Reads
	store    *lifecycle.Store
	calls    *calls.Calls
	plans    *plans.Plans
	settler  *settle.Settler
	recovery *recovery.Recovery
}

// New makes the room.
func New(d Deps) *Checkout {
	return &Checkout{pool: d.Pool, clock: d.Clock, log: d.Log, accounts: d.Accounts, payments: d.Payments, intents: d.Intents, settings: d.Settings, promos: d.Promos, cfg: d.Config, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store, calls: d.Calls, plans: d.Plans, settler: d.Settler, recovery: d.Recovery}
}
