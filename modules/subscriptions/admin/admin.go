package admin

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/extensions"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/reconcile"
	"marquee/modules/subscriptions/selfservice"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/clock"
)

// Deps is what New needs.
type Deps struct {
	Pool        *pgxpool.Pool
	Clock       clock.Clock
	Log         *slog.Logger
	Payments    *payments.Service
	Intents     *intent.Service
	Config      lifecycle.Config
	Calendar    *lifecycle.Calendar
	Reads       *lifecycle.Reads
	Store       *lifecycle.Store
	Calls       *calls.Calls
	Plans       *plans.Plans
	Extensions  *extensions.Extensions
	Disputes    *disputes.Disputes
	Applier     *webhooks.Applier
	Reconciler  *reconcile.Reconciler
	SelfService *selfservice.SelfService
}

// Admin is what admins do with subscriptions.
type Admin struct {
	deps Deps
	db   *subscriptionsdb.Queries
}

// New makes the room.
func New(d Deps) *Admin {
	return &Admin{deps: d, db: subscriptionsdb.New()}
}
