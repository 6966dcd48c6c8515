package withdrawal

import (
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/webhooks"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Calls   *calls.Calls
	Applier *webhooks.Applier
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
