package sessions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"golang.org/x/text/unicode/norm"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// ProvePassword checks a password under the throttles of login; 429 with the
// seconds to wait after too many failures at this account or from this client's
// address, or on this device of the user. u is the zero value where nobody has the login: that costs the same
// work, and its failures count too.
//
// Throttles are read inside the hasher's turn, and a failure is counted before
// the turn is over: guesses sent all at once get no more tries than those sent
// one by one, but for one for each core and process.
func (s *Sessions) ProvePassword(ctx context.Context, u accountsdb.User, login string,
	password secret.Text,
) (ok, stale bool, err error) {
	return s.prove(ctx, u, login, password, nil)
}

// prove is ProvePassword with what is asked for once the password is right; nil for nothing more. What second says is
// wrong counts as a wrong password does, and nothing is forgiven before it is right; an error of it counts nothing.
func (s *Sessions) prove(ctx context.Context, u accountsdb.User, login string, password secret.Text,
	second func(context.Context) (bool, error),
) (ok, stale bool, err error) {
	throttles := s.loginThrottles(ctx, u, login)
	err = s.deps.Hasher.turn(ctx, func() error {
		counted, err := s.Throttles.CheckThrottles(ctx, s.deps.Pool, throttles)
		if err != nil {
			return err
		}
		if ok, stale, err = s.deps.Hasher.verify(password, u.PasswordHash); err != nil {
			return fmt.Errorf("check password: %w", err)
		}
		// A client that hangs up does not get its guess back.
		ctx := context.WithoutCancel(ctx)
		if ok && second != nil {
			if ok, err = second(ctx); err != nil {
				return err
			}
		}
		if !ok {
			return s.Throttles.CountFailure(ctx, s.deps.Pool, throttles)
		}
		return s.Throttles.Forgive(ctx, s.deps.Pool, counted)
	})
	s.recordProof(ctx, u, ok, err)
	return ok, stale, err
}

// recordProof logs whose password was tried, from where, and what came of it; the user
// is empty where nobody has the login, which itself may be somebody's password.
func (s *Sessions) recordProof(ctx context.Context, u accountsdb.User, ok bool, err error) {
	result := "wrong"
	switch {
	case isMFARequired(err):
		result = "right, without the second factor"
	case err != nil:
		result = "put off"
	case ok:
		result = "right"
	}
	s.deps.Log.InfoContext(ctx, "credentials tried", slog.String("request_id", httpapi.RequestID(ctx)),
		slog.String("user_id", u.ID.String()),
		slog.String("result", result), slog.String("addr", httpapi.ClientIP(ctx)))
}

// secondFactor asks for a code of the user's authenticator, or a recovery code, and says in how which of both it was.
// Wrong ones count at the user, or at the device that is known, beside what wrong passwords count at: a reset of the
// password, which forgives those, gives no further guesses here. 401 MFA_REQUIRED without a code, 429 after too many.
func (s *Sessions) secondFactor(u accountsdb.User, code secret.Text, how *string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		if code.Empty() {
			return false, errMFARequired()
		}
		throttles := s.SecondFactorThrottles(ctx, u)
		counted, err := s.Throttles.CheckThrottles(ctx, s.deps.Pool, throttles)
		if err != nil {
			return false, err
		}
		if *how, err = s.deps.Totp.Check(ctx, s.deps.Pool, u.ID, code); err != nil {
			return false, err
		}
		if *how == "" {
			return false, s.Throttles.CountFailure(ctx, s.deps.Pool, throttles)
		}
		return true, s.Throttles.Forgive(ctx, s.deps.Pool, counted)
	}
}

// CallerRow reads the record of who calls; 404 when they are gone.
func (s *Sessions) CallerRow(ctx context.Context) (accountsdb.User, error) {
	u, err := s.db.UserGet(ctx, s.deps.Pool, httpapi.CallerOf(ctx).ID)
	if postgres.IsNoRows(err) {
		return u, fault.NotFound("User")
	}
	if err != nil {
		return u, fmt.Errorf("read user: %w", err)
	}
	return u, nil
}

// ProveCaller checks the current password of who calls, under the throttles of login, and returns their
// record; 400 with the field current_password.
func (s *Sessions) ProveCaller(ctx context.Context, current secret.Text) (accountsdb.User, error) {
	u, err := s.CallerRow(ctx)
	if err != nil {
		return u, err
	}
	ok, _, err := s.ProvePassword(ctx, u, u.Username, current)
	if err == nil && !ok {
		err = ErrWrongCurrent()
	}
	return u, err
}

// ProveSecondFactor checks a code of somebody who has a second factor, and uses it up; false for a wrong one, which is
// counted; 429 after too many.
func (s *Sessions) ProveSecondFactor(ctx context.Context, u accountsdb.User, code secret.Text) (bool, error) {
	var how string
	return s.secondFactor(u, code, &how)(ctx)
}

func errMFARequired() *fault.Error {
	return &fault.Error{
		Kind: fault.KindUnauthenticated, Code: fault.CodeMFARequired,
		Message: "This account has a second factor: send its code as totp.",
	}
}

func isMFARequired(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Code == fault.CodeMFARequired
}

// accountSubject is the user, however they log in, or the login that nobody has.
func accountSubject(u accountsdb.User, login string) string {
	if u.ID != "" {
		return u.ID.String()
	}
	return strings.ToLower(norm.NFKC.String(login))
}
