package identity

import (
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/postgres"
)

// Deps are what New needs.
type Deps struct {
	Pool  postgres.Pool
	Clock clock.Clock
	Files *files.Service
	// TaxIDAlphanumeric takes a CNPJ with letters, in force since July 2026.
	TaxIDAlphanumeric bool
	TrialKey          []byte // under which tax ids are known again that have had a trial
}

// Store reads and writes users.
type Store struct {
	deps  Deps
	db    *accountsdb.Queries
	above Above
}

// New makes the room.
func New(d Deps) *Store { return &Store{deps: d, db: accountsdb.New()} }

// Above is what the modules above do for customers.
type Above struct {
	Changes  []CustomerChanges // called when a customer has changed
	Promises Promises          // nil: nothing is promised at signup
}

// Connect tells the store of the modules above, before the first request.
func (s *Store) Connect(above Above) { s.above = above }
