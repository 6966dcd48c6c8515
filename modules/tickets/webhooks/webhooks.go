package webhooks

import (
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
)

// Deps is what New needs.
type Deps struct {
	events.Base
	Orders *orders.Store
}

// Applier is the room.
type Applier struct {
	deps Deps
	db   orders.Queries
}

// New makes the room.
func New(d Deps) *Applier {
	return &Applier{deps: d}
}
