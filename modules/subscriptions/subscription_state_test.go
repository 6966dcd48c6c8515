package subscriptions_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden file is the whole product of states and actions, so that no move
// appears or vanishes unseen.
func TestTransitionsAreThoseOfTheGoldenFile(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	states := append([]subscriptions.Status{subscriptions.None}, subscriptions.Statuses...)
	fmt.Fprintf(&b, "%-24s", "action")
	for _, s := range states {
		fmt.Fprintf(&b, "%-11s", name(s))
	}
	for _, action := range subscriptions.Actions {
		fmt.Fprintf(&b, "\n%-24s", action)
		for _, s := range states {
			cell := "-"
			if to, ok := subscriptions.Next(s, action); ok {
				cell = name(to)
			}
			fmt.Fprintf(&b, "%-11s", cell)
		}
	}
	got := strings.ReplaceAll(b.String(), " \n", "\n") + "\n"
	for strings.Contains(got, " \n") {
		got = strings.ReplaceAll(got, " \n", "\n")
	}
	const golden = "testdata/transitions.golden"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func name(s subscriptions.Status) string {
	if s == subscriptions.None {
		return "(new)"
	}
	return string(s)
}

func TestTerminalStatesAreLeftOnlyByLateMoneyAndAdmins(t *testing.T) {
	t.Parallel()
	for _, action := range subscriptions.Actions {
		for _, ended := range []subscriptions.Status{subscriptions.Cancelled, subscriptions.Expired} {
			to, ok := subscriptions.Next(ended, action)
			if ok && to != ended {
				require.Contains(t, []subscriptions.Action{subscriptions.LateMoney, subscriptions.AdminActivates}, action)
			}
		}
	}
}
