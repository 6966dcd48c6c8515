package state

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
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

// The page for people tells of each step that a refund may wait for, and of no other.
func TestPageTellsWhatIsNextOfARefund(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	told := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| `(?:requested|pending|done|failed)`").FindAllSubmatch(page, -1)
	var steps []string
	for _, row := range told {
		steps = append(steps, string(row[1]))
	}
	require.ElementsMatch(t, RefundSteps(), steps)
	for _, row := range NextOfRefunds {
		require.Contains(t, RefundSteps(), string(row.Step))
	}
	for _, status := range []gateway.RefundStatus{requested, pending, done, failed} {
		require.True(t, slices.ContainsFunc(NextOfRefunds, func(n NextOfRefund) bool {
			return n.Status == status && n.Reason == "" && !n.FromBalance
		}), status)
	}
}

// The pages draw, or list where a drawing would show nothing, what becomes of the other rows.
func TestPagesShowTheTables(t *testing.T) {
	t.Parallel()
	const gateways, operations = "../../../docs/gateways.md", "../../../docs/operations.md"
	states := []gateway.RefundStatus{requested, pending, done, failed}
	moves := golden.Diagram(golden.Moves(t, Refunds, states...)) + "\n" + golden.Table(t, Refunds, states...)
	golden.Section(t, gateways, "the moves of a refund", moves)
	golden.Section(t, gateways, "the moves of a dispute", golden.Table(t, Disputes,
		gateway.DisputeInquiry, gateway.DisputeOpen, gateway.DisputeWon, gateway.DisputeLost, gateway.DisputeDismissed,
		gateway.DisputeWithdrawn))
	golden.Section(t, operations, "the moves of an order", golden.Table(t, Intents,
		IntentOpen, IntentDone, IntentDeclined, IntentRefused, IntentMissing, IntentVoid))
}
