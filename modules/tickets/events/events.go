package events

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/files"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/clock"
	"marquee/platform/collection"
	"marquee/platform/jobs"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Lists    *pgxpool.Pool // serves the lists
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service
	Files    *files.Service
	Routes   collection.Routes
}

// Store is the room.
type Store struct {
	pool     *pgxpool.Pool
	lists    *pgxpool.Pool
	jobs     *jobs.Client
	clock    clock.Clock
	log      *slog.Logger
	accounts *accounts.Service
	files    *files.Service
	crud     collection.Routes
	db       *ticketsdb.Queries
}

// New makes the room.
func New(d Deps) *Store {
	return &Store{
		pool: d.Pool, lists: d.Lists, jobs: d.Jobs, clock: d.Clock, log: d.Log, accounts: d.Accounts, files: d.Files, crud: d.Routes, db: ticketsdb.New(),
	}
}
