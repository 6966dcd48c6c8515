package accounts

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/text/unicode/norm"

	"marquee/platform/fault"
	"marquee/platform/postgres"
)

// Bounds of a username in characters; one that is the user's own e-mail may be
// as long as an e-mail (open-shapes, section 4, 4).
const (
	minUsernameLength = 3
	maxUsernameLength = 50
	maxEmailLength    = 254
)

// emailForm takes the addresses that mail servers take everywhere: ASCII, a
// plain local part, a domain with a dot.
var emailForm = regexp.MustCompile(`^[a-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)

// normalEmail returns the stored form of an e-mail, lower case; 422 at loc when
// it is none.
func normalEmail(email string, loc ...any) (string, error) {
	email = asciiLower(strings.TrimSpace(email))
	if len(email) > maxEmailLength || !emailForm.MatchString(email) || strings.Contains(email, "..") {
		return "", fault.InvalidAt("has to be an e-mail address", loc...)
	}
	return email, nil
}

// checkUsername refuses a username that is somebody else's e-mail or has the
// wrong length; email is the user's own in its stored form.
func checkUsername(username, email string, loc ...any) error {
	if asciiLower(username) == email {
		return nil
	}
	if strings.TrimSpace(username) != username || strings.ContainsFunc(username, unicode.IsControl) {
		return fault.InvalidAt("may not begin or end with a space nor hold control characters", loc...)
	}
	if strings.Contains(norm.NFKC.String(username), "@") { // a full-width one would read as somebody's e-mail, too
		return fault.InvalidAt("may hold @ only when it is your own e-mail", loc...)
	}
	if n := utf8.RuneCountInString(username); n < minUsernameLength || n > maxUsernameLength {
		return fault.InvalidAt("has to be 3 to 50 characters long", loc...)
	}
	return nil
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

var (
	taxIDDigits  = regexp.MustCompile(`^([0-9]{11}|[0-9]{14})$`)
	taxIDLetters = regexp.MustCompile(`^[0-9A-Z]{12}[0-9]{2}$`)
	phoneForm    = regexp.MustCompile(phonePattern)
)

// checkTaxID refuses what has not the form of a CPF or CNPJ. Check digits are
// for the payment routes.
func (s *Service) checkTaxID(taxID string, loc ...any) error {
	if taxIDDigits.MatchString(taxID) || s.cfg.TaxIDAlphanumeric && taxIDLetters.MatchString(taxID) {
		return nil
	}
	return fault.InvalidAt("has to be 11 digits (CPF) or 14 digits (CNPJ)", loc...)
}

// Names of constraints that a person can run into.
const (
	uniqueLogin = "logins_of_one_user"
	uniqueTaxID = "users_tax_id_of_one_customer"
)

func errTaxIDTaken() error {
	return fault.Conflict("This tax_id belongs to another account.").WithField("tax_id")
}

// duplicate turns the violation of a unique constraint into 409 with the field;
// other errors stay as they are.
func duplicate(err error, email string) error {
	switch postgres.Constraint(err) {
	case uniqueTaxID:
		return errTaxIDTaken()
	case uniqueLogin:
		var pgErr *pgconn.PgError
		if errors.As(err, &pgErr) && strings.Contains(pgErr.Detail, "=("+email+")") {
			return fault.Conflict("This e-mail already has an account.").WithField("email")
		}
		return fault.Conflict("This username is taken.").WithField("username")
	}
	return err
}
