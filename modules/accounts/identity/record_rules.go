package identity

import (
	"marquee/platform/resource"
	"marquee/platform/taxid"
)

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
