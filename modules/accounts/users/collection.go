package users

import (
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/sessions"
	"marquee/platform/query"
	"marquee/platform/resource"
	"marquee/platform/taxid"
)

// newResource is the collection of admins (docs/contract/accounts.md, Profiles).
func (s *Users) newResource() *resource.Resource {
	required := identity.NameRule
	required.Required = true
	return resource.New(resource.Definition{
		Name: identity.UsersName, Singular: "User", Table: "accounts.users",
		Base:          "t.user_type = 'admin' AND t.deleted_at IS NULL",
		CreatedColumn: "created_at", UpdatedColumn: "updated_at", Search: identity.SearchedBy,
		Fields: []resource.Field{
			{
				Name: "user_type", Kind: query.String, Write: resource.Once,
				Rule: resource.Rule{Default: "admin", Enum: []string{"admin"}},
			},
			{
				Name: "username", Kind: query.String, Rule: identity.UsernameRule,
				Doc: "3 to 50 characters, unique without regard to case; one with @ is the user's own e-mail",
			},
			{Name: "email", Kind: query.String, Rule: identity.EmailRule, Doc: "Unique, kept in lower case"},
			{
				Name: "password", Column: "password_hash", Kind: query.String, Secret: true,
				Rule: resource.Rule{
					Required: true, MinLength: sessions.MinPasswordLength, MaxLength: sessions.MaxPasswordLength,
				},
			},
			{Name: "name", Kind: query.String, WhenSet: true, Rule: required, Doc: "Display name"},
			{Name: "full_name", Kind: query.String, WhenSet: true, Rule: identity.NameRule},
			{
				Name: "tax_id", Kind: query.String, WhenSet: true, Normal: taxid.Normal,
				Rule: s.deps.Identity.TaxIDRule(),
			},
			{Name: "phone", Kind: query.String, WhenSet: true, Rule: identity.PhoneRule},
			{Name: "avatar_id", Kind: query.OID, Nullable: true, Doc: "File id of the avatar"},
			{
				Name: "type_user", Kind: query.OID, Array: true, Rule: resource.Rule{MaxItems: 100},
				Doc: "Ids of the user's profiles; set by root",
			},
			{
				Name: "enable", Kind: query.Bool, Rule: resource.Rule{Default: true},
				Doc: "A disabled user cannot log in, and their tokens end",
			},
			{
				Name: "is_root", Kind: query.Bool, Rule: resource.Rule{Default: false},
				Doc: "Passes every check; set by root",
			},
			{Name: "created_at", Expr: "t.created_at", Kind: query.Date},
			{Name: "updated_at", Expr: "t.updated_at", Kind: query.Date},
		},
		Constraints: map[string]resource.Violation{identity.UniqueLogin: identity.LoginTaken},
		Hooks:       s.adminHooks(),
	})
}

// adminHooks serve /users and /my-user alike.
func (s *Users) adminHooks() resource.Hooks {
	return resource.Hooks{
		BeforeCreate: s.beforeAdminCreate, BeforeUpdate: s.beforeAdminUpdate, Delete: s.deleteAdminsTx,
	}
}
