package identity

import (
	"errors"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"marquee/platform/fault"
	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/platform/taxid"
)

// emailForm takes the addresses that mail servers take everywhere: ASCII, a
// plain local part, a domain with a dot.
var emailForm = regexp.MustCompile(`^[a-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)

// NormalEmail returns the stored form of an e-mail, lower case; 422 at loc when
// it is none.
func NormalEmail(email string, loc ...any) (string, error) {
	email = asciiLower(strings.TrimSpace(email))
	if len(email) > MaxEmailLength || !emailForm.MatchString(email) || strings.Contains(email, "..") {
		return "", fault.InvalidAt(notAnEmail, loc...)
	}
	return email, nil
}

const notAnEmail = "has to be an e-mail address"

// emailFlaw says what is wrong with the e-mail of a record.
func emailFlaw(value any) string {
	if text, ok := value.(string); ok {
		if _, err := NormalEmail(text); err != nil {
			return notAnEmail
		}
	}
	return ""
}

// Mailbox is the form of an e-mail by which limits count: without case and +tag, at Gmail
// without dots, since one person has all of these. It tells nobody who somebody is: accounts
// are told apart by the address as it is.
func Mailbox(email string) string {
	local, domain, found := strings.Cut(asciiLower(strings.TrimSpace(email)), "@")
	if !found {
		return local
	}
	if box, _, tagged := strings.Cut(local, "+"); tagged && box != "" {
		local = box
	}
	if domain == "gmail.com" || domain == "googlemail.com" {
		local, domain = strings.ReplaceAll(local, ".", ""), "gmail.com"
	}
	return local + "@" + domain
}

// asciiLower folds as the database does when it compares a username with an
// e-mail: letters of other scripts stay.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// The forms of fields.
var (
	taxIDForm   = regexp.MustCompile(taxid.Form)
	taxIDDigits = regexp.MustCompile(taxid.Digits)
	PhoneForm   = regexp.MustCompile(phonePattern)
)

// taxIDMeans says what both forms of a tax id ask for.
const taxIDMeans = "11 digits (CPF) or 14 characters (CNPJ)"

// NormalTaxID returns the stored form of a CPF or CNPJ; 422 at loc when it has the form
// of neither. Check digits are for the payment routes.
func (s *Store) NormalTaxID(taxID string, loc ...any) (string, error) {
	form := taxIDDigits
	if s.deps.TaxIDAlphanumeric {
		form = taxIDForm
	}
	if !form.MatchString(taxID) {
		return "", fault.InvalidAt("has to be "+taxIDMeans, loc...)
	}
	return taxid.Normal(taxID), nil
}

// Names of constraints that a person can run into.
const (
	UniqueLogin = "logins_of_one_user"
	UniqueTaxID = "users_tax_id_of_one_customer"
)

// ErrTaxIDTaken is 409 CONFLICT with the field tax_id.
func ErrTaxIDTaken() error {
	return fault.Conflict("This tax_id belongs to another account.").WithField("tax_id")
}

// Duplicate turns the violation of a unique constraint into 409 with the field;
// other errors stay as they are.
func Duplicate(err error, email string) error {
	switch postgres.Constraint(err) {
	case UniqueTaxID:
		return ErrTaxIDTaken()
	case UniqueLogin:
		var pgErr *pgconn.PgError
		if errors.As(err, &pgErr) && strings.Contains(pgErr.Detail, "=("+email+")") {
			return fault.Conflict("This e-mail already has an account.").WithField("email")
		}
		return fault.Conflict("This username is taken.").WithField("username")
	}
	return err
}

// The names of collections, in paths and in the audit trail.
const (
	UsersName     = "users"
	CustomersName = "customers"
)

const phonePattern = `^\+?[0-9]{10,15}$`

// Rules that fields of users and customers share.
var (
	UsernameRule = resource.Rule{Required: true, MinLength: minUsernameLength, MaxLength: MaxEmailLength}
	EmailRule    = resource.Rule{Required: true, Format: "email", Check: emailFlaw}
	NameRule     = resource.Rule{MinLength: 3, MaxLength: 200}
	PhoneRule    = resource.Rule{Pattern: phonePattern, Means: "10 to 15 digits, with or without a plus sign"}
)

// SearchedBy is what users and customers are found by; the index users_search
// holds the same expression.
const SearchedBy = "(platform.search_vector(ARRAY[t.full_name, t.name], 'A') || platform.search_vector(ARRAY[t.username, t.email, t.tax_id, t.phone], 'B'))"

// CustomerWords is the text in which a word of a customer is looked for, however little of it; the index
// users_customer_words holds the same expression.
const CustomerWords = "platform.search_words(coalesce(t.full_name, '') || ' ' || t.username || ' ' || t.email)"

// LoginTaken answers for two who take one login at the same instant; who comes
// later hears which field it is.
var LoginTaken = resource.Violation{Message: "This username or e-mail belongs to another account."}

// TaxIDRule takes letters of either case; StoreTaxID makes them capitals.
func (s *Store) TaxIDRule() resource.Rule {
	if !s.deps.TaxIDAlphanumeric {
		return resource.Rule{Pattern: taxid.Digits, Means: taxIDMeans}
	}
	return resource.Rule{Pattern: taxid.Form, Means: taxIDMeans}
}
