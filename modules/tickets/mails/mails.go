package mails

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/tickets/door"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/platform/clock"
	"marquee/platform/mail"
)

// Config is how instants are told.
type Config struct {
	Zone *time.Location // REPORT_TZ
}

// Deps is what New needs.
type Deps struct {
	Pool      *pgxpool.Pool
	Clock     clock.Clock
	Accounts  *accounts.Service
	Door      *door.Door
	Orders    *orders.Store
	Links     *orders.Links
	Mail      mail.Sender
	Templates *mail.Templates
	Config    Config
}

// Mails is the room.
type Mails struct {
	pool      *pgxpool.Pool
	clock     clock.Clock
	accounts  *accounts.Service
	door      *door.Door
	orders    *orders.Store
	links     *orders.Links
	mail      mail.Sender
	templates *mail.Templates
	cfg       Config
	db        *ticketsdb.Queries
}

// New makes the room.
func New(d Deps) *Mails {
	return &Mails{
		pool: d.Pool, clock: d.Clock, accounts: d.Accounts, door: d.Door, orders: d.Orders, links: d.Links, mail: d.Mail, templates: d.Templates,
		cfg: d.Config, db: ticketsdb.New(),
	}
}
