package plans

import (
	"marquee/modules/subscriptions/lifecycle"
)

// Plans sells the plans and moves subscriptions between them.
type Plans struct {
	deps lifecycle.Base
	db   lifecycle.Queries
}

// New makes the room.
func New(b lifecycle.Base) *Plans {
	return &Plans{deps: b}
}
