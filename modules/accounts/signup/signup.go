package signup

import (
	"context"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/modules/accounts/totp"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PromoCodes is what is asked about the promo code that a customer gives at signup.
type PromoCodes interface {
	// SignupPromoCode returns the id of a code that may be given at signup now,
	// or 400 when it may not.
	SignupPromoCode(ctx context.Context, code string) (objectid.ID, error)
}

// Deps are what New needs.
type Deps struct {
	Pool     postgres.Pool
	Clock    clock.Clock
	Files    *files.Service
	Identity *identity.Store
	Hasher   *sessions.Hasher
	Sessions *sessions.Sessions
	Totp     *totp.Store
	Codes    *codes.Codes
}

// Signup is the room.
type Signup struct {
	deps   Deps
	db     *accountsdb.Queries
	promos PromoCodes
}

// New makes the room.
func New(d Deps) *Signup { return &Signup{deps: d, db: accountsdb.New()} }

// Connect tells who knows of promo codes; nil: there are none, so none is found.
func (s *Signup) Connect(promos PromoCodes) { s.promos = promos }

// Handlers answers the routes of signup.
type Handlers struct{ s *Signup }

// Handlers returns what answers the routes.
func (s *Signup) Handlers() Handlers { return Handlers{s} }
