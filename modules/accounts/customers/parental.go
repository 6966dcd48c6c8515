package customers

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

const (
	// pinTries are those that a user has in a row; then no PIN is compared for pinWait after the last.
	pinTries = 5
	pinWait  = 15 * time.Minute
)

// ProveParentalPin compares the PIN of a user whose account has one. 403 PIN_REQUIRED when it is wrong, 429 after five
// wrong ones in a row.
func (s *Customers) ProveParentalPin(ctx context.Context, user objectid.ID, pin secret.Text) error {
	now := s.deps.Clock.Now()
	kept, err := s.db.ParentalTryTake(ctx, s.deps.Pool, accountsdb.ParentalTryTakeParams{
		UserID: user, Now: now, ForgetBefore: now.Add(-pinWait), Allowed: pinTries,
	})
	if postgres.IsNoRows(err) {
		tried, err := s.db.ParentalTryGet(ctx, s.deps.Pool, user)
		if err != nil && !postgres.IsNoRows(err) {
			return fmt.Errorf("read tries of a PIN: %w", err)
		}
		wait := max(tried.Add(pinWait).Sub(now), time.Second)
		return fault.TooManyRequests(wait, "Too many wrong PINs. Wait %s.", fault.Seconds(wait))
	}
	if err != nil {
		return fmt.Errorf("count a try of a PIN: %w", err)
	}
	if kept == nil || !secret.Equal(kept, s.pinMAC(user, pin)) {
		return fault.PINRequired("The PIN is wrong.")
	}
	if err := s.db.ParentalTryClear(ctx, s.deps.Pool, user); err != nil {
		return fmt.Errorf("forget tries of a PIN: %w", err)
	}
	return nil
}

func (s *Customers) pinMAC(user objectid.ID, pin secret.Text) []byte {
	return secret.MAC(s.pinKey, user.String(), pin.Reveal())
}

// changesParental reports whether the edit changes the age limit or its PIN, for which the password is needed.
func (e meEdit) changesParental(u *accountsdb.User) bool {
	limit := edited(e.MaxAgeRating, u.MaxAgeRating)
	return e.ParentalPIN != nil || nullable.Value(limit) != nullable.Value(u.MaxAgeRating)
}

// proveParental checks the password of who changes their age limit, and reports whether it was. 400 with the field
// current_password.
func (s *Customers) proveParental(ctx context.Context, id objectid.ID, edit meEdit) (proved bool, err error) {
	u, err := s.deps.Identity.CallerRow(ctx, id)
	if err != nil || !edit.changesParental(&u) {
		return false, err
	}
	if edit.CurrentPassword == nil {
		return false, errNeedsPassword()
	}
	_, err = s.deps.Sessions.ProveCaller(ctx, *edit.CurrentPassword)
	return err == nil, err
}

func errNeedsPassword() error {
	return fault.BadRequest("Your current password is needed to change your age limit.").WithField("current_password")
}

// changeParentalTx keeps the age limit and its PIN. 422 for a limit without a PIN, and for a PIN without a limit.
func (s *Customers) changeParentalTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, edit meEdit) (
	accountsdb.User, error,
) {
	limit, mac := edited(edit.MaxAgeRating, u.MaxAgeRating), u.ParentalPinMac
	switch {
	case limit == nil && edit.ParentalPIN != nil:
		return u, fault.InvalidAt("has no meaning without max_age_rating", "body", 0, "parental_pin")
	case limit == nil:
		mac = nil
	case edit.ParentalPIN != nil:
		mac = s.pinMAC(u.ID, *edit.ParentalPIN)
	case mac == nil:
		return u, fault.InvalidAt("is required with max_age_rating", "body", 0, "parental_pin")
	}
	if err := s.db.ParentalTryClear(ctx, tx, u.ID); err != nil {
		return u, fmt.Errorf("forget tries of a PIN: %w", err)
	}
	after, err := s.db.UserUpdateParental(ctx, tx, accountsdb.UserUpdateParentalParams{
		ID: u.ID, MaxAgeRating: limit, ParentalPinMac: mac, Now: s.deps.Clock.Now(),
	})
	if err != nil {
		return u, fmt.Errorf("keep the age limit: %w", err)
	}
	return after, nil
}
