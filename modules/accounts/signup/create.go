package signup

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// seededProfile is the profile that the migrations make: all handlers of the
// requisition board.
const seededProfile = objectid.ID("000000000000000000000001")

// NewUser is a user to be made by the command line or the sample data. What a
// field may hold is as in POST /users and POST /customers/signup.
type NewUser struct {
	Type          string // httpapi.TypeAdmin or httpapi.TypeCustomer
	Root          bool   // admins only
	Username      string
	Email         string
	Password      secret.Text
	Name          string // display name of an admin
	FullName      string
	TaxID         string
	Phone         string
	Nationality   string
	Address       *identity.Address
	Language      string // of mails; default pt
	EmailVerified bool
	// Migrated is a customer imported from another system, who is to choose a new
	// password. An empty Password is a placeholder that nobody knows.
	Migrated bool
}

// User is a user just made.
type User struct {
	ID       objectid.ID
	Type     string
	Username string
	Email    string
	Root     bool
}

// CreateUser makes a user; admins get the profile that the migrations seed.
// Errors: 422 naming the field, 409 CONFLICT for a username, e-mail or tax_id
// that is taken.
func (s *Signup) CreateUser(ctx context.Context, n NewUser) (User, error) {
	row, err := s.newRow(n)
	if err != nil {
		return User{}, err
	}
	if !n.placeholder() {
		hash, err := s.deps.Hasher.Hash(ctx, n.Password)
		if err != nil {
			return User{}, err
		}
		row.PasswordHash = &hash
	}
	var u accountsdb.User
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if u, err = s.deps.Identity.InsertUserTx(ctx, tx, row); err != nil || !n.Migrated {
			return err
		}
		u, err = s.db.UserRequireReset(ctx, tx, u.ID)
		return err
	})
	if err != nil {
		return User{}, fmt.Errorf("create user: %w", identity.Duplicate(err, row.Email))
	}
	return User{ID: u.ID, Type: u.UserType, Username: u.Username, Email: u.Email, Root: u.IsRoot}, nil
}

func (n NewUser) placeholder() bool { return n.Migrated && n.Password.Empty() }

// newRow checks a new user's fields and brings them into their stored form.
func (s *Signup) newRow(n NewUser) (accountsdb.UserInsertParams, error) {
	now := s.deps.Clock.Now()
	row := accountsdb.UserInsertParams{
		ID: objectid.At(now), UserType: n.Type, Username: n.Username, IsRoot: n.Root, TypeUser: []string{},
		Name: nullable.Ptr(n.Name), FullName: nullable.Ptr(n.FullName), Phone: nullable.Ptr(n.Phone),
		Nationality: strings.ToUpper(n.Nationality), Language: identity.LanguageOf(n.Language),
		EmailVerified: n.EmailVerified, CreatedAt: now,
	}
	switch {
	case n.Type == httpapi.TypeAdmin:
		row.TypeUser = []string{seededProfile.String()}
	case n.Type != httpapi.TypeCustomer:
		return row, fault.InvalidAt("has to be admin or customer", "body", "user_type")
	case n.Root:
		return row, fault.InvalidAt("is for admins", "body", "is_root")
	}
	if n.Migrated && n.Type != httpapi.TypeCustomer {
		return row, fault.InvalidAt("is for customers", "body", "password_reset_required")
	}
	if n.EmailVerified {
		row.EmailVerifiedAt = &now
	}
	var err error
	if row.Email, err = identity.NormalEmail(n.Email, "body", "email"); err != nil {
		return row, err
	}
	if err := identity.CheckUsername(n.Username, row.Email, "body", "username"); err != nil {
		return row, err
	}
	if !n.placeholder() {
		if err := s.deps.Sessions.CheckPassword(n.Password, []string{row.Email, n.Username, n.FullName, n.Name}, "body",
			"password"); err != nil {
			return row, err
		}
	}
	if err := s.checkPerson(n); err != nil {
		return row, err
	}
	if n.TaxID != "" {
		taxID, err := s.deps.Identity.NormalTaxID(n.TaxID, "body", "tax_id")
		if err != nil {
			return row, err
		}
		row.TaxID = &taxID
	}
	row.Address, err = identity.AddressJSON(n.Address)
	return row, err
}

// checkPerson refuses optional fields that are given and wrong.
func (s *Signup) checkPerson(n NewUser) error {
	if !nameLength(n.Name) {
		return fault.InvalidAt("has to be 3 to 200 characters long", "body", "name")
	}
	if !nameLength(n.FullName) {
		return fault.InvalidAt("has to be 3 to 200 characters long", "body", "full_name")
	}
	if err := identity.CheckPersonName(n.Name, "body", "name"); err != nil {
		return err
	}
	if err := identity.CheckPersonName(n.FullName, "body", "full_name"); err != nil {
		return err
	}
	if n.Phone != "" && !identity.PhoneForm.MatchString(n.Phone) {
		return fault.InvalidAt("has to be 10 to 15 digits, with or without a plus sign", "body", "phone")
	}
	return nil
}

// nameLength takes no name, too.
func nameLength(name string) bool {
	n := utf8.RuneCountInString(name)
	return n == 0 || 3 <= n && n <= 200
}
