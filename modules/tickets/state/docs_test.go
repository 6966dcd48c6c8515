package state_test

import (
	"fmt"
	"strings"
	"testing"

	"marquee/modules/tickets/state"
	"marquee/testutil/golden"
)

// The page for people draws and lists what leads an order from where to where.
func TestPageShowsTheTable(t *testing.T) {
	t.Parallel()
	const page = "../../../docs/ticket-orders.md"
	from := append([]state.Order{state.None}, state.States...)
	var all []golden.Move
	var table strings.Builder
	table.WriteString("| action | from → to |\n|---|---|\n")
	for _, by := range state.Actions {
		var arrows []string
		for _, from := range from {
			if to, ok := state.Next(from, by); ok {
				m := golden.Move{From: string(from), By: string(by), To: string(to)}
				all, arrows = append(all, m), append(arrows, m.Arrow())
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s |\n", by, strings.Join(arrows, ", "))
	}
	golden.Section(t, page, "the diagram of moves", golden.Diagram(all))
	golden.Section(t, page, "the table of moves", table.String())
}
