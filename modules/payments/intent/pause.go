package intent

import (
	"time"

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
	if s.users[k].WasFound || gateway != gatewayA {
		return min(2, s.deps.Tries)
	}
	return s.deps.Tries
}

// gap is what has to lie between the miss of that number and the next one.
func (s *Service) gap(k Kind, gateway string, misses int) time.Duration {
	switch {
	case s.users[k].WasFound:
		return foundAgainAfter
	case gateway != gatewayA:
		return s.deps.RecoveryDelay / 4
	}
	return s.deps.RecoveryDelay << min(max(misses-1, 0), 10)
}

// missCounts reports whether an empty look at the instant says anything: the call
// can no longer be under way, and the last miss lies far enough back.
func (s *Service) missCounts(r paymentsdb.PaymentsIntent, at time.Time) bool {
	if r.CallEndsAt != nil && at.Before(*r.CallEndsAt) {
		return false
	}
	return r.MissedAt == nil || !at.Before(r.MissedAt.Add(s.gap(Kind(r.Kind), r.Gateway, int(r.Misses))))
}

// waits is the pause before the next look at what the gateway decides later: half of
// what has passed, an hour at most.
func (s *Service) waits(r paymentsdb.PaymentsIntent, now time.Time) time.Duration {
	return max(s.deps.RecoveryDelay, min(now.Sub(r.CreatedAt)/2, time.Hour))
}
