package dunning

import (
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/mail"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Mail      mail.Sender
	Templates *mail.Templates
	Debits    *debits.Debits
}

// Dunning writes to customers whose payment failed.
type Dunning struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Dunning {
	return &Dunning{deps: d}
}
