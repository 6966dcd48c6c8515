package identity

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/resource"
	"marquee/platform/taxid"
)

// SentText returns a text that the body has set.
func SentText(rec *resource.Record, column string) (text string, sent bool) {
	v, _ := rec.Value(column)
	text, sent = v.(string)
	return text, sent
}

// StoreTaxID brings the tax id of a record into its stored form.
func StoreTaxID(rec *resource.Record) {
	if text, sent := SentText(rec, "tax_id"); sent {
		rec.Set("tax_id", taxid.Normal(text))
	}
}

// EditLogin brings the e-mail and username of a record into their stored form. A
// username that is the user's present address moves with it. u is zero for a new
// user.
func EditLogin(rec *resource.Record, u accountsdb.User) (moved bool, err error) {
	email, username := u.Email, u.Username
	if text, sent := SentText(rec, "email"); sent {
		if email, err = NormalEmail(text, "body", rec.Index, "email"); err != nil {
			return false, err
		}
		rec.Set("email", email)
	}
	if text, sent := SentText(rec, "username"); sent {
		username = text
	}
	moved = email != u.Email && u.ID != ""
	if moved && asciiLower(username) == u.Email {
		username = email
		rec.Set("username", username)
	}
	if username == u.Username && (email == u.Email || !strings.Contains(username, "@")) {
		return moved, nil
	}
	return moved, CheckUsername(username, email, "body", rec.Index, "username")
}

// CheckNewNames refuses what may not stand in the names of a record, where they
// change.
func CheckNewNames(rec *resource.Record, u accountsdb.User) error {
	if err := checkNewName(rec, "name", u.Name); err != nil {
		return err
	}
	return checkNewName(rec, "full_name", u.FullName)
}

// ReserveAppearancesTx refuses new usernames that read like somebody else's: 409. users are
// those that change; who is not among them is new.
func (s *Store) ReserveAppearancesTx(ctx context.Context, tx pgx.Tx, userType string, records []*resource.Record,
	users map[objectid.ID]accountsdb.User,
) error {
	for _, rec := range records {
		username, sent := SentText(rec, "username")
		if !sent || username == users[rec.ID].Username {
			continue
		}
		if err := s.ReserveAppearanceTx(ctx, tx, userType, username, rec.ID); fault.Is(err, fault.KindConflict) {
			return rec.Conflict("username", usernameTaken)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// CheckLoginsFreeTx refuses usernames and e-mails that somebody else has: 409
// with the field.
func (s *Store) CheckLoginsFreeTx(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	var logins, owners []string
	var at []*fault.Error
	for _, rec := range records {
		for _, login := range []struct{ field, message string }{
			{"email", "belongs to another account"}, {"username", "is taken"},
		} {
			text, sent := SentText(rec, login.field)
			if !sent {
				continue
			}
			logins, owners = append(logins, text), append(owners, rec.ID.String())
			at = append(at, rec.Conflict(login.field, login.message))
		}
	}
	if len(logins) == 0 {
		return nil
	}
	taken, err := s.db.UserListTakenLogins(ctx, tx,
		accountsdb.UserListTakenLoginsParams{Logins: logins, Owners: owners})
	if err != nil {
		return fmt.Errorf("look up logins: %w", err)
	}
	if len(taken) > 0 {
		return at[taken[0]-1]
	}
	return nil
}
