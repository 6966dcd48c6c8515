package dunning

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/mail"
)

// Deps is what New needs.
type Deps struct {
	Pool      *pgxpool.Pool
	Jobs      *jobs.Client
	Clock     clock.Clock
	Accounts  *accounts.Service
	Payments  *payments.Service
	Mail      mail.Sender
	Templates *mail.Templates
	Config    lifecycle.Config
	Debits    *debits.Debits
}

// Dunning writes to customers whose payment failed.
type Dunning struct {
	deps Deps
	db   *subscriptionsdb.Queries
}

// New makes the room.
func New(d Deps) *Dunning {
	return &Dunning{deps: d, db: subscriptionsdb.New()}
}
