package users

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// newProfiles is the collection users-type: lists of handler names that the
// admins who carry the profile may call (docs/contract/accounts.md, Profiles).
func (s *Users) newProfiles() *resource.Resource {
	handlers := resource.Rule{MaxLength: 100, Pattern: `^[a-z][a-z0-9_]*$`, Means: "a handler name, as in GET /routes"}
	return resource.New(resource.Definition{
		Name: "users-type", Singular: "Profile", Table: "accounts.users_type",
		CreatedColumn: "created_at", UpdatedColumn: "updated_at",
		Fields: []resource.Field{
			{
				Name: "name", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 100},
				Doc: "Unique",
			},
			{Name: "view", Kind: query.String, Array: true, Rule: handlers, Doc: "Handler names"},
			{Name: "create", Column: `"create"`, Kind: query.String, Array: true, Rule: handlers, Doc: "Handler names"},
			{Name: "update", Column: `"update"`, Kind: query.String, Array: true, Rule: handlers, Doc: "Handler names"},
			{Name: "delete", Column: `"delete"`, Kind: query.String, Array: true, Rule: handlers, Doc: "Handler names"},
		},
		Constraints: map[string]resource.Violation{
			"users_type_name_unique": {Field: "name", Message: "is already taken"},
		},
		Hooks: resource.Hooks{
			BeforeCreate: s.checkHandlersTx, BeforeUpdate: s.checkHandlersTx, BeforeDelete: s.beforeProfileDelete,
		},
	})
}

// checkHandlersTx refuses handler names that no route has or asks for: 422. What profiles
// hold already stays known, so that a profile can be sent back when a route was renamed.
func (s *Users) checkHandlersTx(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	handlers, err := s.db.ProfileListHandlers(ctx, tx)
	if err != nil {
		return fmt.Errorf("read handlers of profiles: %w", err)
	}
	known := map[string]bool{}
	for _, name := range handlers {
		known[name] = true
	}
	for _, route := range s.routes() {
		known[route.Name], known[route.Permission] = true, true
	}
	for _, rec := range records {
		for _, column := range []string{"view", `"create"`, `"update"`, `"delete"`} {
			v, _ := rec.Value(column)
			names, _ := v.([]string)
			for i, name := range names {
				if !known[name] {
					return rec.Invalid(strings.Trim(column, `"`), "names an unknown handler; GET /routes lists them", i)
				}
			}
		}
	}
	return nil
}

// beforeProfileDelete refuses a profile that an admin carries: 409.
func (s *Users) beforeProfileDelete(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	if err := s.db.ProfileHoldForDelete(ctx, tx, objectid.Strings(ids)); err != nil {
		return fmt.Errorf("lock profiles: %w", err)
	}
	used, err := s.db.ProfileIsUsed(ctx, tx, objectid.Strings(ids))
	if err != nil {
		return fmt.Errorf("look up users of profiles: %w", err)
	}
	if used {
		return fault.Conflict("A user still has this profile.")
	}
	return nil
}

// checkProfilesTx refuses unknown profiles, and keeps the known ones from being
// deleted until the users that get them are written.
func (s *Users) checkProfilesTx(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	var wanted []string
	for _, rec := range records {
		wanted = append(wanted, profilesOf(rec)...)
	}
	if len(wanted) == 0 {
		return nil
	}
	known, err := s.db.ProfileHoldForUse(ctx, tx, wanted)
	if err != nil {
		return fmt.Errorf("read profiles: %w", err)
	}
	for _, rec := range records {
		for _, id := range profilesOf(rec) {
			if !slices.Contains(known, objectid.ID(id)) {
				return rec.Invalid("type_user", "names an unknown profile")
			}
		}
	}
	return nil
}

func profilesOf(rec *resource.Record) []string {
	v, _ := rec.Value("type_user")
	profiles, _ := v.([]string)
	return profiles
}
