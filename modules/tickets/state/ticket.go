package state

// Ticket is a ticket's state (specification, Ticket status).
type Ticket string

// The states.
const (
	Pending   Ticket = "pending"
	Available Ticket = "available"
	Consumed  Ticket = "consumed"
	Expired   Ticket = "expired"
)
