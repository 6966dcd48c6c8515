package codes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/modules/files"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// requestReset takes the address's turn and queues the rest, the same for known
// and unknown addresses, so that neither the answer nor its time tells them apart
// (docs/contract/accounts.md, Codes). Errors: 429 within the
// cooldown or beyond the daily number of mails.
func (s *Codes) requestReset(ctx context.Context, email string) error {
	return s.requestCode(ctx, PurposeReset, email,
		func(userID objectid.ID) river.JobArgs { return SendResetArgs{UserID: userID} })
}

// requestCode is what every route does that mails a code to whoever owns an
// address.
func (s *Codes) requestCode(ctx context.Context, purpose, email string,
	job func(userID objectid.ID) river.JobArgs,
) error {
	owner, err := s.db.LoginGetOwner(ctx, s.deps.Pool, email)
	if err != nil {
		return fmt.Errorf("find the owner of an address: %w", err)
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.ClaimTurnTx(ctx, tx, purpose, email); err != nil {
			return err
		}
		return jobs.InsertTx(ctx, s.deps.Jobs, tx, job(objectid.ID(owner)), nil)
	})
}

// SendResetArgs is the job that makes and mails a reset code, where there is
// somebody to have it. UserID is empty for an unknown address.
type SendResetArgs struct {
	UserID objectid.ID `json:"user_id"`
}

// Kind names the job.
func (SendResetArgs) Kind() string { return "accounts_send_reset" }

// SendReset does nothing for who is unknown, gone or disabled. Run again, it makes one
// more code, which replaces the first.
func (s *Codes) SendReset(ctx context.Context, a SendResetArgs) error {
	if a.UserID == "" {
		return nil
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.db.UserLockAny(ctx, tx, a.UserID)
		if postgres.IsNoRows(err) {
			return nil
		}
		if err != nil || !u.Enable {
			return err
		}
		return s.IssueTx(ctx, tx, u.ID, PurposeReset, u.Email)
	})
}

// resetPassword replaces the password of whoever has the code mailed to the
// address. It verifies the address, ends every earlier token, passkey and every other
// code: whoever made the account, or got into it, with somebody else's address is
// out. Errors: 400 no active code, expired, wrong (with what remains), short
// or guessable new_password; 404 NOT_FOUND for an address without an account; 429.
//
// Of an account that signup made and nobody has verified, emptied is true: what stands
// in it somebody else may have written, so the address is all that stays of it.
func (s *Codes) resetPassword(ctx context.Context, email string, code, next secret.Text) (emptied bool, err error) {
	if err := s.deps.Sessions.CheckNewPassword(next, email); err != nil {
		return false, err
	}
	found, err := s.resetOwner(ctx, email)
	if err != nil {
		return false, err
	}
	// The code is looked at before the hash is computed, which costs most and is not
	// to be had for a code that is spent or wrong; and again with the change.
	// So are the names that the password may not be, which nobody else is to learn.
	err = s.useResetCode(ctx, found.ID, code, func(_ pgx.Tx, u accountsdb.User) error {
		if err := s.deps.Sessions.CheckNewPassword(next, sessions.PersonalTexts(u)...); err != nil {
			return err
		}
		return errStillGood
	})
	if !errors.Is(err, errStillGood) {
		return false, err
	}
	hash, err := s.deps.Hasher.Hash(ctx, next)
	if err != nil {
		return false, err
	}
	err = s.useResetCode(ctx, found.ID, code, func(tx pgx.Tx, u accountsdb.User) error {
		emptied = u.UnprovedSignup && !u.EmailVerified
		return s.replacePasswordTx(ctx, tx, u, hash)
	})
	return emptied && err == nil, err
}

// errStillGood undoes the use of a code that was only to be looked at.
var errStillGood = errors.New("the code is good")

// useResetCode uses the code up together with what is done then. A wrong code is
// counted.
func (s *Codes) useResetCode(ctx context.Context, userID objectid.ID, code secret.Text,
	then func(pgx.Tx, accountsdb.User) error,
) error {
	var refusal *fault.Error
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.db.UserLockAny(ctx, tx, userID)
		if err != nil {
			return err
		}
		var row accountsdb.Code
		row, refusal, err = s.tryTx(ctx, tx, u.ID, PurposeReset, code)
		if err != nil || refusal != nil {
			return err
		}
		if row.Address != u.Email {
			refusal = fault.BadRequestDetail("%s",
				noCode[PurposeReset]) // it proves an address that is no longer theirs
			return nil
		}
		return then(tx, u)
	})
	switch {
	case postgres.IsNoRows(err):
		return identity.ErrNoCustomer()
	case err != nil:
		return fmt.Errorf("reset password: %w", err)
	case refusal != nil:
		return refusal
	}
	return nil
}

func (s *Codes) replacePasswordTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, hash string) error {
	now, ended := s.deps.Clock.Now(), s.deps.Identity.TokensEnd(u)
	err := s.db.UserResetPassword(ctx, tx, accountsdb.UserResetPasswordParams{
		ID: u.ID, NewHash: hash, TokensValidAfter: &ended, Now: now,
	})
	if err != nil {
		return err
	}
	if err := s.db.CodeDeleteOfUser(ctx, tx, u.ID); err != nil {
		return err
	}
	if err := s.deps.Factors.ForgetPasskeysTx(ctx, tx, u.ID); err != nil {
		return err
	}
	first := !u.EmailVerified
	if first && u.UnprovedSignup {
		if u, err = s.db.UserEmptyProfile(ctx, tx, accountsdb.UserEmptyProfileParams{ID: u.ID, Now: now}); err != nil {
			return err
		}
		if err := s.deps.Files.DeletePurposeTx(ctx, tx, identity.UserFileKind, u.ID, files.Avatar); err != nil {
			return err
		}
		if err := s.deps.Factors.ForgetSinceTx(ctx, tx, u.ID, time.Time{}); err != nil {
			return err
		}
	}
	if first {
		u.EmailVerified, u.EmailVerifiedAt = true, &now
		if err := s.deps.Identity.ChangedTx(ctx, tx, u, true); err != nil {
			return err
		}
	}
	return s.deps.Sessions.Throttles.Forgive(ctx, tx, []sessions.Throttle{
		s.deps.Sessions.Throttles.ThrottleOf(sessions.ScopeLogin, u.ID.String(), 0),
	})
}

// resetOwner finds the account of the address. Asking for accounts that are not
// there is throttled hard (docs/contract/accounts.md, Passwords).
func (s *Codes) resetOwner(ctx context.Context, email string) (accountsdb.User, error) {
	throttles := s.deps.Sessions.Throttles.WithAddress(ctx, sessions.ScopeUnknownAddress,
		s.deps.Sessions.Throttles.Limits().UnknownResets)
	if _, err := s.deps.Sessions.Throttles.CheckThrottles(ctx, s.deps.Pool, throttles); err != nil {
		return accountsdb.User{}, err
	}
	u, err := s.db.UserGetByLogin(ctx, s.deps.Pool, email)
	if postgres.IsNoRows(err) {
		if err := s.deps.Sessions.Throttles.CountFailure(ctx, s.deps.Pool, throttles); err != nil {
			return u, err
		}
		return u, identity.ErrNoCustomer()
	}
	if err != nil {
		return u, fmt.Errorf("read user: %w", err)
	}
	return u, nil
}

type forgotInput struct {
	Body struct {
		Email string `json:"email" doc:"E-mail address, at most 254 characters"`
	}
}

// ForgotPassword answers POST /auth/forgot-password, alike for known and unknown addresses.
func (h Handlers) ForgotPassword(ctx context.Context, in *forgotInput) (*httpapi.Output[MessageBody], error) {
	email, err := identity.NormalEmail(in.Body.Email, "body", "email")
	if err != nil {
		return nil, err
	}
	if err := h.codes.requestReset(ctx, email); err != nil {
		return nil, err
	}
	return httpapi.OK(MessageBody{Message: "If this address has an account, a code is on its way."})
}

type resetInput struct {
	Body struct {
		Email       string      `json:"email" doc:"E-mail address, at most 254 characters"`
		Code        secret.Text `json:"code" pattern:"^[0-9]{6}$" patternDescription:"exactly 6 digits"`
		NewPassword secret.Text `json:"new_password" maxLength:"1024" doc:"At least 8 characters, none of the commonest passwords nor your own e-mail or name; else 400"`
	}
}

type resetDone struct {
	Message string     `json:"message"`
	Info    *resetInfo `json:"info,omitempty"`
}

type resetInfo struct {
	ProfileReset bool `json:"profile_reset" doc:"true: nobody had verified this account, and what stood in it was emptied: phone, address, tax_id, my_list, avatar; the username is the e-mail"`
}

// ResetPassword answers POST /auth/reset-password.
func (h Handlers) ResetPassword(ctx context.Context, in *resetInput) (*httpapi.Output[resetDone], error) {
	email, err := identity.NormalEmail(in.Body.Email, "body", "email")
	if err != nil {
		return nil, err
	}
	emptied, err := h.codes.resetPassword(ctx, email, in.Body.Code, in.Body.NewPassword)
	if err != nil {
		return nil, err
	}
	out := resetDone{Message: "Password changed. All earlier sessions are ended."}
	if emptied {
		out.Info = &resetInfo{ProfileReset: true}
	}
	return httpapi.OK(out)
}
