package state_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/tickets/state"
)

// TestEveryStateIsReachedAndLeftByTheTable pins the table of permitted moves.
func TestEveryStateIsReachedAndLeftByTheTable(t *testing.T) {
	t.Parallel()
	var moves []string
	for _, from := range append([]state.Order{state.None}, state.States...) {
		for _, by := range state.Actions {
			if to, ok := state.Orders.Next(from, by); ok {
				moves = append(moves, fmt.Sprintf("%s %s %s", from, by, to))
			}
		}
	}
	require.Equal(t, []string{
		" reserve reserved", " issue_free paid", " sell_at_counter paid",
		"reserved payment_seated paid", "reserved payment_too_late refund_due", "reserved paid_after_gone refund_due",
		"reserved payment_declined released", "reserved call_refused released", "reserved absent_at_gateway released",
		"reserved hold_runs_out released", "reserved other_amount_paid released", "reserved buyer_withdraws released",
		"reserved admin_cancels released", "reserved buyer_deleted released",
		"paid buyer_withdraws refunded", "paid admin_cancels refunded", "paid money_returned refunded",
		"paid handed_back refunded", "paid dispute_lost lost",
		"released late_payment paid", "released payment_too_late refund_due", "released paid_after_gone refund_due",
		"refund_due money_returned refunded", "refund_due dispute_lost lost",
		"refunded refund_bounced refund_due",
	}, moves)
}

// Each move has a reason, and none that stands for what no action has moved.
func TestEveryMoveOfAnOrderHasAReason(t *testing.T) {
	t.Parallel()
	for _, by := range state.Actions {
		require.NotEmpty(t, state.Orders.ReasonOf(by), "%s: the history would not say why", by)
		require.NotEqual(t, state.NotRecorded, state.Orders.ReasonOf(by), by)
	}
}
