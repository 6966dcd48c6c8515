package accounts

import (
	"marquee/platform/collection"
	"marquee/platform/httpapi"
	"marquee/platform/query"
	"marquee/platform/taxid"
)

// collections are the module's resources of the collection contract.
type collections struct {
	routes    collection.Routes
	users     *collection.Resource
	myUser    *collection.Resource
	profiles  *collection.Resource
	customers *collection.Resource
	auditLog  *collection.Resource
}

func (s *Service) newCollections(d Deps) collections {
	return collections{
		routes: collection.Routes{Pool: d.Pool, Reads: d.Reads, Clock: d.Clock, Log: d.Log},
		users:  s.newUsers(), myUser: s.newMyUser(), profiles: s.newProfiles(), customers: s.newCustomers(), auditLog: newAuditLog(),
	}
}

// The names of collections, in paths and in the audit trail.
const (
	usersName     = "users"
	customersName = "customers"
)

const phonePattern = `^\+?[0-9]{10,15}$`

var (
	usernameRule = collection.Rule{Required: true, MinLength: minUsernameLength, MaxLength: maxEmailLength}
	emailRule    = collection.Rule{Required: true, Format: "email", Check: emailFlaw}
	nameRule     = collection.Rule{MinLength: 3, MaxLength: 200}
	phoneRule    = collection.Rule{Pattern: phonePattern, Means: "10 to 15 digits, with or without a plus sign"}
)

// searchedBy is what users and customers are found by; the index users_search
// holds the same expression.
const searchedBy = "(platform.search_vector(ARRAY[t.full_name, t.name], 'A') || platform.search_vector(ARRAY[t.username, t.email, t.tax_id, t.phone], 'B'))"

// UserSearch makes the admins searchable by admins.
func (s *Service) UserSearch() collection.Searchable {
	return collection.SearchAs(httpapi.Admin, "", s.collections.users.View)
}

// CustomerSearch makes the customers searchable by admins.
func (s *Service) CustomerSearch() collection.Searchable {
	return collection.SearchAs(httpapi.Admin, "", s.collections.customers.View)
}

// loginTaken answers for two who take one login at the same instant; who comes
// later hears which field it is.
var loginTaken = collection.Violation{Message: "This username or e-mail belongs to another account."}

// newUsers is the collection of admins (specification, User, and Admin users and
// customers; open-shapes, section 4, 30).
func (s *Service) newUsers() *collection.Resource {
	required := nameRule
	required.Required = true
	return collection.New(collection.Definition{
		Name: usersName, Singular: "User", Table: "accounts.users", Base: "t.user_type = 'admin' AND t.deleted_at IS NULL",
		CreatedColumn: "created_at", UpdatedColumn: "updated_at", Search: searchedBy,
		Fields: []collection.Field{
			{Name: "user_type", Kind: query.String, Write: collection.Once, Rule: collection.Rule{Default: "admin", Enum: []string{"admin"}}},
			{Name: "username", Kind: query.String, Rule: usernameRule, Doc: "3 to 50 characters, unique without regard to case; one with @ is the user's own e-mail"},
			{Name: "email", Kind: query.String, Rule: emailRule, Doc: "Unique, kept in lower case"},
			{Name: "password", Column: "password_hash", Kind: query.String, Secret: true, Rule: collection.Rule{Required: true, MinLength: minPasswordLength, MaxLength: maxPasswordLength}},
			{Name: "name", Kind: query.String, WhenSet: true, Rule: required, Doc: "Display name"},
			{Name: "full_name", Kind: query.String, WhenSet: true, Rule: nameRule},
			{Name: "tax_id", Kind: query.String, WhenSet: true, Normal: taxid.Normal, Rule: s.taxIDRule()},
			{Name: "phone", Kind: query.String, WhenSet: true, Rule: phoneRule},
			{Name: "avatar_id", Kind: query.OID, Nullable: true, Doc: "File id of the avatar"},
			{Name: "type_user", Kind: query.OID, Array: true, Rule: collection.Rule{MaxItems: 100}, Doc: "Ids of the user's profiles; set by root"},
			{Name: "enable", Kind: query.Bool, Rule: collection.Rule{Default: true}, Doc: "A disabled user cannot log in, and their tokens end"},
			{Name: "is_root", Kind: query.Bool, Rule: collection.Rule{Default: false}, Doc: "Passes every check; set by root"},
			{Name: "created_at", Expr: "t.created_at", Kind: query.Date},
			{Name: "updated_at", Expr: "t.updated_at", Kind: query.Date},
		},
		Constraints: map[string]collection.Violation{uniqueLogin: loginTaken},
		Hooks:       s.adminHooks(),
	})
}

// adminHooks serve /users and /my-user alike.
func (s *Service) adminHooks() collection.Hooks {
	return collection.Hooks{
		BeforeCreate: s.beforeAdminCreate, BeforeUpdate: s.beforeAdminUpdate, Delete: s.deleteAdminsTx,
	}
}

// taxIDRule takes letters of either case; storeTaxID makes them capitals.
func (s *Service) taxIDRule() collection.Rule {
	if !s.cfg.TaxIDAlphanumeric {
		return collection.Rule{Pattern: taxid.Digits, Means: taxIDMeans}
	}
	return collection.Rule{Pattern: taxid.Form, Means: taxIDMeans}
}
