package debits

import (
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Calls *calls.Calls
}

// Debits orders the debits of automatic PIX and keeps what became of them.
type Debits struct {
	deps Deps
	db   lifecycle.Queries
}

// Pauses has the gateways collect nothing for a while.
type Pauses struct {
	deps   Deps
	db     lifecycle.Queries
	debits *Debits
}

// New makes the room.
func New(d Deps) (*Debits, *Pauses) {
	debits := &Debits{deps: d}
	pauses := &Pauses{deps: d, debits: debits}
	return debits, pauses
}
