package state_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/state"
)

var update = flag.Bool("update", false, "write the table of moves into the docs")

// The page for people shows the table: each action, why the history says that it moved, and
// where it leads.
func TestPageShowsTheTable(t *testing.T) {
	t.Parallel()
	const page, begins, ends = "../../../docs/subscription-states.md", "<!-- the table of moves: go test ./modules/subscriptions/state -update -->\n", "<!-- end of the table -->\n"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), begins)
	require.True(t, ok)
	_, tail, ok := strings.Cut(rest, ends)
	require.True(t, ok)
	want := head + begins + table() + ends + tail
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(text))
}

func table() string {
	var b strings.Builder
	b.WriteString("\n| action | reason | from → to |\n|---|---|---|\n")
	for _, by := range state.Actions {
		var moves []string
		for _, from := range append([]state.Status{state.None}, state.Statuses...) {
			to, ok := state.Next(from, by)
			switch {
			case !ok:
			case from == state.None:
				moves = append(moves, "new → "+string(to))
			case from == to:
				moves = append(moves, string(to)+" stays")
			default:
				moves = append(moves, string(from)+" → "+string(to))
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", by, reasons(by), strings.Join(moves, ", "))
	}
	return b.String() + "\n"
}

// reasons are what the history may say, by what is known of the row.
func reasons(by state.Action) string {
	var all []string
	for _, k := range []state.Known{
		{Status: state.Active}, {Status: state.Pending}, {Status: state.Active, CancelAtPeriodEnd: true},
		{Status: state.Active, PaymentFailures: 1}, {Status: state.Active, HasChargeback: true},
	} {
		reason := "`" + string(state.ReasonFor(by, k)) + "`"
		if reason != "``" && !strings.Contains(strings.Join(all, " "), reason) {
			all = append(all, reason)
		}
	}
	return strings.Join(all, ", ")
}
