package users

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
	"marquee/platform/secret"
)

// beforeAdminCreate checks new admins and hashes their passwords.
func (s *Users) beforeAdminCreate(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	caller := httpapi.CallerOf(ctx)
	for _, rec := range records {
		if err := checkRights(rec, accountsdb.User{}, caller); err != nil {
			return err
		}
		if v, _ := rec.Value("avatar_id"); v != nil {
			return rec.Invalid("avatar_id", identity.NotUsersPicture)
		}
		identity.StoreTaxID(rec)
		if _, err := identity.EditLogin(rec, accountsdb.User{}); err != nil {
			return err
		}
		if err := identity.CheckNewNames(rec, accountsdb.User{}); err != nil {
			return err
		}
	}
	return s.finishAdminsTx(ctx, tx, records, nil)
}

// finishAdminsTx checks what needs the database, and hashes last, since it costs
// most.
func (s *Users) finishAdminsTx(ctx context.Context, tx pgx.Tx, records []*resource.Record,
	users map[objectid.ID]accountsdb.User,
) error {
	if err := s.checkProfilesTx(ctx, tx, records); err != nil {
		return err
	}
	if err := s.deps.Identity.CheckLoginsFreeTx(ctx, tx, records); err != nil {
		return err
	}
	if err := s.deps.Identity.ReserveAppearancesTx(ctx, tx, httpapi.TypeAdmin, records, users); err != nil {
		return err
	}
	for _, rec := range records {
		password, sent := identity.SentText(rec, "password_hash")
		if !sent {
			continue
		}
		if flaw := s.deps.Sessions.PasswordFlaw(secret.NewText(password),
			personalTextsOf(rec, users[rec.ID])...); flaw != "" {
			return rec.Invalid("password", flaw)
		}
		hash, err := s.deps.Hasher.Hash(ctx, secret.NewText(password))
		if err != nil {
			return err
		}
		rec.Set("password_hash", hash)
	}
	return nil
}

// personalTextsOf are what a user is known by once the record is written.
func personalTextsOf(rec *resource.Record, u accountsdb.User) []string {
	personal := sessions.PersonalTexts(u)
	for _, field := range []string{"email", "username", "full_name", "name"} {
		text, _ := identity.SentText(rec, field)
		personal = append(personal, text)
	}
	return personal
}

// beforeAdminUpdate checks changes of admins. What leads into an account or
// closes it ends the user's tokens.
func (s *Users) beforeAdminUpdate(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	users, err := s.deps.Identity.LockUsersTx(ctx, tx, httpapi.TypeAdmin, identity.IDsOfRecords(records))
	if err != nil {
		return err
	}
	caller := httpapi.CallerOf(ctx)
	if err := s.deps.Identity.KeepWithinReach(ctx, tx, caller, users); err != nil {
		return err
	}
	var moved []objectid.ID
	var unrooted []string
	for _, rec := range records {
		u := users[rec.ID]
		if err := checkAdminChange(rec, u, caller); err != nil {
			return err
		}
		if err := identity.CheckNewNames(rec, u); err != nil {
			return err
		}
		identity.StoreTaxID(rec)
		gone, err := identity.EditLogin(rec, u)
		if err != nil {
			return err
		}
		password, enable, root := changeOf(rec, u)
		if gone || password {
			moved = append(moved, u.ID)
		}
		if gone && u.ID == caller.ID {
			if err := s.changeCallerEmailTx(ctx, tx, rec, u); err != nil {
				return err
			}
		}
		if password {
			if err := s.deps.Factors.ForgetPasskeysTx(ctx, tx, u.ID); err != nil {
				return err
			}
		}
		if password || !enable && u.Enable || root != u.IsRoot {
			s.deps.Identity.EndTokens(rec, u)
		}
		if u.IsRoot && u.Enable && (!root || !enable) {
			unrooted = append(unrooted, u.ID.String())
		}
	}
	if err := s.keepRootTx(ctx, tx, unrooted); err != nil {
		return err
	}
	if err := s.deps.Codes.EndTx(ctx, tx, moved...); err != nil {
		return err
	}
	if err := s.deps.Identity.ReplaceAvatarsTx(ctx, tx, records, users); err != nil {
		return err
	}
	return s.finishAdminsTx(ctx, tx, records, users)
}

// changeCallerEmailTx has the old address told of a new one that an admin gives themselves; 400
// without the current password where it is needed, which PUT /my-user takes.
func (s *Users) changeCallerEmailTx(ctx context.Context, tx pgx.Tx, rec *resource.Record, u accountsdb.User) error {
	if proved, _ := ctx.Value(provedPassword{}).(bool); !proved && s.deps.EmailChangeNeedsPassword {
		return codes.ErrNeedsPassword()
	}
	if err := s.deps.Changes.TakeChange(ctx, tx, u.ID); err != nil {
		return err
	}
	email, _ := identity.SentText(rec, "email")
	fate := codes.UsernameStays
	if username, sent := identity.SentText(rec, "username"); sent && username != u.Username {
		if fate = codes.UsernameChanges; username == email {
			fate = codes.UsernameIsAddress
		}
	}
	return s.deps.Changes.MadeChangeTx(ctx, tx, u, email, fate)
}

// changeOf tells whether a record sets a password, and its enable and is_root
// once it is written.
func changeOf(rec *resource.Record, u accountsdb.User) (password, enable, root bool) {
	_, password = identity.SentText(rec, "password_hash")
	enable, root = u.Enable, u.IsRoot
	if v, sent := rec.Value("enable"); sent {
		enable, _ = v.(bool)
	}
	if v, sent := rec.Value("is_root"); sent {
		root, _ = v.(bool)
	}
	return password, enable, root
}

// checkAdminChange says whether the caller may change the user so: 409 where they
// would lock themselves out, 422 for a field that is not theirs to set.
func checkAdminChange(rec *resource.Record, u accountsdb.User, caller httpapi.Caller) error {
	if err := checkRights(rec, u, caller); err != nil {
		return err
	}
	if v, sent := rec.Value("name"); sent && v == nil {
		return rec.Invalid("name", "may not be null")
	}
	password, enable, _ := changeOf(rec, u)
	if rec.ID == caller.ID {
		switch {
		case !enable:
			return fault.Conflict("You cannot disable your own account.").WithField("enable")
		case password:
			return rec.Invalid("password", "is changed at POST /auth/change-password when it is your own")
		}
	}
	return nil
}

// checkRights refuses changed rights unless root changes them; unchanged ones
// pass, since clients send back what they read.
func checkRights(rec *resource.Record, u accountsdb.User, caller httpapi.Caller) error {
	if caller.Root {
		return nil
	}
	if v, sent := rec.Value("is_root"); sent && v != u.IsRoot {
		return rec.Invalid("is_root", "may be set by root users only")
	}
	if v, sent := rec.Value("type_user"); sent {
		if profiles, _ := v.([]string); !slices.Equal(profiles, u.TypeUser) {
			return rec.Invalid("type_user", "may be set by root users only")
		}
	}
	return nil
}

// keepRootTx refuses to disable, demote or delete the last root users: 409. The
// rows are locked already; whoever else takes roots away waits here, and counts
// what is left then.
func (s *Users) keepRootTx(ctx context.Context, tx pgx.Tx, leaving []string) error {
	if len(leaving) == 0 {
		return nil
	}
	if err := s.db.UserHoldRoots(ctx, tx); err != nil {
		return fmt.Errorf("hold roots: %w", err)
	}
	others, err := s.db.UserCountOtherRoots(ctx, tx, leaving)
	if err != nil {
		return fmt.Errorf("count roots: %w", err)
	}
	if others == 0 {
		return fault.Conflict("This is the last root user.")
	}
	return nil
}
