package extensions

import (
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
)

// Extensions gives time without a charge, and has the next charge moved.
type Extensions struct {
	deps lifecycle.Base
	db   *subscriptionsdb.Queries
}

// New makes the room.
func New(b lifecycle.Base) *Extensions {
	return &Extensions{deps: b, db: subscriptionsdb.New()}
}
