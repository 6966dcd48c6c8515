package checkout

import (
	"time"

	"marquee/modules/payments/intent"
	"marquee/modules/tickets/door"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/platform/secret"
)

// Config holds the limits of a purchase; tickets.Config says what each is.
type Config struct {
	FileKey            []byte // what declines and places are known by is an HMAC under keys derived from it
	MaxQuantity        int
	PixTTL             time.Duration
	CardTTL            time.Duration
	AlphanumericTaxIDs bool
	DeclineWindow      time.Duration
	DeclinesPerAddress int
	DeclinesPerCard    int
	DeclinesPerBuyer   int
	NoHoldLimits       bool
	Zone               *time.Location // REPORT_TZ
}

// Deps is what New needs.
type Deps struct {
	events.Base
	Events *events.Store
	Door   *door.Door
	Orders *orders.Store
	Config Config
}

// Checkout is the room.
type Checkout struct {
	deps     Deps
	intents  *intent.Service
	db       orders.Queries
	declines []byte // key of the subjects of declines
	holders  []byte // key of those who hold places
	gate     *gate

	lockForSale     lockSale // the one event that the purchases are of, once nobody else has it locked
	lockManyForSale lockSale // those of their events that nobody else has locked
}

// New makes the room.
func New(d Deps) *Checkout {
	s := &Checkout{
		deps: d, intents: d.Payments.Intents(),
		declines: secret.Derive(d.Config.FileKey, "tickets/declines"),
		holders:  secret.Derive(d.Config.FileKey, "tickets/holders"),
	}
	s.lockForSale, s.lockManyForSale = s.lockAndCount, s.lockManyAndCount
	s.gate = newGate(s.reserveShared, s.reserveMany)
	return s
}

// Handlers answers the room's routes.
type Handlers struct{ s *Checkout }

// Handlers returns what answers the routes.
func (s *Checkout) Handlers() Handlers { return Handlers{s} }
