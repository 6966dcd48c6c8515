package accounts

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

func errNoUndo() error {
	return fault.BadDetail("This link is not valid, was used already, or is over.")
}

// undoEmailChange gives the user the address back to which the link was mailed, or ends
// what was asked for it. Whoever else got into the account is out: all tokens, codes
// and later changes end, the password holds no more, and a reset code is mailed to the
// address. Errors: 400 for a link that is forged, used, over, of a later change that an
// earlier one has undone, or of a deleted account; 409 CONFLICT when somebody has the
// address; 429.
func (s *Service) undoEmailChange(ctx context.Context, token secret.Text) error {
	throttles := s.withAddress(ctx, scopeCodeAddress, s.cfg.Throttle.AddressFailures)
	if _, err := s.checkThrottles(ctx, s.pool, throttles); err != nil {
		return err
	}
	id, ok := s.codes.undoOf(token)
	if !ok {
		if err := s.countFailure(ctx, s.pool, throttles); err != nil {
			return err
		}
		return errNoUndo()
	}
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		found, err := s.q.EmailChangeGet(ctx, tx, id)
		if err != nil {
			return err
		}
		u, err := s.q.UserLockAny(ctx, tx, found.UserID)
		if err != nil {
			return err
		}
		c, err := s.q.EmailChangeGet(ctx, tx, id) // as it is once nobody else can use it
		if err != nil {
			return err
		}
		if c.UndoneAt != nil || !c.ExpiresAt.After(s.clock.Now()) || c.ChangedAt == nil && c.OldEmail != u.Email {
			return errNoUndo()
		}
		return s.restoreEmailTx(ctx, tx, u, c)
	})
	switch {
	case postgres.IsNoRows(err):
		return errNoUndo()
	case postgres.Constraint(err) == uniqueLogin:
		return fault.Conflict("This e-mail has another account.")
	case err != nil:
		return fmt.Errorf("undo change of e-mail: %w", err)
	}
	return nil
}

func (s *Service) restoreEmailTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, c accountsdb.AccountsEmailChange) error {
	now, ended := s.clock.Now(), s.tokensEnd(u)
	if err := s.q.EmailChangeUndo(ctx, tx, accountsdb.EmailChangeUndoParams{ID: c.ID, Now: &now}); err != nil {
		return err
	}
	params := accountsdb.UserRestoreEmailParams{
		ID: u.ID, Email: c.OldEmail, Username: c.OldUsername, Unproved: c.OldUnproved, Now: now, TokensValidAfter: &ended,
	}
	after, err := s.restoreNameTx(ctx, tx, u, params)
	if fault.Is(err, fault.Conflicting) || postgres.Constraint(err) == uniqueLogin { // somebody has the name now
		params.Username = c.OldEmail
		after, err = s.q.UserRestoreEmail(ctx, tx, params)
	}
	if err != nil {
		return err
	}
	if err := s.q.CodeDeleteOfUser(ctx, tx, u.ID); err != nil {
		return err
	}
	if err := s.changedTx(ctx, tx, after, false); err != nil || !after.Enable {
		return err
	}
	return s.issueCodeTx(ctx, tx, u.ID, purposeReset, after.Email)
}

// restoreNameTx gives the old name back with the address, where it is free; otherwise
// nothing is written.
func (s *Service) restoreNameTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, params accountsdb.UserRestoreEmailParams) (after accountsdb.User, err error) {
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		if params.Username != u.Username && !strings.Contains(params.Username, "@") {
			if err := s.takeLookTx(ctx, tx, u.UserType, params.Username, u.ID); err != nil {
				return err
			}
		}
		after, err = s.q.UserRestoreEmail(ctx, tx, params)
		return err
	})
	return after, err
}

type undoInput struct {
	Body struct {
		Token secret.Text `json:"token" minLength:"1" maxLength:"200" doc:"What stands behind the # of the mailed link"`
	}
}

func (h handlers) undoEmailChange(ctx context.Context, in *undoInput) (*httpapi.Output[messageBody], error) {
	if err := h.s.undoEmailChange(ctx, in.Body.Token); err != nil {
		return nil, err
	}
	return httpapi.OK(messageBody{Message: "Your e-mail is as it was, and all sessions are ended. A code to set a new password is on its way to it."})
}

// undoPage is what the mailed link opens: a page with one button, since programs that
// look at mails follow links, too.
func (h handlers) undoPage(w http.ResponseWriter, _ *http.Request) {
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-store")
	_, _ = w.Write(h.s.cfg.UndoPage)
}

// proveForChange checks the current password of who asks for a new address, where it is
// given; it has to be where EMAIL_CHANGE_NEEDS_PASSWORD says so. Errors: 400 with the
// field current_password; 429.
func (s *Service) proveForChange(ctx context.Context, u accountsdb.User, current secret.Text) error {
	if current.Empty() {
		if s.cfg.EmailChangeNeedsPassword {
			return errNeedsPassword()
		}
		return nil
	}
	ok, _, err := s.provePassword(ctx, u, u.Username, current)
	if err != nil {
		return err
	}
	if !ok {
		return errWrongCurrent()
	}
	return nil
}

func errNeedsPassword() error {
	return fault.Bad("Your current password is needed to change your e-mail.").WithField("current_password")
}
