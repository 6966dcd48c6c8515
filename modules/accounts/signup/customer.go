package signup

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/codes"
	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/sessions"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// request is what somebody signs up with.
type request struct {
	user      NewUser
	promoCode string
	later     bool // verify_email_now is false
}

// signUp makes an unverified customer and mails a code. When the address has an
// unverified account with this very password, only a new code is mailed
// (docs/contract/accounts.md, Sign-up). Errors: 409 for an address, username
// or tax_id that is taken; 429 within the cooldown; 400 for a promo code that
// does not hold; 422 naming the field.
func (s *Signup) signUp(ctx context.Context, n request) (accountsdb.User, error) {
	row, err := s.newRow(n.user)
	if err != nil {
		return accountsdb.User{}, atIndex(err, 0)
	}
	if err := s.addPromoCode(ctx, &row, n.promoCode); err != nil {
		return accountsdb.User{}, err
	}
	u, known, err := s.unverifiedOwner(ctx, row.Email, n.user.Password)
	if err != nil {
		return u, err
	}
	if known {
		return u, s.mailAgain(ctx, u, n.later)
	}
	u, err = s.insertSignup(ctx, row, n.user.Password, n.later)
	if fault.Is(err, fault.KindConflict) {
		return s.lostRace(ctx, row.Email, n, err)
	}
	return u, err
}

// addPromoCode checks the code before anything is written.
func (s *Signup) addPromoCode(ctx context.Context, row *accountsdb.UserInsertParams, code string) error {
	if code == "" {
		return nil
	}
	if s.promos == nil {
		return fault.BadRequest("Promo code not found.").WithField("promo_code")
	}
	id, err := s.promos.SignupPromoCode(ctx, code)
	if err != nil {
		return err
	}
	row.PromoCodeUsed, row.PromoCodeID = &code, &id
	return nil
}

// unverifiedOwner looks for an account with the address. known is false when the
// address is free; it is 409 when the account is verified, not a customer's,
// disabled, has another password, or a second factor, which signing in asks for.
func (s *Signup) unverifiedOwner(ctx context.Context, email string,
	password secret.Text,
) (u accountsdb.User, known bool, err error) {
	u, err = s.db.UserGetByLogin(ctx, s.deps.Pool, email)
	if postgres.IsNoRows(err) {
		return u, false, nil
	}
	if err != nil {
		return u, false, fmt.Errorf("read user: %w", err)
	}
	taken := fault.Conflict("This e-mail already has an account.").WithField("email")
	if u.EmailVerified || u.UserType != httpapi.TypeCustomer || !u.Enable || u.PasswordHash == nil {
		return u, false, taken
	}
	ok, _, err := s.deps.Sessions.ProvePassword(ctx, u, email, password)
	if err != nil {
		return u, false, err
	}
	second, err := s.deps.Totp.Enabled(ctx, s.deps.Pool, u.ID)
	if err != nil {
		return u, false, err
	}
	if !ok || second {
		return u, false, taken
	}
	return u, true, nil
}

func (s *Signup) mailAgain(ctx context.Context, u accountsdb.User, later bool) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.issueCodeTx(ctx, tx, u, later) })
}

// issueCodeTx mails the code that verifies an address: 429 within its cooldown. Who verifies it later
// goes on meanwhile.
func (s *Signup) issueCodeTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, later bool) error {
	if later {
		if err := s.deferVerificationTx(ctx, tx, u); err != nil {
			return err
		}
	}
	if err := s.deps.Codes.ClaimTurnTx(ctx, tx, codes.PurposeVerification, u.Email); err != nil {
		return err
	}
	return s.deps.Codes.IssueTx(ctx, tx, u.ID, codes.PurposeVerification, u.Email)
}

// deferVerificationTx lets a customer go on before they have verified their address,
// with what their code promised.
func (s *Signup) deferVerificationTx(ctx context.Context, tx pgx.Tx, u accountsdb.User) error {
	if err := s.db.UserDeferVerification(ctx, tx, u.ID); err != nil {
		return err
	}
	return s.deps.Identity.KeepPromiseTx(ctx, tx, u)
}

func (s *Signup) insertSignup(ctx context.Context, row accountsdb.UserInsertParams, password secret.Text,
	later bool,
) (u accountsdb.User, err error) {
	hash, err := s.deps.Hasher.Hash(ctx, password)
	if err != nil {
		return u, err
	}
	row.PasswordHash = &hash
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		// The row first: of parallel signups with one address, all but one fail here
		// and say why, instead of meeting each other's cooldown.
		if u, err = s.deps.Identity.InsertUserTx(ctx, tx, row); err != nil {
			return identity.Duplicate(err, row.Email)
		}
		if err := s.db.UserMarkSignup(ctx, tx, u.ID); err != nil {
			return err
		}
		return s.issueCodeTx(ctx, tx, u, later)
	})
	if err != nil {
		return u, fmt.Errorf("sign up: %w", err)
	}
	return u, nil
}

// lostRace answers a signup that met another one of the same address on the way:
// as the repetition that it is when the password is the same, else with the
// conflict.
func (s *Signup) lostRace(ctx context.Context, email string, n request, conflict error) (accountsdb.User, error) {
	u, known, err := s.unverifiedOwner(ctx, email, n.user.Password)
	if err != nil {
		return u, err
	}
	if !known {
		return u, conflict
	}
	return u, s.mailAgain(ctx, u, n.later)
}

// confirmSignup is the second step of mode A: the same payload with the mailed
// code. Errors as signUp and codes.VerifyEmail.
func (s *Signup) confirmSignup(ctx context.Context, n request, code secret.Text) (accountsdb.User, error) {
	email, err := identity.NormalEmail(n.user.Email, "body", 0, "email")
	if err != nil {
		return accountsdb.User{}, err
	}
	u, known, err := s.unverifiedOwner(ctx, email, n.user.Password)
	if err != nil {
		return u, err
	}
	if !known {
		return u, fault.BadRequestDetail("There is no active code. Sign up without verification_code first.")
	}
	return s.deps.Codes.VerifyEmail(ctx, u.ID, code)
}

// atIndex puts the index of the array's object into a finding that was made
// without knowing of the array.
func atIndex(err error, index int) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	for i, issue := range f.Issues {
		if len(issue.Loc) == 2 && issue.Loc[0] == "body" {
			f.Issues[i].Loc = []any{"body", index, issue.Loc[1]}
		}
	}
	return err
}

// signupSession is what a customer gets who may go on before they have verified their
// address.
type signupSession struct {
	AccessToken  string       `json:"access_token"`
	ArchiveToken string       `json:"archive_token"`
	TokenType    string       `json:"token_type" enum:"bearer"`
	IDToken      objectid.ID  `json:"id_token"`
	Expiration   httpapi.Time `json:"expiration"`
}

func (s *Signup) startSession(ctx context.Context, u accountsdb.User) (signupSession, error) {
	access, err := s.deps.Sessions.SignUp(ctx, u)
	if err != nil {
		return signupSession{}, err
	}
	archive, _, err := s.deps.Files.IssueArchiveToken(ctx, s.deps.Pool, u.ID, access.SessionID)
	if err != nil {
		return signupSession{}, err
	}
	return signupSession{
		AccessToken: access.Token, ArchiveToken: archive, TokenType: sessions.TokenType, IDToken: u.ID,
		Expiration: httpapi.Time(access.ExpiresAt),
	}, nil
}
