package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/state"
	"marquee/testutil/golden"
)

// The golden file is the columns that each action and each edit may write, so that none
// writes another unseen.
func TestColumnsAreThoseOfTheGoldenFile(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, by := range state.Actions {
		fmt.Fprintf(&b, "%s: %s\n", by, line(state.WrittenBy(by)))
	}
	b.WriteString("\n")
	for _, as := range state.Edits {
		fmt.Fprintf(&b, "%s: %s\n", as, line(state.EditedBy(as)))
	}
	b.WriteString("\n")
	for _, as := range state.ChargeEdits {
		fmt.Fprintf(&b, "%s: %s\n", as, line(state.ChargeEditedBy(as)))
	}
	golden.Equal(t, "testdata/columns.golden", b.String())
}

func line(columns state.Columns) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(columns))), ", ")
}

// An action that changes the state names the state among what it writes.
func TestWhoMovesWritesTheState(t *testing.T) {
	t.Parallel()
	for _, by := range state.Actions {
		for _, from := range state.Statuses {
			if to, ok := state.Next(from, by); ok && to != from {
				require.Contains(t, state.WrittenBy(by), "status", "%s from %s", by, from)
			}
		}
	}
	for _, as := range state.Edits {
		require.NotEmpty(t, state.EditedBy(as), as)
		require.NotContains(t, state.EditedBy(as), "status", as)
	}
}
