package door

import (
	"time"

	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
)

// Config holds the keys, how far a device's clock may be off, and for how long a scan may be undone.
type Config struct {
	FileKey       []byte   // the signing key is derived from it
	OldFileKeys   [][]byte // former ones, whose codes still open doors
	ScanSkew      time.Duration
	ReadmitWithin time.Duration
}

// Deps is what New needs.
type Deps struct {
	events.Base
	Events *events.Store
	Config Config
}

// Door is the room.
type Door struct {
	deps  Deps
	codes Keys
	db    *ticketsdb.Queries
}

// New makes the room.
func New(d Deps) *Door {
	return &Door{deps: d, codes: NewKeys(d.Config.FileKey, d.Config.OldFileKeys), db: ticketsdb.New()}
}

// Handlers answers the room's routes.
type Handlers struct{ s *Door }

// Handlers returns what answers the routes.
func (s *Door) Handlers() Handlers { return Handlers{s} }
