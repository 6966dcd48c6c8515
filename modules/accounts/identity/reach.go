package identity

import (
	"context"
	"fmt"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// KeepWithinReach refuses to touch root users, and others with a right that the
// caller lacks: 403. Who could set the password of such a user, or have a code
// mailed for the account, would gain the right; who could disable or delete them, or
// their files, would take something from whoever is to have it.
func (s *Store) KeepWithinReach(ctx context.Context, db postgres.DB, caller httpapi.Caller,
	users map[objectid.ID]accountsdb.User,
) error {
	if caller.Root {
		return nil
	}
	var others []string
	for id, u := range users {
		if id == caller.ID {
			continue
		}
		if u.IsRoot {
			return fault.Forbidden("Only a root user may change or delete a root user.")
		}
		others = append(others, id.String())
	}
	beyond, err := s.db.UserListBeyond(ctx, db,
		accountsdb.UserListBeyondParams{Ids: others, Rights: append([]string{}, caller.Handlers...)})
	if err != nil {
		return fmt.Errorf("compare rights: %w", err)
	}
	if len(beyond) > 0 {
		return fault.Forbidden("Only a root user, or an admin who has all rights of this user, may change or delete them.")
	}
	return nil
}
