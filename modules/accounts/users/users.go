package users

import (
	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/factors"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// Deps are what New needs.
type Deps struct {
	Pool     postgres.Pool
	Clock    clock.Clock
	Files    *files.Service
	Identity *identity.Store
	Hasher   *sessions.Hasher
	Sessions *sessions.Sessions
	Factors  *factors.Factors
	Codes    *codes.Codes
	Changes  *codes.EmailChanges
	Routes   resource.Routes // that write the collections
	// EmailChangeNeedsPassword: nobody changes their own e-mail without the current password.
	EmailChangeNeedsPassword bool
}

// Users is the room.
type Users struct {
	deps     Deps
	db       *accountsdb.Queries
	personal []identity.PersonalData
	routes   func() []httpapi.RouteInfo // of all modules

	collection, myUser, profiles *resource.Resource
}

// New makes the room.
func New(d Deps) *Users {
	s := &Users{deps: d, db: accountsdb.New()}
	s.collection, s.myUser, s.profiles = s.newResource(), s.newMyUser(), s.newProfiles()
	return s
}

// Connect tells of the modules above that keep something about users.
func (s *Users) Connect(personal []identity.PersonalData) { s.personal = personal }

// KnowRoutes tells of the routes of all modules, whose names profiles may hold.
func (s *Users) KnowRoutes(routes func() []httpapi.RouteInfo) { s.routes = routes }

// Resource is /users.
func (s *Users) Resource() *resource.Resource { return s.collection }

// MyUser is /my-user, the caller's own record.
func (s *Users) MyUser() *resource.Resource { return s.myUser }

// Profiles is /users-type.
func (s *Users) Profiles() *resource.Resource { return s.profiles }

// Handlers answers the routes that are not those of a collection.
type Handlers struct{ s *Users }

// Handlers returns what answers the routes.
func (s *Users) Handlers() Handlers { return Handlers{s} }
