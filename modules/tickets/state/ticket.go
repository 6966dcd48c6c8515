package state

import "marquee/platform/transition"

// Ticket is a ticket's state (docs/contract/states.md, Tickets).
type Ticket string

// The states.
const (
	Pending   Ticket = "pending"
	Available Ticket = "available"
	Consumed  Ticket = "consumed"
	Expired   Ticket = "expired"
)

// TicketAction is what happens to a ticket.
type TicketAction string

// The actions, beside TicketEdited.
const (
	TicketGiven          TicketAction = "given" // by an admin
	TicketRedeemed       TicketAction = "code_redeemed"
	TicketReserved       TicketAction = "reserved"    // its order's money is open
	TicketIssuedFree     TicketAction = "issued_free" // of a free order
	TicketSoldAtCounter  TicketAction = "sold_at_counter"
	TicketPaid           TicketAction = "paid"          // of an order whose places are held
	TicketPaidLate       TicketAction = "paid_late"     // the order was released, and there is a place all the same
	TicketNotPaid        TicketAction = "not_paid"      // in time
	TicketPaidTooLate    TicketAction = "paid_too_late" // there is no place any more
	TicketBuyerDeleted   TicketAction = "buyer_deleted" // before the money was known
	TicketConsumedByHand TicketAction = "consumed_by_hand"
	TicketScanned        TicketAction = "scanned"
	TicketScannedOffline TicketAction = "scanned_offline" // at a door without network, uploaded later
	TicketReadmitted     TicketAction = "readmitted"      // its scan was undone
	TicketEventEnded     TicketAction = "event_ended"
	TicketEventAhead     TicketAction = "event_ahead"  // the event, moved, is not over after all
	TicketUnpaidAhead    TicketAction = "unpaid_ahead" // the same, of one that an admin has let wait
	TicketWithdrawn      TicketAction = "withdrawn"    // its buyer has given the order back
	TicketShareReturned  TicketAction = "share_returned"
	TicketOrderReturned  TicketAction = "order_returned"  // all of the order's money
	TicketOrderCancelled TicketAction = "order_cancelled" // of which nothing was to be given back
	TicketDisputeLost    TicketAction = "dispute_lost"
)

// TicketEdited is the action by which an admin sets a state.
func TicketEdited(as Ticket) TicketAction { return TicketAction("edited_" + as) }

// Tickets is the one table of what becomes of a ticket. The reasons stand in tickets.transitions. Deleting one, which
// has a row there too, leaves no state.
var Tickets = transition.Table[Ticket, TicketAction]{
	{By: TicketGiven, Reason: "admin", Moves: tickets{"": Available}},
	{By: TicketRedeemed, Reason: "promo_code", Moves: tickets{"": Available}},
	{By: TicketReserved, Reason: "purchased", Moves: tickets{"": Pending}},
	{By: TicketIssuedFree, Reason: "purchased", Moves: tickets{"": Available}},
	{By: TicketSoldAtCounter, Reason: "box_office", Moves: tickets{"": Available}},
	{By: TicketPaid, Reason: "paid", Moves: seated},
	{By: TicketPaidLate, Reason: "paid_late", Moves: seated},
	{By: TicketNotPaid, Reason: "not_paid", Moves: tickets{Pending: Expired}},
	{By: TicketPaidTooLate, Reason: "paid_too_late", Moves: tickets{Pending: Expired}},
	{By: TicketBuyerDeleted, Reason: "customer_deleted", Moves: tickets{Pending: Expired}},
	{By: TicketConsumedByHand, Reason: "consumed_by_hand", Moves: tickets{Available: Consumed}},
	{By: TicketScanned, Reason: "scanned", Moves: tickets{Available: Consumed}},
	{By: TicketScannedOffline, Reason: "scanned_offline", Moves: tickets{Available: Consumed, Expired: Consumed}},
	{By: TicketReadmitted, Reason: "readmitted", Moves: tickets{Consumed: Available}},
	{By: TicketEventEnded, Reason: "event_ended", Moves: tickets{Pending: Expired, Available: Expired}},
	{By: TicketEventAhead, Reason: "event_moved", Moves: tickets{Expired: Available}},
	{By: TicketUnpaidAhead, Reason: "event_moved", Moves: tickets{Expired: Pending}},
	{By: TicketWithdrawn, Reason: "withdrawn", Moves: void},
	{By: TicketShareReturned, Reason: "refunded", Moves: tickets{
		Pending: Expired, Available: Expired, Expired: Expired, Consumed: Consumed,
	}},
	{By: TicketOrderReturned, Reason: "refunded", Moves: void},
	{By: TicketOrderCancelled, Reason: "cancelled", Moves: void},
	{By: TicketDisputeLost, Reason: "payment_disputed", Moves: void},
	{By: TicketEdited(Pending), Reason: "edited", Moves: edited(Pending)},
	{By: TicketEdited(Available), Reason: "edited", Moves: edited(Available)},
	{By: TicketEdited(Consumed), Reason: "edited", Moves: edited(Consumed)},
	{By: TicketEdited(Expired), Reason: "edited", Moves: edited(Expired)},
}

type tickets = map[Ticket]Ticket

var (
	seated = tickets{"": Available, Pending: Available, Expired: Available}
	void   = tickets{Pending: Expired, Available: Expired, Expired: Expired}
)

func edited(as Ticket) tickets {
	return tickets{Pending: as, Available: as, Consumed: as, Expired: as}
}
