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
		"reserved payment_seated paid", "reserved payment_too_late refund_due", "reserved release released",
		"paid money_returned refunded", "paid dispute_lost lost",
		"released payment_seated paid", "released payment_too_late refund_due",
		"refund_due money_returned refunded", "refund_due dispute_lost lost",
		"refunded refund_bounced refund_due",
	}, moves)
}
