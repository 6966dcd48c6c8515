package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/signins"
	"marquee/modules/accounts/trail"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// changePassword replaces the caller's own password, clears
// password_reset_required and ends their other tokens, mailed codes and devices. The
// access token of the caller stays good; their refresh and archive tokens do not, so
// that new tokens of the session are returned, and the token of the device on which it is done anew.
// Errors: 400 VALIDATION_ERROR for a wrong current_password or a short or guessable
// new_password, 404, 429 after too many wrong ones, counted together with failed logins.
func (s *Sessions) changePassword(ctx context.Context, caller httpapi.Caller,
	current, chosen secret.Text,
) (session TokenSet, device string, err error) {
	u, err := s.CallerRow(ctx)
	if err != nil {
		return session, "", err
	}
	if err := s.CheckNewPassword(chosen, PersonalTexts(u)...); err != nil {
		return session, "", err
	}
	ok, _, err := s.ProvePassword(ctx, u, u.Username, current)
	if err != nil {
		return session, "", err
	}
	if !ok {
		return session, "", ErrWrongCurrent()
	}
	hash, err := s.deps.Hasher.Hash(ctx, chosen)
	if err != nil {
		return session, "", err
	}
	var ended time.Time
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if _, err := s.db.UserLockAny(ctx, tx, u.ID); err != nil {
			return err // the instant below has to come after a login that reads the old password
		}
		ended = s.deps.Identity.TokensEnd(u)
		n, err := s.db.UserChangePassword(ctx, tx, accountsdb.UserChangePasswordParams{
			ID: u.ID, OldHash: *u.PasswordHash, NewHash: hash, TokenID: caller.Claims.TokenID, TokensValidAfter: &ended,
			Now: s.deps.Clock.Now(),
		})
		if err == nil && n == 0 {
			return ErrWrongCurrent() // somebody else has just replaced it
		}
		if err != nil {
			return err
		}
		if err := s.db.CodeDeleteOfUser(ctx, tx, u.ID); err != nil {
			return err
		}
		if session, err = s.newSession(ctx, tx, u, signins.Start{
			ID: caller.Claims.SessionID, UserID: u.ID, Method: signins.ByLogin, Issued: ended,
		}); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: identity.UsersName, RecordID: u.ID, Before: map[string]any{},
			After: map[string]any{"password": trail.Mask},
		})
	})
	if postgres.IsNoRows(err) {
		return TokenSet{}, "", fault.NotFound("User")
	}
	if err != nil {
		return TokenSet{}, "", fmt.Errorf("change password: %w", err)
	}
	return session, s.provedDevice(ctx, u, ended), nil
}

// ErrWrongCurrent is 400 with the field current_password.
func ErrWrongCurrent() error {
	return fault.BadRequest("The current password is wrong.").WithField("current_password")
}

type changePasswordInput struct {
	DeviceInput
	Body struct {
		CurrentPassword secret.Text `json:"current_password" minLength:"1" maxLength:"1024"`
		NewPassword     secret.Text `json:"new_password" maxLength:"1024" doc:"At least 8 characters, none of the commonest passwords nor your own e-mail or name; else 400"`
	}
}

type passwordChanged struct {
	Message               string `json:"message"`
	PasswordResetRequired bool   `json:"password_reset_required" doc:"Always false"`

	AccessToken  string       `json:"access_token" doc:"Of a new session; the one that asked stays good until it expires"`
	RefreshToken string       `json:"refresh_token" doc:"In place of all earlier ones"`
	ArchiveToken string       `json:"archive_token" doc:"Opens stored files without an Authorization header; in place of all earlier ones"`
	Expiration   httpapi.Time `json:"expiration" doc:"When the access token ends"`
}

type passwordOutput struct {
	DeviceOutput
	Body passwordChanged
}

// ChangePassword answers POST /auth/change-password.
func (h Handlers) ChangePassword(ctx context.Context, in *changePasswordInput) (*passwordOutput, error) {
	session, device, err := h.s.changePassword(in.DeviceInput.In(ctx), httpapi.CallerOf(ctx), in.Body.CurrentPassword,
		in.Body.NewPassword)
	if err != nil {
		return nil, err
	}
	return &passwordOutput{DeviceOutput: h.s.deviceOutput(ctx, device), Body: passwordChanged{
		Message:     "Password changed. Your other sessions are ended.",
		AccessToken: session.AccessToken, RefreshToken: session.RefreshToken, ArchiveToken: session.ArchiveToken,
		Expiration: session.Expiration,
	}}, nil
}
