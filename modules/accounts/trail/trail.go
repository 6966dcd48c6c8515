package trail

import (
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/clock"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// Deps are what New needs.
type Deps struct {
	Pool  postgres.Pool
	Clock clock.Clock
}

// Trail writes and shows accounts.audit_log.
type Trail struct {
	deps Deps
	db   *accountsdb.Queries
	log  *resource.Resource
}

// New makes the room.
func New(d Deps) *Trail { return &Trail{deps: d, db: accountsdb.New(), log: newAuditLog()} }

// Entries is the collection GET /audit-log.
func (s *Trail) Entries() *resource.Resource { return s.log }
