package codes

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

func errNoUndo() error {
	return fault.BadRequestDetail("This link is not valid, was already used, or has expired.")
}

// undone is what an undo left.
type undone struct{ passwordSet, disabled bool }

// undoEmailChange gives the user the address back to which the link was mailed, or ends
// what was asked for it. Whoever else got into the account is out: all tokens, codes
// and later changes end, so does a second factor that was set up since a week before the
// change, the password holds no more, and next takes its place; where that
// is empty, a reset code is mailed to the address.
//
// Until a new password is set the link works again, for another code at once or with a
// password: so nobody keeps the owner out by wrong codes. Errors: 400 for a link that is
// forged, over, of a later change that an earlier one has undone, or of a deleted account,
// and for one with which all was done; 400 for a short or guessable password; 409 CONFLICT
// when somebody has the address; 429.
func (s *EmailChanges) undoEmailChange(ctx context.Context, token, next secret.Text) (undone, error) {
	throttles := s.deps.Sessions.Throttles.WithAddress(ctx, sessions.ScopeCodeAddress,
		s.deps.Sessions.Throttles.Limits().AddressFailures)
	if _, err := s.deps.Sessions.Throttles.CheckThrottles(ctx, s.deps.Pool, throttles); err != nil {
		return undone{}, err
	}
	id, ok := s.keys.undoOf(token)
	if !ok {
		if err := s.deps.Sessions.Throttles.CountFailure(ctx, s.deps.Pool, throttles); err != nil {
			return undone{}, err
		}
		return undone{}, errNoUndo()
	}
	found, err := s.db.EmailChangeGet(ctx, s.deps.Pool, id)
	if postgres.IsNoRows(err) {
		return undone{}, errNoUndo()
	}
	if err != nil {
		return undone{}, fmt.Errorf("read change of e-mail: %w", err)
	}
	hash, err := s.hashForUndo(ctx, found, next)
	if err != nil {
		return undone{}, err
	}
	var done undone
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.db.UserLockAny(ctx, tx, found.UserID)
		if err != nil {
			return err
		}
		c, err := s.db.EmailChangeGet(ctx, tx, id) // as it is once nobody else can use it
		if err != nil {
			return err
		}
		switch {
		case s.canUndo(c, u):
			if u, err = s.restoreEmailTx(ctx, tx, u, c); err != nil {
				return err
			}
		case !s.isAwaitingPassword(c, u):
			return errNoUndo()
		}
		done = undone{passwordSet: hash != "", disabled: !u.Enable}
		return s.startAgainTx(ctx, tx, u, c, hash)
	})
	switch {
	case postgres.IsNoRows(err):
		return undone{}, errNoUndo()
	case postgres.Constraint(err) == identity.UniqueLogin:
		return undone{}, fault.Conflict("This e-mail has another account.")
	case err != nil:
		return undone{}, fmt.Errorf("undo change of e-mail: %w", err)
	}
	return done, nil
}

// canUndo reports whether there is something to undo.
func (s *EmailChanges) canUndo(c accountsdb.AccountsEmailChange, u accountsdb.User) bool {
	return c.UndoneAt == nil && c.ExpiresAt.After(s.deps.Clock.Now()) && (c.ChangedAt != nil || c.OldEmail == u.Email)
}

// isAwaitingPassword reports whether the account is as the undo left it.
func (s *EmailChanges) isAwaitingPassword(c accountsdb.AccountsEmailChange, u accountsdb.User) bool {
	return c.UndoneAt != nil && c.ExpiresAt.After(s.deps.Clock.Now()) && c.OldEmail == u.Email && u.PasswordHash == nil
}

// hashForUndo checks and hashes a password that comes with a good link; "" for none. A
// link that does nothing buys no hash.
func (s *EmailChanges) hashForUndo(ctx context.Context, c accountsdb.AccountsEmailChange,
	next secret.Text,
) (string, error) {
	if next.Empty() {
		return "", nil
	}
	u, err := s.db.UserGet(ctx, s.deps.Pool, c.UserID)
	if postgres.IsNoRows(err) {
		return "", errNoUndo()
	}
	if err != nil {
		return "", fmt.Errorf("read user: %w", err)
	}
	if !s.canUndo(c, u) && !s.isAwaitingPassword(c, u) {
		return "", errNoUndo()
	}
	if err := s.deps.Sessions.CheckNewPassword(next,
		append(sessions.PersonalTexts(u), c.OldEmail, c.OldUsername)...); err != nil {
		return "", err
	}
	return s.deps.Hasher.Hash(ctx, next)
}

func (s *EmailChanges) restoreEmailTx(ctx context.Context, tx pgx.Tx, u accountsdb.User,
	c accountsdb.AccountsEmailChange,
) (accountsdb.User, error) {
	now, ended := s.deps.Clock.Now(), s.deps.Identity.TokensEnd(u)
	if err := s.db.EmailChangeUndo(ctx, tx, accountsdb.EmailChangeUndoParams{ID: c.ID, Now: &now}); err != nil {
		return u, err
	}
	params := accountsdb.UserRestoreEmailParams{
		ID: u.ID, Email: c.OldEmail, Username: c.OldUsername, Unproved: c.OldUnproved, Now: now,
		TokensValidAfter: &ended,
	}
	after, err := s.restoreNameTx(ctx, tx, u, params)
	if fault.Is(err, fault.KindConflict) ||
		postgres.Constraint(err) == identity.UniqueLogin { // somebody has the name now
		params.Username = c.OldEmail
		after, err = s.db.UserRestoreEmail(ctx, tx, params)
	}
	if err != nil {
		return u, err
	}
	if err := s.db.CodeDeleteOfUser(ctx, tx, u.ID); err != nil {
		return u, err
	}
	// Whoever changed the address may have locked the door behind them shortly before.
	if err := s.deps.Factors.ForgetSinceTx(ctx, tx, u.ID, c.RequestedAt.Add(-undoTime)); err != nil {
		return u, err
	}
	return after, s.deps.Identity.ChangedTx(ctx, tx, after, false)
}

// startAgainTx sets the password of an account that was given back, or mails the address a
// code, for which no wrong code of before makes anybody wait. A disabled account gets no
// code, for nobody signs in to it: its owner sets the password with the link, or has a code
// mailed once it is enabled.
func (s *EmailChanges) startAgainTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, c accountsdb.AccountsEmailChange,
	hash string,
) error {
	if hash != "" {
		return s.codes.replacePasswordTx(ctx, tx, u, hash)
	}
	if !u.Enable {
		return nil
	}
	if c.UndoneAt != nil && !s.deps.Sessions.Throttles.Limits().Off {
		ok, err := s.deps.Sessions.Throttles.TakeQuota(ctx, tx, "codes of an undo", c.ID.String(),
			s.deps.Sessions.Throttles.Limits().MailsPerDay, day)
		if err != nil {
			return err
		}
		if !ok {
			return fault.TooManyRequests(day,
				"This link has had too many codes sent. Set a new password with it instead.")
		}
	}
	if err := s.deps.Sessions.Throttles.Forgive(ctx, tx, []sessions.Throttle{
		s.deps.Sessions.Throttles.ThrottleOf(sessions.ScopeCode, PurposeReset+" "+u.ID.String(), 0),
	}); err != nil {
		return err
	}
	return s.codes.IssueTx(ctx, tx, u.ID, PurposeReset, u.Email)
}

// restoreNameTx gives the old name back with the address, where it is free; otherwise
// nothing is written.
func (s *EmailChanges) restoreNameTx(ctx context.Context, tx pgx.Tx, u accountsdb.User,
	params accountsdb.UserRestoreEmailParams,
) (after accountsdb.User, err error) {
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		if params.Username != u.Username && !strings.Contains(params.Username, "@") {
			if err := s.deps.Identity.ReserveAppearanceTx(ctx, tx, u.UserType, params.Username, u.ID); err != nil {
				return err
			}
		}
		after, err = s.db.UserRestoreEmail(ctx, tx, params)
		return err
	})
	return after, err
}

type undoInput struct {
	Body struct {
		Token       secret.Text `json:"token" minLength:"1" maxLength:"200" doc:"What follows the # in the mailed link"`
		NewPassword secret.Text `json:"new_password,omitempty" required:"false" maxLength:"1024" doc:"Set at once, so that no code is needed; 400 as at /auth/reset-password"`
	}
}

type undoResponse struct {
	Message  string `json:"message"`
	Disabled bool   `json:"disabled,omitempty" doc:"true: the account is disabled, so no code is mailed; support enables it"`
}

// UndoEmailChange answers the post of the page that the mailed link opens.
func (h Handlers) UndoEmailChange(ctx context.Context, in *undoInput) (*httpapi.Output[undoResponse], error) {
	done, err := h.changes.undoEmailChange(ctx, in.Body.Token, in.Body.NewPassword)
	if err != nil {
		return nil, err
	}
	res := undoResponse{Message: "Your e-mail is as it was, and all sessions are ended. ", Disabled: done.disabled}
	switch {
	case done.passwordSet:
		res.Message += "Your new password is set."
	case done.disabled:
		res.Message += "The account is disabled, so no code was sent: write to us to have it enabled, then ask for a code at /auth/forgot-password."
	default:
		res.Message += "A code to set a new password is on its way to it. Until it is set, this link sends another one, or sets it itself."
	}
	return httpapi.OK(res)
}

// UndoPage is what the mailed link opens: a page with one button, since programs that
// look at mails follow links, too.
func (h Handlers) UndoPage(w http.ResponseWriter, _ *http.Request) {
	httpapi.ScriptedPage(w, h.changes.deps.Config.UndoPage)
}

// ProveForChange checks the current password of who asks for a new address, where it is
// given, and an empty one is given; it has to be where EMAIL_CHANGE_NEEDS_PASSWORD says so. Errors: 400 with the
// field current_password; 429.
func (s *EmailChanges) ProveForChange(ctx context.Context, u accountsdb.User, current *secret.Text) error {
	if current == nil {
		if s.deps.Config.ChangeNeedsPassword {
			return ErrNeedsPassword()
		}
		return nil
	}
	ok, _, err := s.deps.Sessions.ProvePassword(ctx, u, u.Username, *current)
	if err != nil {
		return err
	}
	if !ok {
		return sessions.ErrWrongCurrent()
	}
	return nil
}

// ErrNeedsPassword is 400 with the field current_password.
func ErrNeedsPassword() error {
	return fault.BadRequest("Your current password is needed to change your e-mail.").WithField("current_password")
}
