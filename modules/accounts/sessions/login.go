package sessions

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"golang.org/x/text/unicode/norm"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
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
	throttles := s.loginThrottles(ctx, u, login)
	err = s.deps.Hasher.turn(ctx, func() error {
		counted, err := s.CheckThrottles(ctx, s.deps.Pool, throttles)
		if err != nil {
			return err
		}
		if ok, stale, err = s.deps.Hasher.verify(password, u.PasswordHash); err != nil {
			return fmt.Errorf("check password: %w", err)
		}
		// A client that hangs up does not get its guess back.
		ctx := context.WithoutCancel(ctx)
		if !ok {
			return s.CountFailure(ctx, s.deps.Pool, throttles)
		}
		return s.Forgive(ctx, s.deps.Pool, counted)
	})
	s.recordProof(ctx, u, ok, err)
	return ok, stale, err
}

// recordProof logs whose password was tried, from where, and what came of it; the user
// is empty where nobody has the login, which itself may be somebody's password.
func (s *Sessions) recordProof(ctx context.Context, u accountsdb.User, ok bool, err error) {
	result := "wrong"
	switch {
	case err != nil:
		result = "put off"
	case ok:
		result = "right"
	}
	s.deps.Log.InfoContext(ctx, "credentials tried", slog.String("request_id", httpapi.RequestID(ctx)),
		slog.String("user_id", u.ID.String()),
		slog.String("result", result), slog.String("addr", httpapi.ClientIP(ctx)))
}

// accountSubject is the user, however they log in, or the login that nobody has.
func accountSubject(u accountsdb.User, login string) string {
	if u.ID != "" {
		return u.ID.String()
	}
	return strings.ToLower(norm.NFKC.String(login))
}
