package state

// GivenBack is why all of an order's money goes back.
type GivenBack string

// The reasons.
const (
	Withdrawn      GivenBack = "withdrawn"
	EventMoved     GivenBack = "event_moved"
	EventCancelled GivenBack = "event_cancelled"
)

// Reason is what the ledger of refunds says.
func (w GivenBack) Reason() string {
	switch w {
	case EventMoved:
		return "The event was moved, and the buyer gave the tickets back."
	case EventCancelled:
		return "The event was called off."
	}
	return "Withdrawal within the days of regret (CDC, art. 49)."
}
