package retries

import (
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/webhooks"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Calls   *calls.Calls
	Debits  *debits.Debits
	Settler *settle.Settler
	Applier *webhooks.Applier
}

// Retries has debits that failed taken again, and asks what became of them.
type Retries struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Retries {
	return &Retries{deps: d}
}
