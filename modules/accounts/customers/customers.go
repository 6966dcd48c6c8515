package customers

import (
	"log/slog"
	"time"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/factors"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/modules/accounts/signins"
	"marquee/modules/accounts/trail"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/platform/secret"
)

// Deps are what New needs.
type Deps struct {
	Pool     postgres.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Files    *files.Service
	Identity *identity.Store
	Trail    *trail.Trail
	SignIns  *signins.Store
	Factors  *factors.Factors
	Codes    *codes.Codes
	Changes  *codes.EmailChanges
	Sessions *sessions.Sessions
	// MasterKey is what the key of PINs is derived from.
	MasterKey []byte
	// UnverifiedTTL is after what time an account is removed that was to be verified at once.
	// Default 30 days.
	UnverifiedTTL time.Duration
}

// Above is what the modules above do for customers. Any part may be empty.
type Above struct {
	Billing   []Billing               // stopped before a customer is erased
	Purchases []Purchases             // keep an unverified account from being removed
	Personal  []identity.PersonalData // told to the customer, and erased with them
}

// Customers is the room.
type Customers struct {
	deps          Deps
	db            *accountsdb.Queries
	above         Above
	collection    *resource.Resource
	customerNotes *resource.Resource
	pinKey        []byte
}

// New makes the room.
func New(d Deps) *Customers {
	if d.UnverifiedTTL == 0 {
		d.UnverifiedTTL = 30 * 24 * time.Hour
	}
	s := &Customers{deps: d, db: accountsdb.New(), pinKey: secret.Derive(d.MasterKey, "accounts/parental PIN")}
	s.collection, s.customerNotes = s.newResource(), s.newCustomerNotes()
	return s
}

// Connect tells the room of the modules above.
func (s *Customers) Connect(above Above) { s.above = above }

// Resource is /customers as admins see and change it.
func (s *Customers) Resource() *resource.Resource { return s.collection }

// Handlers answers the routes that are not those of the collection.
type Handlers struct{ s *Customers }

// Handlers returns what answers the routes.
func (s *Customers) Handlers() Handlers { return Handlers{s} }
