package admin

import (
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/extensions"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/reconcile"
	"marquee/modules/subscriptions/selfservice"
	"marquee/modules/subscriptions/webhooks"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
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
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Admin {
	return &Admin{deps: d}
}
