package state

// Ticket is a ticket's state (docs/contract/states.md, Tickets).
type Ticket string

// The states.
const (
	Pending   Ticket = "pending"
	Available Ticket = "available"
	Consumed  Ticket = "consumed"
	Expired   Ticket = "expired"
)
