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
	"marquee/modules/subscriptions/own"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/reconcile"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/clock"
)

// Deps is what New needs.
type Deps struct {
	Pool       *pgxpool.Pool
	Clock      clock.Clock
	Log        *slog.Logger
	Payments   *payments.Service
	Intents    *intent.Service
	Config     lifecycle.Config
	Calendar   *lifecycle.Calendar
	Reads      *lifecycle.Reads
	Store      *lifecycle.Store
	Calls      *calls.Calls
	Plans      *plans.Plans
	Extensions *extensions.Extensions
	Disputes   *disputes.Disputes
	Applier    *webhooks.Applier
	Reconciler *reconcile.Reconciler
	Own        *own.Own
}

// Admin is what admins do with subscriptions.
type Admin struct {
	pool       *pgxpool.Pool
	clock      clock.Clock
	log        *slog.Logger
	payments   *payments.Service
	intents    *intent.Service
	cfg        lifecycle.Config
	db         *subscriptionsdb.Queries
	calendar   *lifecycle.Calendar
	reads      *lifecycle.Reads
	store      *lifecycle.Store
	calls      *calls.Calls
	plans      *plans.Plans
	extensions *extensions.Extensions
	disputes   *disputes.Disputes
	applier    *webhooks.Applier
	reconciler *reconcile.Reconciler
	own        *own.Own
}

// New makes the room.
func New(d Deps) *Admin {
	return &Admin{pool: d.Pool, clock: d.Clock, log: d.Log, payments: d.Payments, intents: d.Intents, cfg: d.Config, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store, calls: d.Calls, plans: d.Plans, extensions: d.Extensions, disputes: d.Disputes, applier: d.Applier, reconciler: d.Reconciler, own: d.Own}
}
