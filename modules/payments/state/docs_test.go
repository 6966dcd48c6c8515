package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/golden"
)

// The page for people draws and lists what an unapplied payment may become.
func TestPageShowsTheTable(t *testing.T) {
	t.Parallel()
	const page = "../../../docs/operations.md"
	states := []Unapplied{UnappliedOpen, UnappliedRefunding, UnappliedRefunded, UnappliedExtended, UnappliedKept}
	var all []golden.Move
	var table strings.Builder
	table.WriteString("| state | may become |\n|---|---|\n")
	for _, from := range states {
		var names []string
		for _, to := range states {
			if from.Moves(to) {
				all = append(all, golden.Move{From: string(from), To: string(to)})
				names = append(names, "`"+string(to)+"`")
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s |\n", from, strings.Join(names, ", "))
	}
	require.Len(t, states, len(unappliedMoves))
	golden.Section(t, page, "the moves of an unapplied payment", golden.Diagram(all)+"\n"+table.String())
}
