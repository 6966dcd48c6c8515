package strays

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/operators"
)

// Deps is what New needs.
type Deps struct {
	Pool      *pgxpool.Pool
	Jobs      *jobs.Client
	Clock     clock.Clock
	Log       *slog.Logger
	Accounts  *accounts.Service
	Payments  *payments.Service
	Intents   *intent.Service
	Operators *operators.Mailer
	Store     *lifecycle.Store
	Locator   *webhooks.Locator
}

// Strays ends recurrences that nobody has here, and gives their money back.
type Strays struct {
	deps Deps
	db   *subscriptionsdb.Queries
}

// New makes the room.
func New(d Deps) *Strays {
	return &Strays{deps: d, db: subscriptionsdb.New()}
}
