package promos

import (
	"log/slog"

	"marquee/modules/accounts"
	"marquee/modules/files"
	"marquee/modules/promos/internal/promosdb"
	"marquee/modules/tickets"
	"marquee/platform/clock"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
)

// Config holds the module's limits; the zero value means the default.
type Config struct {
	// TriesPerMinute bounds validations and redemptions together, by account, or by
	// client address where nobody is signed in, so that codes cannot be guessed.
	// PROMO_TRIES_PER_MINUTE, default 30.
	TriesPerMinute int
	// TriesPerAddress bounds them by client address, for all accounts that come from
	// there. PROMO_TRIES_PER_ADDRESS a minute, default 300.
	TriesPerAddress int
}

// Deps is what New needs.
type Deps struct {
	Pool postgres.Pool
	// Reads serves the admins' lists, with resource.StatementTimeout; nil means Pool.
	Reads    *replica.Set
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service
	Files    *files.Service
	Tickets  *tickets.Service
	Config   Config
}

// Service is the module.
type Service struct {
	deps  Deps
	db    *promosdb.Queries
	codes *resource.Resource
	crud  resource.Routes
}

// New makes the module. Register its FileRecords with files.
func New(d Deps) *Service {
	if d.Config.TriesPerMinute == 0 {
		d.Config.TriesPerMinute = 30
	}
	if d.Config.TriesPerAddress == 0 {
		d.Config.TriesPerAddress = 300
	}
	s := &Service{
		deps: d, db: promosdb.New(),
		crud: resource.Routes{Pool: d.Pool, Reads: d.Reads, Clock: d.Clock, Log: d.Log},
	}
	s.codes = newCodes(s)
	return s
}

// code is a row as the database holds it.
type code = promosdb.PromoCode
