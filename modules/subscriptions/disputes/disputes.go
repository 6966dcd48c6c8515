package disputes

import (
	"marquee/modules/subscriptions/lifecycle"
)

// Disputes follows the disputes about a subscription's payments.
type Disputes struct {
	deps lifecycle.Base
	db   lifecycle.Queries
}

// New makes the room.
func New(b lifecycle.Base) *Disputes {
	return &Disputes{deps: b}
}
