package subscriptions_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/state"
)

// The diagram for people shows the moves of the table, no more and no less.
func TestDiagramShowsTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/subscription-states.md")
	require.NoError(t, err)
	diagram, _, ok := strings.Cut(string(page), "<!-- end of the diagram of moves -->")
	require.True(t, ok)
	var drawn []string
	for _, edge := range regexp.MustCompile(`(?m)^ +(\S+) --> (\w+):`).FindAllStringSubmatch(diagram, -1) {
		drawn = append(drawn, edge[1]+" "+edge[2])
	}
	var permitted []string
	for _, from := range append([]state.Status{state.None}, state.Statuses...) {
		for _, action := range state.Actions {
			to, ok := state.Next(from, action)
			move := string(from) + " " + string(to)
			if from == state.None {
				move = "[*] " + string(to)
			}
			if ok && to != from && !slices.Contains(permitted, move) {
				permitted = append(permitted, move)
			}
		}
	}
	require.ElementsMatch(t, permitted, drawn)
}
