package reconcile

import (
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/retries"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/webhooks"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Calls    *calls.Calls
	Settler  *settle.Settler
	Locator  *webhooks.Locator
	Applier  *webhooks.Applier
	Retries  *retries.Retries
	Recovery *recovery.Recovery
}

// Reconciler compares subscriptions with what the gateways say of them.
type Reconciler struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Reconciler {
	return &Reconciler{deps: d}
}
