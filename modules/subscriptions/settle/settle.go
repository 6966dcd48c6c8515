package settle

import (
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/lifecycle"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Debits   *debits.Debits
	Disputes *disputes.Disputes
}

// Settler writes what money and a gateway's answer mean to a subscription.
type Settler struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Settler {
	return &Settler{deps: d}
}
