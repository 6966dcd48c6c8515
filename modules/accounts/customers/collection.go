package customers

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/query"
	"marquee/platform/resource"
	"marquee/platform/taxid"
)

// newResource is the collection of customers as admins see and change it:
// what customers edit themselves, and their e-mail, nationality, enable and email_verified
// (docs/contract/accounts.md, Customers).
func (s *Customers) newResource() *resource.Resource {
	fullName := identity.NameRule
	fullName.Required = true
	nationalityRule := resource.Rule{Default: "", Pattern: `^([A-Za-z]{2,3})?$`, Means: "2 or 3 letters of ISO 3166-1"}
	return resource.New(resource.Definition{
		Name: identity.CustomersName, Singular: "Customer", Table: "accounts.users",
		Base:          "t.user_type = 'customer' AND t.deleted_at IS NULL",
		CreatedColumn: "created_at", UpdatedColumn: "updated_at", Search: identity.SearchedBy,
		Fields: []resource.Field{
			{
				Name: "user_type", Kind: query.String, Write: resource.Privileged,
				Rule: resource.Rule{Enum: []string{"customer"}},
			},
			{
				Name: "username", Kind: query.String, Rule: identity.UsernameRule,
				Doc: "3 to 50 characters, unique without regard to case; one with @ is the customer's own e-mail",
			},
			{
				Name: "email", Kind: query.String, Rule: identity.EmailRule,
				Doc: "Unique, kept in lower case; a new one is unverified unless email_verified is sent",
			},
			{
				Name: "full_name", Expr: "coalesce(t.full_name, '')", Column: "full_name", Kind: query.String,
				Rule: fullName,
			},
			{
				Name: "tax_id", Kind: query.String, Nullable: true, Normal: taxid.Normal,
				Rule: s.deps.Identity.TaxIDRule(),
				Doc:  "CPF or CNPJ; letters are stored in capitals",
			},
			{
				Name: "phone", Kind: query.String, Nullable: true,
				Rule: resource.Rule{Pattern: `^\+[0-9]{10,15}$`, Means: "a plus sign, country code and number"},
			},
			{
				Name: "nationality", Kind: query.String, Rule: nationalityRule,
				Doc: "ISO 3166-1, stored in capitals; empty when not given",
			},
			{
				Name: "address", Kind: query.JSON, Nullable: true,
				Doc: "street, number, complement, locality, city, region_code, country, postal_code",
			},
			{Name: "avatar_id", Kind: query.OID, Nullable: true, Doc: "File id of the avatar"},
			{
				Name: "max_age_rating", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
				Rule: resource.Rule{Enum: resource.AgeRatings},
				Doc:  "The highest age_rating that plays without the customer's PIN; null is no limit",
			},
			{Name: "my_list", Kind: query.String, Array: true, Rule: resource.Rule{MaxLength: maxListEntry}},
			{
				Name: "enable", Kind: query.Bool, Rule: resource.Rule{Required: true},
				Doc: "A disabled customer cannot log in, and their tokens end",
			},
			{Name: "email_verified", Kind: query.Bool, Rule: resource.Rule{Required: true}},
			{Name: "email_verified_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
			{
				Name: "labels", Kind: query.String, Array: true, Rule: labelRule,
				Doc: "Words by which staff sort customers; no route shows them to the customer, but the export of their data",
			},
			{Name: "current_subscription_id", Kind: query.OID, Nullable: true, Write: resource.Privileged},
			{Name: "password_reset_required", Kind: query.Bool, Write: resource.Privileged},
			{Name: "promo_code_used", Kind: query.String, WhenSet: true, Write: resource.Privileged},
			{Name: "promo_code_id", Kind: query.OID, WhenSet: true, Write: resource.Privileged},
			{Name: "gwb_customer_id", Kind: query.String, WhenSet: true, Write: resource.Privileged},
			{Name: "created_at", Expr: "t.created_at", Kind: query.Date},
			{Name: "updated_at", Expr: "t.updated_at", Kind: query.Date},
		},
		Constraints: map[string]resource.Violation{
			identity.UniqueLogin: identity.LoginTaken,
			identity.UniqueTaxID: {Field: "tax_id", Message: "belongs to another account"},
		},
		Hooks: resource.Hooks{
			BeforeUpdate: s.beforeCustomerUpdate, AfterWrite: s.deps.Identity.AfterCustomerWrite,
			Delete: s.deleteCustomersTx,
		},
	})
}

// deleteCustomersTx closes the accounts of the customers that exist, and returns
// their ids; jobs do the rest, as for DELETE /customers/me. The trail tells who
// was deleted by their id alone.
func (s *Customers) deleteCustomersTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) ([]objectid.ID, error) {
	customers, err := s.deps.Identity.LockUsersTx(ctx, tx, httpapi.TypeCustomer, ids)
	if err != nil {
		return nil, err
	}
	there := slices.Sorted(maps.Keys(customers))
	for _, id := range there {
		if err := s.DeleteCustomerTx(ctx, tx, id, httpapi.CallerOf(ctx).ID); err != nil {
			return nil, err
		}
	}
	return there, nil
}
