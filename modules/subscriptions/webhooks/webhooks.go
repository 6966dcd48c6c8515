package webhooks

import (
	"marquee/modules/subscriptions/charges"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/dunning"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Debits   *debits.Debits
	Dunning  *dunning.Dunning
	Disputes *disputes.Disputes
	Settler  *settle.Settler
	Charges  *charges.Charges
}

// Locator finds the subscription that an event is about.
type Locator struct {
	deps Deps
	db   lifecycle.Queries
}

// Applier applies events to subscriptions.
type Applier struct {
	deps    Deps
	db      lifecycle.Queries
	locator *Locator
}

// New makes the room.
func New(d Deps) (*Locator, *Applier) {
	locator := &Locator{deps: d}
	applier := &Applier{deps: d, locator: locator}
	return locator, applier
}
