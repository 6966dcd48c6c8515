package orders

import (
	"time"

	"marquee/modules/payments/intent"
	"marquee/modules/tickets/events"
)

// Config holds what orders are shown and judged by.
type Config struct {
	Zone             *time.Location // REPORT_TZ
	PixTTL           time.Duration
	WithdrawalDays   int
	WithdrawalBefore time.Duration
}

// Deps is what New needs.
type Deps struct {
	events.Base
	Events *events.Store
	Config Config
}

// Store is the room: orders, and what money does to them.
type Store struct {
	deps    Deps
	intents *intent.Service
	db      Queries
}

// New makes the room.
func New(d Deps) *Store {
	return &Store{deps: d, intents: d.Payments.Intents()}
}

// CallerOrders is what customers see of their orders.
type CallerOrders struct{ store *Store }

// NewCallerOrders makes it.
func NewCallerOrders(s *Store) *CallerOrders { return &CallerOrders{store: s} }

// Handlers answers the room's routes.
type Handlers struct{ s *CallerOrders }

// Handlers returns what answers the routes.
func (s *CallerOrders) Handlers() Handlers { return Handlers{s} }
