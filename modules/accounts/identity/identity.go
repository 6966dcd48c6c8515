package identity

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/files"
	"marquee/platform/clock"
)

// Deps are what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Clock    clock.Clock
	Files    *files.Service
	Promises Promises // nil: nothing is promised at signup
	// TaxIDAlphanumeric takes a CNPJ with letters, in force since July 2026.
	TaxIDAlphanumeric bool
	TrialKey          []byte // under which tax ids are known again that have had a trial
}

// Store reads and writes users.
type Store struct {
	deps    Deps
	db      *accountsdb.Queries
	changes []CustomerChanges
}

// New makes the room.
func New(d Deps) *Store { return &Store{deps: d, db: accountsdb.New()} }

// Connect sets what is called when a customer has changed.
func (s *Store) Connect(changes []CustomerChanges) { s.changes = changes }
