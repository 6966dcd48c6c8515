package state_test

import (
	"testing"

	"marquee/modules/tickets/state"
	"marquee/testutil/golden"
)

const page = "../../../docs/ticket-orders.md"

// The page for people draws and lists what leads an order from where to where.
func TestPageShowsTheTable(t *testing.T) {
	t.Parallel()
	golden.Section(t, page, "the diagram of moves", golden.Diagram(golden.Moves(t, state.Orders, state.States...)))
	golden.Section(t, page, "the table of moves", golden.Table(t, state.Orders, state.States...))
}

// The page lists what becomes of a ticket, and why its history says so.
func TestPageShowsTheTableOfTickets(t *testing.T) {
	t.Parallel()
	golden.Section(t, page, "the moves of a ticket",
		golden.Table(t, state.Tickets, state.Pending, state.Available, state.Consumed, state.Expired))
}
