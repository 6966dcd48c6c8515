package sessions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// ThrottleLimits bound guessing, at passwords and at codes. They live in
// Postgres, so that they hold across processes and restarts. The zero value of a
// field means its default.
type ThrottleLimits struct {
	LoginFailures   int           // LOGIN_FAILURES in a row at one account before a wait; default 10
	CodeFailures    int           // CODE_FAILURES in a row at one account, over all its codes; default 10
	AddressFailures int           // ADDRESS_FAILURES in a row from one client address; default 100
	UnknownResets   int           // UNKNOWN_RESETS in a row from one client address, without an account; default 10
	FirstWait       time.Duration // THROTTLE_WAIT, doubled by each further failure; default 1 s
	LongestWait     time.Duration // THROTTLE_WAIT_MAX; default 15 min
	MailsPerDay     int           // CODE_MAILS_PER_DAY to one recipient, for all purposes together; default 20
	Off             bool          // NO_THROTTLE: lifts them all, for load tests
}

func (l ThrottleLimits) withDefaults() ThrottleLimits {
	l.LoginFailures = cmp.Or(l.LoginFailures, 10)
	l.CodeFailures = cmp.Or(l.CodeFailures, 10)
	l.AddressFailures = cmp.Or(l.AddressFailures, 100)
	l.UnknownResets = cmp.Or(l.UnknownResets, 10)
	l.FirstWait = cmp.Or(l.FirstWait, time.Second)
	l.LongestWait = cmp.Or(l.LongestWait, 15*time.Minute)
	l.MailsPerDay = cmp.Or(l.MailsPerDay, 20)
	return l
}

// The scopes of throttles. A scope's failures at one subject say nothing of
// another scope's.
const (
	ScopeLogin          = "login"
	scopeLoginDevice    = "login from device"
	scopeLoginAddress   = "login from address"
	scopeSecondFactor   = "second factor"
	ScopeCode           = "code"
	ScopeCodeAddress    = "code from address"
	ScopeUnknownAddress = "unknown reset from address"
)

// Failures are forgotten after a quiet time of this length; the windows of quotas are no longer
// than a day.
const (
	failuresForgottenAfter = 24 * time.Hour
	quotaRetention         = 48 * time.Hour
)

// Throttle is who is counted in one scope.
type Throttle struct {
	scope   string
	mac     []byte
	allowed int
}

// Throttles counts failures and what is used of quotas.
type Throttles struct {
	deps Deps
	db   *accountsdb.Queries
	key  []byte // stands for whom a throttle concerns
}

// Limits are what is allowed of failures and mails.
func (s *Throttles) Limits() ThrottleLimits { return s.deps.Config.Throttle }

// ThrottleOf is a subject of a scope, with how many failures it may have in a row.
func (s *Throttles) ThrottleOf(scope, subject string, allowed int) Throttle {
	return Throttle{scope: scope, mac: secret.MAC(s.key, scope, subject), allowed: allowed}
}

// loginThrottles are the account, known or not, and the client's address; on a
// device of the user that device alone, so that nobody else makes them wait there.
func (s *Sessions) loginThrottles(ctx context.Context, u accountsdb.User, login string) []Throttle {
	if d, known := s.deviceOf(ctx, u); known && !s.deps.Config.Throttle.Off {
		return []Throttle{
			s.Throttles.ThrottleOf(scopeLoginDevice, d.userID.String()+" "+d.id.String(),
				s.deps.Config.Throttle.LoginFailures),
		}
	}
	account := accountSubject(u, login)
	return s.Throttles.WithAddress(ctx, scopeLoginAddress, s.deps.Config.Throttle.AddressFailures,
		s.Throttles.ThrottleOf(ScopeLogin, account, s.deps.Config.Throttle.LoginFailures))
}

// SecondFactorThrottles are the user, or the device of the user from which the request comes; none where they are
// lifted.
func (s *Sessions) SecondFactorThrottles(ctx context.Context, u accountsdb.User) []Throttle {
	if s.deps.Config.Throttle.Off {
		return nil
	}
	subject := u.ID.String()
	if d, known := s.deviceOf(ctx, u); known {
		subject += " " + d.id.String()
	}
	return []Throttle{s.Throttles.ThrottleOf(scopeSecondFactor, subject, s.deps.Config.Throttle.LoginFailures)}
}

// CodeThrottles are the user and purpose, over all codes, and the client's
// address.
func (s *Throttles) CodeThrottles(ctx context.Context, userID objectid.ID, purpose string) []Throttle {
	return s.WithAddress(ctx, ScopeCodeAddress, s.deps.Config.Throttle.AddressFailures,
		s.ThrottleOf(ScopeCode, purpose+" "+userID.String(), s.deps.Config.Throttle.CodeFailures))
}

// WithAddress adds the throttle of the client's address; none where they are lifted.
func (s *Throttles) WithAddress(ctx context.Context, scope string, allowed int, others ...Throttle) []Throttle {
	if s.deps.Config.Throttle.Off {
		return nil
	}
	network := httpapi.ClientNetwork(ctx)
	if network == "" {
		return others
	}
	return append(others, s.ThrottleOf(scope, network, allowed))
}

// CheckThrottles answers 429 with the seconds to wait while one of the subjects
// has to wait. counted are those that have failures.
func (s *Throttles) CheckThrottles(ctx context.Context, db postgres.DB,
	all []Throttle,
) (counted []Throttle, err error) {
	macs := make([][]byte, len(all))
	for i, t := range all {
		macs[i] = t.mac
	}
	rows, err := s.db.ThrottleList(ctx, db, macs)
	if err != nil {
		return nil, fmt.Errorf("read throttles: %w", err)
	}
	now := s.deps.Clock.Now()
	var wait time.Duration
	for _, row := range rows {
		for _, t := range all {
			if bytes.Equal(t.mac, row.SubjectMac) {
				counted = append(counted, t)
				wait = max(wait, row.FailedAt.Add(s.waitAfter(int(row.Failures), t.allowed)).Sub(now))
			}
		}
	}
	if wait > 0 {
		return counted, errThrottled(wait)
	}
	return counted, nil
}

func errThrottled(wait time.Duration) *fault.Error {
	return fault.TooManyRequests(wait, "Too many failed attempts. Wait %s.", fault.Seconds(wait))
}

// waitAfter is how long the next attempt waits after so many failures in a row.
func (s *Throttles) waitAfter(failures, allowed int) time.Duration {
	if failures < allowed {
		return 0
	}
	wait := s.deps.Config.Throttle.FirstWait
	for range failures - allowed {
		if wait >= s.deps.Config.Throttle.LongestWait {
			break
		}
		wait *= 2
	}
	return min(wait, s.deps.Config.Throttle.LongestWait)
}

// CountFailure counts one failure of each subject, in the order given: the
// account first, so that two transactions never wait for each other.
func (s *Throttles) CountFailure(ctx context.Context, db postgres.DB, all []Throttle) error {
	now := s.deps.Clock.Now()
	for _, t := range all {
		err := s.db.ThrottleFail(ctx, db, accountsdb.ThrottleFailParams{
			SubjectMac: t.mac, Scope: t.scope, Now: now, ForgetBefore: now.Add(-failuresForgottenAfter),
		})
		if err != nil {
			return fmt.Errorf("count failure: %w", err)
		}
	}
	return nil
}

// Forgive clears the failures of an account or device once its owner has logged in. Those of
// a client address stay: whoever guesses may have an account of their own there.
func (s *Throttles) Forgive(ctx context.Context, db postgres.DB, counted []Throttle) error {
	for _, t := range counted {
		switch t.scope {
		case ScopeLogin, scopeLoginDevice, scopeSecondFactor, ScopeCode:
		default:
			continue
		}
		if err := s.db.ThrottleClear(ctx, db, t.mac); err != nil {
			return fmt.Errorf("forget failures: %w", err)
		}
	}
	return nil
}

// TakeQuota takes one of the allowed number in the present window; false when all
// are taken. Windows begin at whole multiples of their length, in UTC.
func (s *Throttles) TakeQuota(ctx context.Context, db postgres.DB, kind, subject string, allowed int,
	window time.Duration,
) (bool, error) {
	_, err := s.db.QuotaTake(ctx, db, accountsdb.QuotaTakeParams{
		SubjectMac: secret.MAC(s.key, kind, subject), WindowStart: s.deps.Clock.Now().Truncate(window), Allowed: int32(allowed), //nolint:gosec // a setting, far below
	})
	if postgres.IsNoRows(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take quota: %w", err)
	}
	return true, nil
}

// ForgetOld removes what no longer says anything: counts of failures and of quotas, notes of writes, sessions that are
// over, and second factors that nobody has confirmed.
func (s *Sessions) ForgetOld(ctx context.Context) error {
	now := s.deps.Clock.Now()
	if _, err := s.db.ThrottleDeleteOld(ctx, s.deps.Pool, now.Add(-failuresForgottenAfter)); err != nil {
		return fmt.Errorf("forget failures: %w", err)
	}
	if _, err := s.db.QuotaDeleteOld(ctx, s.deps.Pool, now.Add(-quotaRetention)); err != nil {
		return fmt.Errorf("forget quotas: %w", err)
	}
	if _, err := s.db.LastWriteDeleteOld(ctx, s.deps.Pool); err != nil {
		return fmt.Errorf("forget writes: %w", err)
	}
	if err := s.deps.SignIns.Sweep(ctx, s.deps.Pool); err != nil {
		return fmt.Errorf("forget sessions: %w", err)
	}
	if err := s.deps.Totp.Sweep(ctx, s.deps.Pool); err != nil {
		return fmt.Errorf("forget second factors: %w", err)
	}
	return nil
}
