package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/tickets/state"
	"marquee/testutil/golden"
)

// The golden file is the columns that each action and each edit of an order may write, so
// that none writes another unseen.
func TestColumnsAreThoseOfTheGoldenFile(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	line := func(name string, columns state.Columns) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(slices.Sorted(slices.Values(columns)), ", "))
	}
	for _, by := range state.Actions {
		line(string(by), state.WrittenBy(by))
	}
	b.WriteString("\n")
	for _, as := range state.Edits {
		line(string(as), state.EditedBy(as))
	}
	golden.Equal(t, "testdata/columns.golden", b.String())
}

// An action that changes the state names the state among what it writes, and an edit never does.
func TestWhoMovesWritesTheState(t *testing.T) {
	t.Parallel()
	for _, by := range state.Actions {
		for _, from := range state.States {
			if _, ok := state.Orders.Next(from, by); ok {
				require.Contains(t, state.WrittenBy(by), "state", "%s from %s", by, from)
			}
		}
	}
	for _, as := range state.Edits {
		require.NotEmpty(t, state.EditedBy(as), as)
		require.NotContains(t, state.EditedBy(as), "state", as)
	}
}
