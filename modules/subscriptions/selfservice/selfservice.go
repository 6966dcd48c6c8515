package selfservice

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/charges"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/reconcile"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/withdrawal"
	"marquee/platform/clock"
	"marquee/platform/jobs"
)

// Deps is what New needs.
type Deps struct {
	Pool        *pgxpool.Pool
	Jobs        *jobs.Client
	Clock       clock.Clock
	Log         *slog.Logger
	Payments    *payments.Service
	Intents     *intent.Service
	Calendar    *lifecycle.Calendar
	Reads       *lifecycle.Reads
	Store       *lifecycle.Store
	Calls       *calls.Calls
	Plans       *plans.Plans
	Debits      *debits.Debits
	Disputes    *disputes.Disputes
	Settler     *settle.Settler
	Charges     *charges.Charges
	Recovery    *recovery.Recovery
	Reconciler  *reconcile.Reconciler
	Checkout    *checkout.Checkout
	Withdrawals *withdrawal.Withdrawals
}

// SelfService is what customers do with their own subscription.
type SelfService struct {
	deps Deps
	db   *subscriptionsdb.Queries
}

// New makes the room.
func New(d Deps) *SelfService {
	return &SelfService{deps: d, db: subscriptionsdb.New()}
}
