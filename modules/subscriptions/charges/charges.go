package charges

import (
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/settle"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Plans   *plans.Plans
	Settler *settle.Settler
}

// Charges makes PIX codes that pay a further period.
type Charges struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Charges {
	return &Charges{deps: d}
}
