package trail

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/clock"
	"marquee/platform/resource"
)

// Trail writes and shows accounts.audit_log.
type Trail struct {
	pool  *pgxpool.Pool
	clock clock.Clock
	log   *resource.Resource
	q     *accountsdb.Queries
}

// New makes the room.
func New(pool *pgxpool.Pool, clk clock.Clock) *Trail {
	return &Trail{pool: pool, clock: clk, log: newAuditLog(), q: accountsdb.New()}
}

// Entries is the collection GET /audit-log.
func (s *Trail) Entries() *resource.Resource { return s.log }
