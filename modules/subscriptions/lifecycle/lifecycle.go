package lifecycle

import (
	"log/slog"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
)

// Deps is what New needs.
type Deps struct {
	Pool     postgres.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service
	Payments *payments.Service
	Intents  *intent.Service
	Promos   PromoCodes
	Config   Config
}

// Calendar knows the days and terms of subscriptions: pure, but for the clock.
type Calendar struct {
	clock clock.Clock
	cfg   Config
}

// Reads answers what the rows of a subscription say.
type Reads struct {
	deps     Deps
	db       Queries
	calendar *Calendar
}

// Store is the only one that writes a subscription's state.
type Store struct {
	deps     Deps
	db       Queries
	calendar *Calendar
	reads    *Reads
}

// Base is what every room of the module stands on: what the module was given, and this room.
type Base struct {
	Deps
	Calendar *Calendar
	Reads    *Reads
	Store    *Store
}

// New makes the room.
func New(d Deps) Base {
	calendar := &Calendar{clock: d.Clock, cfg: d.Config}
	reads := &Reads{deps: d, calendar: calendar}
	store := &Store{deps: d, calendar: calendar, reads: reads}
	return Base{Deps: d, Calendar: calendar, Reads: reads, Store: store}
}
