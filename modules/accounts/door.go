package accounts

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/customers"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/sessions"
	"marquee/modules/accounts/signup"
	"marquee/platform/audit"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

// What the rooms do for the modules above, one line each.

// GuestPurchases tells of what was bought for an address without a login.
type GuestPurchases = codes.GuestPurchases

// TakeMail takes one of the mails that an address may be sent in a day because somebody asks
// for them, codes among them; 422 for what is no address, 429 when it has had them all.
func (s *Service) TakeMail(ctx context.Context, address string) error {
	return s.codes.TakeMail(ctx, address)
}

// Who makes users is the business of room signup.
type (
	// NewUser is a user to be made by the command line or the sample data.
	NewUser = signup.NewUser
	// User is a user just made.
	User = signup.User
	// Buyer is who buys tickets without logging in.
	Buyer = signup.Buyer
)

// CreateUser makes a user; 422 naming the field, 409 CONFLICT for a username, e-mail or tax_id
// that is taken.
func (s *Service) CreateUser(ctx context.Context, n NewUser) (User, error) {
	return s.signup.CreateUser(ctx, n)
}

// ResetSecondFactor takes the second factor and the passkeys of whoever has the username or e-mail, and ends all their
// tokens: for people who have lost what they proved it with. 404 when there is nobody.
func (s *Service) ResetSecondFactor(ctx context.Context, login string) (User, error) {
	u, err := s.factors.Reset(audit.ByPlatform(ctx, s, "user_mfa_reset"), login)
	return User{ID: u.ID, Type: u.UserType, Username: u.Username, Email: u.Email, Root: u.IsRoot}, err
}

// CheckoutCustomer returns the customer whom a guest's e-mail belongs to, making one where there
// is none; 422 naming body.buyer's field; 409 for a tax_id of another account, and for an address
// that no customer can have.
func (s *Service) CheckoutCustomer(ctx context.Context, b Buyer) (Customer, error) {
	return s.signup.CheckoutCustomer(ctx, b)
}

// What deletions and the file of what is held about somebody ask of the modules above.
type (
	// Billing is what a deletion asks of a module that charges customers.
	Billing = customers.Billing
	// Purchases tells of customers who have bought something.
	Purchases = customers.Purchases
	// PersonalData is what a module above keeps about users.
	PersonalData = identity.PersonalData
)

// DeleteCustomer closes the customer's account at once and has the rest done by a job; by is who
// does it. 404 when there is no such customer; 409 for themselves while a change of their e-mail
// can be undone.
func (s *Service) DeleteCustomer(ctx context.Context, id, by objectid.ID) error {
	return s.customers.DeleteCustomer(ctx, id, by)
}

// UserSearch makes the admins searchable by admins.
func (s *Service) UserSearch() resource.Searchable {
	return resource.SearchAs(httpapi.Admin, "", s.users.Resource().View)
}

// CustomerSearch makes the customers searchable by admins.
func (s *Service) CustomerSearch() resource.Searchable {
	return resource.SearchAs(httpapi.Admin, "", s.customers.Resource().View)
}

// Passwords, tokens and who calls are the business of room sessions.
type (
	// PasswordCost is the price of one argon2id hash.
	PasswordCost = sessions.PasswordCost
	// ThrottleLimits bound guessing, at passwords and at codes.
	ThrottleLimits = sessions.ThrottleLimits
	// SyncLimits bound what logins ask of the gateways.
	SyncLimits = sessions.SyncLimits
	// SubscriptionSync brings a customer's subscription to what its gateway says.
	SubscriptionSync = sessions.SubscriptionSync
	// CallerLimit bounds how often something may be done in a minute (UTC), across processes.
	CallerLimit = sessions.CallerLimit
)

// Verify checks signature, kind and expiry of an access token, without the database.
func (s *Service) Verify(token string) (httpapi.Claims, error) { return s.sessions.Verify(token) }

// Caller reads the user that the claims name; 403 when they are gone, disabled, or have ended
// tokens of that age.
func (s *Service) Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	return s.sessions.Caller(ctx, claims)
}

// StillWrites notes that a request of the user, which has taken long, still writes.
func (s *Service) StillWrites(ctx context.Context, user objectid.ID) error {
	return s.sessions.StillWrites(ctx, user)
}

// LimitCaller counts what the caller does; 429 with the seconds to wait.
func (s *Service) LimitCaller(ctx context.Context, l CallerLimit) error {
	return s.sessions.Throttles.LimitCaller(ctx, l)
}

// Watches reports whether an admin is behind the request, or the platform decides by itself.
func (s *Service) Watches(ctx context.Context) bool { return s.trail.Watches(ctx) }

// RecordTx adds changes to the audit trail, in the transaction that makes them.
func (s *Service) RecordTx(ctx context.Context, tx pgx.Tx, changes ...audit.Change) error {
	return s.trail.RecordTx(ctx, tx, changes...)
}

// ChangedByTx is who changed a record at an instant, or first after it, by the audit trail.
func (s *Service) ChangedByTx(ctx context.Context, tx pgx.Tx, resource string, recordID objectid.ID,
	at time.Time,
) (string, error) {
	return s.trail.ChangedByTx(ctx, tx, resource, recordID, at)
}

// AuditOf is what the trail says about one record, as the collection GET whose parameters
// stand in the request's address, and how many entries it holds under them.
func (s *Service) AuditOf(ctx context.Context, resource string,
	recordID objectid.ID,
) (res *resource.Response, total int, err error) {
	return s.trail.AuditOf(ctx, resource, recordID)
}

// AuditDoc documents a route that answers with AuditOf.
func (s *Service) AuditDoc() []httpapi.Option { return s.trail.AuditDoc() }
