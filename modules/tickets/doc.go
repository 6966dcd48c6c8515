// Package tickets owns events, the tickets to them, the ticket store and the
// check-in at the door.
//
// It owns the schema tickets: events, orders, tickets, give_backs, the append-only histories
// transitions (of tickets) and order_transitions, declines. It does not own payments (gateways, ledger and webhooks
// are of the module payments, which hands it the events of orders), users, files
// (event images are files of purpose event_image), or promo codes, which issue
// tickets through IssueTx.
//
// # Rooms
//
// The module is divided into rooms, packages below this one, lower first: state (the words
// of orders and tickets), events (events, tickets, the store's list), door (codes and
// check-in), orders (purchases, and what money does to them), reconcile (asking gateways),
// webhooks (events of orders), refunds (giving back, withdrawal, calling off), mails and checkout
// (buying). This package is their only door: it makes them, lists routes and jobs, sweeps,
// and answers for what is kept of a customer.
//
// # Words
//
// An event is over by the end rule, the SQL function tickets.ends_at: its end,
// else three hours after its start. A ticket holds a place while it counts in
// tickets_issued: always, unless it expired unpaid. What expired because its event
// had ended returns when the event is moved to where it is not over. An order is a purchase; its
// state tells what holds here (reserved, paid, released, refund_due, refunded, lost),
// while the contract's status (docs/contract/states.md, Orders) is always pending and payment_status is the
// gateway's word. A reservation holds places for an order whose money is open,
// until hold_until. A buyer is a guest of the checkout routes. A ticket is blocked while
// its status says that it is good and something else holds against it: an open dispute of
// its order's payment, a refund that is asked for, its event being called off. The one
// place that says so is the SQL function tickets.blocked. An order is given back when all of
// its money goes back: its buyer withdrew from it, or its event was moved or called off
// (docs/ticket-orders.md); give_backs lists those, and the job tickets_give_back follows it.
//
// # Who holds places without paying
//
// Places of an order that is not paid are unpaid, whatever it is paid by. One person
// (customer, tax id or e-mail) has at most 10 unpaid places of an event, one network 40,
// and all guests, with accounts whose e-mail nobody has proved, together half of the free
// ones; while more than 30 % of an event's places are unpaid, a PIX holds its own for 10
// minutes only. An e-mail counts as its mailbox, x+1@ as x@ (accounts.Mailbox). max_per_person of an event
// bounds what one person has, paid places too. All is counted by the statement that locks
// events for orders (EventLockForSale, EventLockManyForSale), so that nothing can come between. What the
// limits know people by is an HMAC for that event alone: of the address while the order is
// unpaid, of tax id and e-mail until the order has no places or the event is over.
//
// # What always holds
//
// Constraints and triggers keep it, whoever writes: tickets_issued equals the
// tickets that hold a place, places_unpaid those of them that wait for an order's money;
// none is issued beyond the capacity (events_capacity_respected); every move of a ticket
// is in its history. Whoever changes places locks order, customers, event, tickets, in
// this order.
//
// # Timestamps
//
// hold_until is when unpaid places are released; paid_at is when the money
// counted here; consumed_at is the instant at the door, for scans uploaded later
// the device's.
package tickets
