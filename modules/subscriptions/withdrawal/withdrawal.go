package withdrawal

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/webhooks"
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
	Reads    *lifecycle.Reads
	Store    *lifecycle.Store
	Calls    *calls.Calls
	Applier  *webhooks.Applier
}

// Withdrawals ends subscriptions within the days of regret and gives all money back.
type Withdrawals struct {
	deps Deps
	db   *subscriptionsdb.Queries
}

// New makes the room.
func New(d Deps) *Withdrawals {
	return &Withdrawals{deps: d, db: subscriptionsdb.New()}
}
