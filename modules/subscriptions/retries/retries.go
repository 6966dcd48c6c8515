package retries

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
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
	Debits   *debits.Debits
	Settler  *settle.Settler
	Applier  *webhooks.Applier
}

// Retries has debits that failed taken again, and asks what became of them.
type Retries struct {
	deps Deps
	db   *subscriptionsdb.Queries
}

// New makes the room.
func New(d Deps) *Retries {
	return &Retries{deps: d, db: subscriptionsdb.New()}
}
