package events

import (
	"log/slog"

	"marquee/modules/accounts"
	"marquee/modules/files"
	"marquee/modules/payments"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
)

// Base is what every room of the module stands on.
type Base struct {
	Pool     postgres.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service
	Payments *payments.Service
}

// Deps is what New needs.
type Deps struct {
	Base
	Lists  *replica.Set // serves the lists
	Files  *files.Service
	Routes resource.Routes
}

// Store is the room.
type Store struct {
	deps Deps
	db   *ticketsdb.Queries
}

// New makes the room.
func New(d Deps) *Store {
	return &Store{deps: d, db: ticketsdb.New()}
}

// Handlers answers the room's routes.
type Handlers struct{ s *Store }

// Handlers returns what answers the routes.
func (s *Store) Handlers() Handlers { return Handlers{s} }
