package files

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/files/internal/filesdb"
	"marquee/platform/clock"
)

// Service keeps archive tokens.
type Service struct {
	pool  *pgxpool.Pool
	clock clock.Clock
	cfg   Config
	q     *filesdb.Queries
}

// Config holds the module's limits.
type Config struct {
	ArchiveTokenTTL time.Duration // default 12 h
}

// Deps is what New needs.
type Deps struct {
	Pool   *pgxpool.Pool
	Clock  clock.Clock
	Config Config
}

// New makes the service.
func New(d Deps) *Service {
	if d.Config.ArchiveTokenTTL == 0 {
		d.Config.ArchiveTokenTTL = 12 * time.Hour
	}
	return &Service{pool: d.Pool, clock: d.Clock, cfg: d.Config, q: filesdb.New()}
}
