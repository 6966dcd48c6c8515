package charges

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/settle"
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
	Plans    *plans.Plans
	Settler  *settle.Settler
}

// Charges makes PIX codes that pay a further period.
type Charges struct {
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
	plans    *plans.Plans
	settler  *settle.Settler
}

// New makes the room.
func New(d Deps) *Charges {
	return &Charges{pool: d.Pool, clock: d.Clock, log: d.Log, payments: d.Payments, intents: d.Intents, cfg: d.Config, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store, plans: d.Plans, settler: d.Settler}
}
