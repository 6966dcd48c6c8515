package intent

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
)

// pauses follow a call or look that ended not known, one after each.
var pauses = []time.Duration{5 * time.Second, 15 * time.Second, 45 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute}

// afterAWeek of not knowing a gateway is asked daily.
const afterAWeek = 7 * 24 * time.Hour

// pauseAfter is the pause after so many failed looks in a row.
func pauseAfter(failures int, notKnownFor time.Duration) time.Duration {
	switch {
	case notKnownFor >= afterAWeek:
		return 24 * time.Hour
	case failures < len(pauses):
		return pauses[failures]
	}
	return time.Hour
}

// needed is how many misses prove that nothing is there.
func (s *Service) needed(k Kind, gateway string) int {
	if s.hooks.Users[k].WasFound || gateway != gatewayA {
		return min(2, s.deps.Tries)
	}
	return s.deps.Tries
}

// gaps lie between the misses: three of them are had within a minute of the first
// right answer after an outage.
var gaps = []time.Duration{5 * time.Second, 15 * time.Second, 35 * time.Second}

// countsFrom is from when the next empty look counts: no sooner than the call's search
// may lag, (2^n - 1) RECOVERY_DELAY after the end of the call's own time limit for the
// nth miss (the first is 0), and no sooner than its gap after the miss before.
func (s *Service) countsFrom(r paymentsdb.PaymentsIntent) time.Time {
	n := int(r.Misses)
	var from time.Time
	if r.CallEndsAt != nil {
		from = *r.CallEndsAt
	}
	if s.hooks.Users[Kind(r.Kind)].WasFound {
		if r.MissedAt != nil {
			return later(from, r.MissedAt.Add(foundAgainAfter))
		}
		return from
	}
	proving := min(n, s.needed(Kind(r.Kind), r.Gateway)-1)
	from = from.Add(s.deps.RecoveryDelay * (1<<proving - 1))
	if r.MissedAt == nil || n == 0 {
		return from
	}
	gap := gaps[min(n, len(gaps))-1]
	if n > proving {
		gap = s.deps.RecoveryDelay << min(n-1, 10) // proved, and looked for all the same
	}
	return later(from, r.MissedAt.Add(gap))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// missCounts reports whether an empty look at the instant says anything.
func (s *Service) missCounts(r paymentsdb.PaymentsIntent, at time.Time) bool {
	return !at.Before(s.countsFrom(r))
}

// waits is the pause before the next look at what the gateway decides later: half of
// what has passed, an hour at most.
func (s *Service) waits(r paymentsdb.PaymentsIntent, now time.Time) time.Duration {
	return max(s.deps.RecoveryDelay, min(now.Sub(r.CreatedAt)/2, time.Hour))
}

// forwardTx brings the looks forward: their gateway answers again.
func (s *Service) forwardTx(ctx context.Context, tx pgx.Tx, gateway string) error {
	_, err := s.db.IntentForward(ctx, tx, paymentsdb.IntentForwardParams{Now: s.deps.Clock.Now(), Gateway: gateway})
	return err
}

// lookAnewTx forgets the misses of what was found once, at a gateway that was suspect.
func (s *Service) lookAnewTx(ctx context.Context, tx pgx.Tx, gateway string) error {
	var kinds []string
	for k, u := range s.hooks.Users {
		if u.WasFound {
			kinds = append(kinds, string(k))
		}
	}
	return s.db.IntentResetFound(ctx, tx, paymentsdb.IntentResetFoundParams{Now: s.deps.Clock.Now(), Gateway: gateway, Kinds: kinds})
}
