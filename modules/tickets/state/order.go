package state

import (
	"maps"
	"slices"

	"marquee/platform/transition"
)

// Order is what holds here of an order; the contract's status (docs/contract/states.md, Orders) is always
// pending, and payment_status is the gateway's word.
type Order string

// The states.
const (
	None      Order = ""           // before the row is written
	Reserved  Order = "reserved"   // places are held, the money is open
	Paid      Order = "paid"       // the tickets are good
	Released  Order = "released"   // unpaid, the places are free again
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
	Reserve         Action = "reserve"           // a purchase with a price
	IssueFree       Action = "issue_free"        // a purchase of a free event
	SellAtCounter   Action = "sell_at_counter"   // by the box office
	PaymentSeated   Action = "payment_seated"    // the money counts, for places that are held
	LatePayment     Action = "late_payment"      // the order was released, and there is a place all the same
	PaymentTooLate  Action = "payment_too_late"  // the money counts, and there is no place
	PaidAfterGone   Action = "paid_after_gone"   // the money counts, and its customer has deleted the account
	PaymentDeclined Action = "payment_declined"  // by the payer's bank or the gateway
	CallRefused     Action = "call_refused"      // the gateway made nothing of it, or was not asked
	AbsentAtGateway Action = "absent_at_gateway" // what the call was for is proved not to be there
	HoldRunsOut     Action = "hold_runs_out"     // nobody paid before the code, or the event, was over
	OtherAmountPaid Action = "other_amount_paid"
	BuyerWithdraws  Action = "buyer_withdraws" // from what is not paid, or was free
	AdminCancels    Action = "admin_cancels"   // the same, by an admin
	BuyerDeleted    Action = "buyer_deleted"   // the account, before the order was paid
	MoneyReturned   Action = "money_returned"  // refunded in full
	HandedBack      Action = "handed_back"     // all of it, at the box office
	RefundBounced   Action = "refund_bounced"  // a refund failed after it was believed done: the buyer has neither tickets nor money
	DisputeLost     Action = "dispute_lost"    // the payer's bank has given the money back
)

// Actions are all actions, in the order of the table.
var Actions = func() (all []Action) {
	for _, row := range Orders {
		all = append(all, row.By)
	}
	return all
}()

// Columns are columns of tickets.orders that a change may write, beside updated_at, which
// each does.
type Columns []string

// What changes write, by what it is about.
var (
	moves    = Columns{"state", "moves", "tax_id_mac", "email_mac", "address_mac"} // who holds the places is forgotten with them
	word     = Columns{"payment_status"}
	payment  = Columns{"gateway_payment_id"}
	code     = Columns{"pix_payload", "pix_image"}
	hold     = Columns{"hold_until"}
	paid     = Columns{"paid_at"}
	disputed = Columns{"disputed_at"}
	call     = Columns{"intent_open"} // whether the order's one call is open
	releases = of(moves, word, payment, code, call)
)

// AllColumns are the columns that changes write.
var AllColumns = func() Columns {
	all := of(moves, word, payment, code, hold, paid, call, disputed)
	slices.Sort(all)
	return all
}()

func of(groups ...Columns) Columns { return slices.Concat(groups...) }

// Orders is the one table of permitted moves. The reasons stand in tickets.order_transitions.
var Orders = transition.Table[Order, Action]{
	{By: Reserve, Reason: "purchased", Moves: orders{None: Reserved}},
	{By: IssueFree, Reason: "free", Moves: orders{None: Paid}},
	{By: SellAtCounter, Reason: "box_office", Moves: orders{None: Paid}},
	{By: PaymentSeated, Reason: "paid", Moves: orders{Reserved: Paid}},
	{By: LatePayment, Reason: "paid_late", Moves: orders{Released: Paid}},
	{By: PaymentTooLate, Reason: "paid_too_late", Moves: orders{Reserved: RefundDue, Released: RefundDue}},
	{By: PaidAfterGone, Reason: "customer_deleted", Moves: orders{Reserved: RefundDue, Released: RefundDue}},
	{By: PaymentDeclined, Reason: "declined", Moves: released},
	{By: CallRefused, Reason: "refused", Moves: released},
	{By: AbsentAtGateway, Reason: "absent_at_gateway", Moves: released},
	{By: HoldRunsOut, Reason: "not_paid", Moves: released},
	{By: OtherAmountPaid, Reason: "other_amount", Moves: released},
	{By: BuyerWithdraws, Reason: "withdrawn", Moves: orders{Reserved: Released, Paid: Refunded}},
	{By: AdminCancels, Reason: "cancelled", Moves: orders{Reserved: Released, Paid: Refunded}},
	{By: BuyerDeleted, Reason: "customer_deleted", Moves: released},
	{By: MoneyReturned, Reason: "refunded", Moves: orders{Paid: Refunded, RefundDue: Refunded}},
	{By: HandedBack, Reason: "handed_back", Moves: orders{Paid: Refunded}},
	{By: RefundBounced, Reason: "refund_failed", Moves: orders{Refunded: RefundDue}},
	{By: DisputeLost, Reason: "payment_disputed", Moves: orders{Paid: Lost, RefundDue: Lost}},
}

// NotRecorded is the reason of what no action has moved: an order from before the history was kept, one that the
// release before moves while it is being replaced, or somebody at psql.
const NotRecorded = "not_recorded"

type orders = map[Order]Order

var released = orders{Reserved: Released}

// actions are what each action may write; none of what begins an order, which is an insert.
var actions = map[Action]Columns{
	PaymentSeated:   of(moves, paid),
	LatePayment:     of(moves, paid),
	PaymentTooLate:  of(moves, paid),
	PaidAfterGone:   of(moves, paid),
	PaymentDeclined: releases,
	CallRefused:     releases,
	AbsentAtGateway: releases,
	HoldRunsOut:     releases,
	OtherAmountPaid: releases,
	BuyerWithdraws:  releases,
	AdminCancels:    releases,
	BuyerDeleted:    releases,
	MoneyReturned:   of(moves, word),
	HandedBack:      of(moves, word),
	RefundBounced:   of(moves, word),
	DisputeLost:     of(moves, word),
}

// WrittenBy are the columns that an action may write.
func WrittenBy(by Action) Columns { return actions[by] }

// Edit is what changes an order and leaves its state alone.
type Edit string

// The edits.
const (
	Closed    Edit = "closed"     // its call is settled, and something else has moved it
	Disputed  Edit = "disputed"   // a dispute of its payment has opened, or none is open any more
	Recorded  Edit = "recorded"   // what its call has made
	PaidThere Edit = "paid_there" // the gateway has the money
	Overdue   Edit = "overdue"    // its code can still be paid
)

// edits are what each edit may write.
var edits = map[Edit]Columns{
	Closed:    call,
	Disputed:  disputed,
	Recorded:  of(payment, code, hold, call),
	Overdue:   word,
	PaidThere: of(word, call),
}

// Edits are all edits.
var Edits = slices.Sorted(maps.Keys(edits))

// EditedBy are the columns that an edit may write.
func EditedBy(as Edit) Columns { return edits[as] }

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
