package refunds

import (
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/reconcile"
)

// Config bounds what the job does, and holds the page that mailed links open.
type Config struct {
	RefundsPerSecond int
	WithdrawalPage   []byte // HTML
}

// Deps is what New needs.
type Deps struct {
	events.Base
	Events       *events.Store
	Orders       *orders.Store
	CallerOrders *orders.CallerOrders
	Links        *orders.Links
	Reconcile    *reconcile.Reconciler
	Config       Config
}

// Refunds is the room.
type Refunds struct {
	deps    Deps
	intents *intent.Service
	db      orders.Queries
}

// New makes the room.
func New(d Deps) *Refunds {
	return &Refunds{deps: d, intents: d.Payments.Intents()}
}

// Handlers answers the room's routes.
type Handlers struct{ s *Refunds }

// Handlers returns what answers the routes.
func (s *Refunds) Handlers() Handlers { return Handlers{s} }
