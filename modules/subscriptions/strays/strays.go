package strays

import (
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/operators"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Operators *operators.Mailer
	Locator   *webhooks.Locator
}

// Strays ends recurrences that nobody has here, and gives their money back.
type Strays struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Strays {
	return &Strays{deps: d}
}
