package gateway

import "time"

// livePauses lie between the looks for a payment that was told and is not found, or not
// paid: gateway A's answers may lag, and the last of four decides.
var livePauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// LivePause is how long to wait after so many looks that did not find a payment paid; ok
// is false when that was the last.
func LivePause(misses int) (pause time.Duration, ok bool) {
	if misses >= len(livePauses) {
		return 0, false
	}
	return livePauses[misses], true
}

// IsProof reports whether an event proves what it says of money. Gateway A's webhooks are
// not signed: whoever has the token could make one up.
func (e Event) IsProof() bool {
	return e.Gateway.Traits().SignsEvents || e.Confirmed || e.Type == Reconciled || e.Type == ReadLive
}

const (
	// settledAhead and dueAhead are how far ahead of our clock a charge may say that it was
	// paid, and due: gateway A makes charges 40 days ahead.
	settledAhead, dueAhead = 3 * 24 * time.Hour, 45 * 24 * time.Hour
)

// AsksLive reports whether an event would open, end or take back what a forged one could:
// the gateway is asked before it is applied. Charges that were paid, or failed, are judged
// by what they are applied to (Result.Unproven).
func (e Event) AsksLive() bool {
	switch p := e.Payload.(type) {
	case RefundChange, DisputeChange:
		return true
	case AuthorizationChange:
		return p.Authorization.Status == AuthorizationActive
	}
	return false
}

// IsFarAhead reports whether money says that it came days from now, or that it was due
// longer from now than charges are made ahead.
func (p Payment) IsFarAhead(now time.Time) bool {
	return p.SettledAt != nil && p.SettledAt.After(now.Add(settledAhead)) || p.DueDate != nil && p.DueDate.After(now.Add(dueAhead))
}
