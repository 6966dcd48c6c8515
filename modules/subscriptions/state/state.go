package state

// Status is a subscription's state (specification, States and transitions).
type Status string

// The states. None stands before the row is there.
const (
	None      Status = ""
	Pending   Status = "pending"
	Active    Status = "active"
	Suspended Status = "suspended"
	Cancelled Status = "cancelled"
	Expired   Status = "expired"
)

// Statuses are all states of a row.
var Statuses = []Status{Pending, Active, Suspended, Cancelled, Expired}

// Ended reports whether the subscription is over; such a state is left only by
// money that arrives late or by an admin.
func (s Status) Ended() bool { return s == Cancelled || s == Expired }
