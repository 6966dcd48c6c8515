package state

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/golden"
)

// The page for people draws and lists what leads an unapplied payment from where to where, and the history's reasons.
func TestPageShowsTheTable(t *testing.T) {
	t.Parallel()
	states := []Unapplied{UnappliedOpen, UnappliedRefunding, UnappliedRefunded, UnappliedExtended, UnappliedKept}
	moves := golden.Diagram(golden.Moves(t, UnappliedPayments, states...)) + "\n" +
		golden.Table(t, UnappliedPayments, states...)
	golden.Section(t, "../../../docs/operations.md", "the moves of an unapplied payment", moves)
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
