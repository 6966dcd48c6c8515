package state

// Event is where an event of a gateway stands.
type Event string

// The states of an event that was applied, or tried: until then it is nobody else's.
const (
	EventDone    Event = "done"
	EventQueued  Event = "queued"  // applying failed, and a job tries again
	EventWaiting Event = "waiting" // no row knows its subject yet
)

// Refusal is why a call of a webhook was refused.
type Refusal string

// The refusals.
const (
	BadSignature Refusal = "signature"
	ClockSkew    Refusal = "clock_skew" // a right signature of 5 minutes to 24 hours before or after our time
)
