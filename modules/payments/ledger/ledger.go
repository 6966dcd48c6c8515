package ledger

import (
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/clock"
	"marquee/platform/jobs"
)

// Deps is what the room needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Intents  *intent.Service
	Accounts *accounts.Service // for the audit trail of what the platform decides; nil: none is written
}

// Reader reads the ledgers and the list, and changes neither.
type Reader struct {
	deps Deps
	db   *paymentsdb.Queries
}

// NewReader makes it.
func NewReader(d Deps) *Reader { return &Reader{deps: d, db: paymentsdb.New()} }

// Cases is the list of money that gave nobody anything: what is put on it, and the one way
// in which a case changes its state.
type Cases struct {
	deps   Deps
	db     *paymentsdb.Queries
	reader *Reader
}

// NewCases makes it.
func NewCases(d Deps, r *Reader) *Cases { return &Cases{deps: d, db: paymentsdb.New(), reader: r} }

// Ledger writes the ledgers; what they make of a case on the list follows in the same
// transaction.
type Ledger struct {
	deps   Deps
	db     *paymentsdb.Queries
	reader *Reader
	cases  *Cases
}

// New makes it.
func New(d Deps, r *Reader, c *Cases) *Ledger {
	return &Ledger{deps: d, db: paymentsdb.New(), reader: r, cases: c}
}
