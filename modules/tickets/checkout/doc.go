// Package checkout is the room of buying: what may be bought and by whom, the places that are held
// while money is open, the gateway's call and its answer, of customers and of guests.
//
// It owns the table declines, and writes the first row of an order with its tickets. Purchases
// that come together pass the gate together: one lock an event, one commit. What the
// gateway answers is settled by the room orders; what it does not answer is found out by reconcile.
package checkout
