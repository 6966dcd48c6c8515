package users

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// deleteAdminsTx leaves tombstones of the admins that exist, and returns their
// ids. Errors: 403 for a user beyond the caller's reach, 409 for oneself and for the
// last root user.
func (s *Users) deleteAdminsTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) ([]objectid.ID, error) {
	users, err := s.deps.Identity.LockUsersTx(ctx, tx, httpapi.TypeAdmin, ids)
	if err != nil {
		return nil, err
	}
	caller := httpapi.CallerOf(ctx)
	if err := s.deps.Identity.KeepWithinReach(ctx, tx, caller, users); err != nil {
		return nil, err
	}
	var there []objectid.ID
	var roots []string
	for _, id := range slices.Sorted(maps.Keys(users)) {
		u := users[id]
		switch {
		case id == caller.ID:
			return nil, fault.Conflict("You cannot delete your own account.")
		case u.IsRoot && u.Enable:
			roots = append(roots, id.String())
		}
		there = append(there, id)
	}
	if err := s.keepRootTx(ctx, tx, roots); err != nil {
		return nil, err
	}
	for _, id := range there {
		if err := s.eraseAdminTx(ctx, tx, users[id]); err != nil {
			return nil, err
		}
	}
	return there, nil
}

// eraseAdminTx turns an admin into a tombstone: logins free, tokens and codes
// ended, files gone, nothing personal left here or in the modules above. What they
// did stays in the audit trail.
func (s *Users) eraseAdminTx(ctx context.Context, tx pgx.Tx, u accountsdb.User) error {
	for _, p := range s.personal {
		if err := p.ErasePersonalDataTx(ctx, tx, u.ID); err != nil {
			return fmt.Errorf("%s: %w", p.PersonalDataName(), err)
		}
	}
	now, ended := s.deps.Clock.Now(), s.deps.Identity.TokensEnd(u)
	if _, err := s.db.UserErase(ctx, tx, accountsdb.UserEraseParams{
		ID: u.ID, Now: &now, TokensValidAfter: &ended,
	}); err != nil {
		return fmt.Errorf("erase user: %w", err)
	}
	if err := s.deps.Codes.EndTx(ctx, tx, u.ID); err != nil {
		return err
	}
	if err := s.deps.Changes.ForgetTx(ctx, tx, u.ID); err != nil {
		return err
	}
	if err := s.deps.Factors.ForgetTx(ctx, tx, u.ID); err != nil {
		return err
	}
	return s.deps.Files.DeleteOfRecordTx(ctx, tx, identity.UserFileKind, u.ID)
}
