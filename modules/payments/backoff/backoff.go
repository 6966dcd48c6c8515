// Package backoff says when a gateway is asked again about an order whose outcome is open,
// and what its empty answers prove. It is arithmetic: no SQL, no clock, no gateway.
//
//   - After a call or check that ended not known: 5, 15, 45 s, 2, 5, 15 min, then hourly,
//     after a week daily.
//   - An empty answer counts as a miss only after the call's own time limit: the nth no
//     sooner than 2^n - 1 RECOVERY_DELAY after it, nor than 5, 15, 35 s after the one
//     before. A gateway whose search lags needs four, others two.
//   - What was found once needs two misses, an hour apart.
//   - What the gateway decides later is checked again after half of its age, an hour at most.
package backoff

import "time"

// FoundAgainAfter lies between the two misses of what was found once.
const FoundAgainAfter = time.Hour

// Lease is how long an order is left alone for a call: 90 s for one of 75 s.
func Lease(callTime time.Duration) time.Duration { return callTime + callTime/5 }

// pauses follow a call or check that ended not known, one after each.
var pauses = []time.Duration{
	5 * time.Second, 15 * time.Second, 45 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute,
}

// afterAWeek of not knowing a gateway is asked daily.
const afterAWeek = 7 * 24 * time.Hour

// After is the pause after so many failed checks in a row.
func After(failures int, notKnownFor time.Duration) time.Duration {
	switch {
	case notKnownFor >= afterAWeek:
		return 24 * time.Hour
	case failures < len(pauses):
		return pauses[failures]
	}
	return time.Hour
}

// Policy is what the pauses depend on: RECOVERY_DELAY, for which a gateway's search may lag.
type Policy struct{ RecoveryDelay time.Duration }

// Misses are the empty answers about an order so far.
type Misses struct {
	Count      int
	Last       *time.Time // when the last of them was had
	CallEnds   *time.Time // when the order's call is over, however it went
	SearchLags bool       // the gateway may not show yet what it has made
	WasFound   bool       // it was there once
}

// Prove reports whether one more empty answer proves that nothing is there.
func (m Misses) Prove() bool { return m.Count+1 >= m.needed() }

func (m Misses) needed() int {
	if m.SearchLags && !m.WasFound {
		return 4
	}
	return 2
}

// gaps lie between the misses: three of them are had within a minute of the first
// right answer after an outage.
var gaps = []time.Duration{5 * time.Second, 15 * time.Second, 35 * time.Second}

// CountsFrom is from when the next empty answer counts: no sooner than the call's search
// may lag, (2^n - 1) RECOVERY_DELAY after the end of the call's own time limit for the
// nth miss (the first is 0), and no sooner than its gap after the miss before.
func (p Policy) CountsFrom(m Misses) time.Time {
	var from time.Time
	if m.CallEnds != nil {
		from = *m.CallEnds
	}
	if m.WasFound {
		if m.Last != nil {
			return Later(from, m.Last.Add(FoundAgainAfter))
		}
		return from
	}
	proving := min(m.Count, m.needed()-1)
	from = from.Add(p.RecoveryDelay * (1<<proving - 1))
	if m.Last == nil || m.Count == 0 {
		return from
	}
	gap := gaps[min(m.Count, len(gaps))-1]
	if m.Count > proving {
		gap = p.RecoveryDelay << min(m.Count-1, 10) // proved, and checked all the same
	}
	return Later(from, m.Last.Add(gap))
}

// Waiting is the pause before the next check of what the gateway decides later.
func (p Policy) Waiting(age time.Duration) time.Duration {
	return max(p.RecoveryDelay, min(age/2, time.Hour))
}

// Later is the later of two instants.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
