package state

// Order is what holds here of an order; the contract's status (docs/contract/states.md, Orders) is always
// pending, and payment_status is the gateway's word.
type Order string

// The states.
const (
	None      Order = ""           // before the row is written
	Reserved  Order = "reserved"   // places are held, the money is open
	Paid      Order = "paid"       // the tickets are good
	Released  Order = "released"   // unpaid, the places are given back
	RefundDue Order = "refund_due" // money came and there was no place any more, or came back from its refund
	Refunded  Order = "refunded"
	Lost      Order = "lost" // a dispute took the money
)

// States are all states of a row.
var States = []Order{Reserved, Paid, Released, RefundDue, Refunded, Lost}

// Action is what happens to an order.
type Action string

// The actions.
const (
	Reserve        Action = "reserve"          // a purchase with a price
	IssueFree      Action = "issue_free"       // a purchase of a free event
	PaymentSeated  Action = "payment_seated"   // the money counts and there is a place
	PaymentTooLate Action = "payment_too_late" // the money counts and there is none
	GiveBack       Action = "give_back"        // declined, nothing made, or not paid in time
	MoneyReturned  Action = "money_returned"   // refunded in full
	RefundBounced  Action = "refund_bounced"   // a refund failed after it was believed done: the buyer has neither tickets nor money
	DisputeLost    Action = "dispute_lost"     // the payer's bank has given the money back
)

// Actions are all actions, in the order of the table.
var Actions = []Action{Reserve, IssueFree, PaymentSeated, PaymentTooLate, GiveBack, MoneyReturned, RefundBounced, DisputeLost}

// transitions is the one table of permitted moves.
var transitions = map[Action]map[Order]Order{
	Reserve:        {None: Reserved},
	IssueFree:      {None: Paid},
	PaymentSeated:  {Reserved: Paid, Released: Paid},
	PaymentTooLate: {Reserved: RefundDue, Released: RefundDue},
	GiveBack:       {Reserved: Released},
	MoneyReturned:  {Paid: Refunded, RefundDue: Refunded},
	RefundBounced:  {Refunded: RefundDue},
	DisputeLost:    {Paid: Lost, RefundDue: Lost},
}

// Next answers where an action takes an order; ok is false when its state holds
// against the action.
func Next(from Order, by Action) (to Order, ok bool) {
	to, ok = transitions[by][from]
	return to, ok
}

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
