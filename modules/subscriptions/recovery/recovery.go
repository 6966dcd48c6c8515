package recovery

import (
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Calls   *calls.Calls
	Settler *settle.Settler
}

// Recovery reads live what waits at its gateway, and drops what nobody paid.
type Recovery struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Recovery {
	return &Recovery{deps: d}
}
