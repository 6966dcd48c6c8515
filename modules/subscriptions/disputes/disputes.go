package disputes

import (
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
)

// Disputes follows the disputes about a subscription's payments.
type Disputes struct {
	deps lifecycle.Base
	db   *subscriptionsdb.Queries
}

// New makes the room.
func New(b lifecycle.Base) *Disputes {
	return &Disputes{deps: b, db: subscriptionsdb.New()}
}
