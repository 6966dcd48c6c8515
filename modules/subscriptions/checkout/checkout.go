package checkout

import (
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/settle"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Settings lifecycle.Settings
	Calls    *calls.Calls
	Plans    *plans.Plans
	Settler  *settle.Settler
	Recovery *recovery.Recovery
}

// Checkout sells subscriptions.
type Checkout struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Checkout {
	return &Checkout{deps: d}
}
