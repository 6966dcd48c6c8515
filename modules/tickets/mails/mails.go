package mails

import (
	"time"

	"marquee/modules/tickets/door"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/platform/mail"
)

// Config is how instants are told.
type Config struct {
	Zone *time.Location // REPORT_TZ
}

// Deps is what New needs.
type Deps struct {
	events.Base
	Door      *door.Door
	Orders    *orders.Store
	Links     *orders.Links
	Mail      mail.Sender
	Templates *mail.Templates
	Config    Config
}

// Mails is the room.
type Mails struct {
	deps Deps
	db   orders.Queries
}

// New makes the room.
func New(d Deps) *Mails {
	return &Mails{deps: d}
}
