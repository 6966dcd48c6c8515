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
	pool      *pgxpool.Pool
	jobs      *jobs.Client
	clock     clock.Clock
	accounts  *accounts.Service
	payments  *payments.Service
	mail      mail.Sender
	templates *mail.Templates
	cfg       lifecycle.Config
	db        *subscriptionsdb.Queries
	debits    *debits.Debits
}

// New makes the room.
func New(d Deps) *Dunning {
	return &Dunning{pool: d.Pool, jobs: d.Jobs, clock: d.Clock, accounts: d.Accounts, payments: d.Payments, mail: d.Mail, templates: d.Templates, cfg: d.Config, db: subscriptionsdb.New(), debits: d.Debits}
}
