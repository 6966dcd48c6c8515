package factors

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/accounts/passkeys"
	"marquee/modules/accounts/sessions"
	"marquee/modules/accounts/signins"
	"marquee/modules/accounts/totp"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Config holds the settings of the room.
type Config struct {
	RequiredForRoot bool // MFA_REQUIRED_FOR_ROOT
}

// Deps are what New needs.
type Deps struct {
	Pool     postgres.Pool
	Clock    clock.Clock
	Identity *identity.Store
	SignIns  *signins.Store
	Sessions *sessions.Sessions
	Totp     *totp.Store
	Passkeys *passkeys.Passkeys
	Config   Config
	// PlatformName is how authenticators name the platform.
	PlatformName func(ctx context.Context) (string, error)
}

// Factors is the room.
type Factors struct {
	deps Deps
	db   *accountsdb.Queries
}

// New makes the room.
func New(d Deps) *Factors { return &Factors{deps: d, db: accountsdb.New()} }

// Handlers answers the routes.
type Handlers struct{ s *Factors }

// Handlers returns what answers the routes.
func (s *Factors) Handlers() Handlers { return Handlers{s} }

// Reset takes the second factor and the passkeys of whoever has the login, ends all their tokens, and says who
// it was: for people who have lost what they proved it with. 404 when there is nobody.
func (s *Factors) Reset(ctx context.Context, login string) (u accountsdb.User, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		found, err := s.db.UserGetByLogin(ctx, tx, login)
		if postgres.IsNoRows(err) {
			return fault.NotFound("User")
		}
		if err != nil {
			return err
		}
		if u, err = s.db.UserLockAny(ctx, tx, found.ID); err != nil {
			return err
		}
		had, err := s.deps.Totp.RemoveTx(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		keys, err := s.deps.Passkeys.ForgetTx(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		ended := s.deps.Identity.TokensEnd(u)
		if err := s.db.UserEndTokens(ctx, tx, accountsdb.UserEndTokensParams{
			ID: u.ID, EndedAt: &ended, Now: s.deps.Clock.Now(),
		}); err != nil {
			return err
		}
		return identity.RecordTx(ctx, tx, u, map[string]any{"totp": had, "passkeys": keys},
			map[string]any{"totp": false, "passkeys": 0})
	})
	if err != nil {
		return u, fmt.Errorf("reset a second factor: %w", err)
	}
	return u, nil
}

// ForgetTx removes all that a user proved who they are with, and their sessions: the account is gone.
func (s *Factors) ForgetTx(ctx context.Context, tx pgx.Tx, userID objectid.ID) error {
	if _, err := s.deps.Totp.RemoveTx(ctx, tx, userID); err != nil {
		return err
	}
	if err := s.ForgetPasskeysTx(ctx, tx, userID); err != nil {
		return err
	}
	return s.deps.SignIns.ForgetTx(ctx, tx, userID)
}

// ForgetSinceTx removes a second factor that was set up since an instant, and all passkeys: whoever got into the
// account may have done it, and its owner gets in without passkeys.
func (s *Factors) ForgetSinceTx(ctx context.Context, tx pgx.Tx, userID objectid.ID, since time.Time) error {
	if err := s.deps.Totp.RemoveSinceTx(ctx, tx, userID, since); err != nil {
		return err
	}
	return s.ForgetPasskeysTx(ctx, tx, userID)
}

// ForgetPasskeysTx removes the passkeys of somebody whose password was replaced by other means than itself: whoever got
// into the account is out.
func (s *Factors) ForgetPasskeysTx(ctx context.Context, tx pgx.Tx, userID objectid.ID) error {
	_, err := s.deps.Passkeys.ForgetTx(ctx, tx, userID)
	return err
}

// Sweep removes what nobody finished in time.
func (s *Factors) Sweep(ctx context.Context) error { return s.deps.Passkeys.Sweep(ctx) }

// PasskeysOf are those of the user, for the file of their data.
func (s *Factors) PasskeysOf(ctx context.Context, db postgres.DB, userID objectid.ID) ([]passkeys.Passkey, error) {
	return s.deps.Passkeys.RecordsOf(ctx, db, userID)
}

// Record is what is held about somebody's second factor, for the file of their data.
type Record struct {
	ConfirmedAt   *httpapi.Time `json:"confirmed_at" doc:"null: there is none"`
	RecoveryCodes int           `json:"recovery_codes" doc:"How many are left"`
}

// RecordOf is that of the user.
func (s *Factors) RecordOf(ctx context.Context, db postgres.DB, userID objectid.ID) (Record, error) {
	state, err := s.deps.Totp.State(ctx, db, userID)
	return Record{ConfirmedAt: httpapi.TimePtr(state.ConfirmedAt), RecoveryCodes: state.RecoveryCodes}, err
}
