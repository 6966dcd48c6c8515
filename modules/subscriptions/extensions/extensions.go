package extensions

import (
	"marquee/modules/subscriptions/lifecycle"
)

// Extensions gives time without a charge, and has the next charge moved.
type Extensions struct {
	deps lifecycle.Base
	db   lifecycle.Queries
}

// New makes the room.
func New(b lifecycle.Base) *Extensions {
	return &Extensions{deps: b}
}
