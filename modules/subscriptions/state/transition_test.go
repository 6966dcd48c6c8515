package state_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/state"
)

// TestEveryMoveHasAReasonAndATarget: what the table may not say, whatever is added to it.
func TestEveryMoveHasAReasonAndATarget(t *testing.T) {
	t.Parallel()
	for _, by := range state.Actions {
		found := 0
		for _, from := range append([]state.Status{state.None}, state.Statuses...) {
			to, ok := state.Next(from, by)
			if !ok {
				continue
			}
			found++
			require.Contains(t, state.Statuses, to, "%s from %q", by, from)
			if from == to {
				continue
			}
			require.NotEmpty(t, state.ReasonFor(by, state.Known{Status: from}), "%s from %q: the history would not say why", by, from)
			if from == state.None {
				require.Equal(t, state.Pending, to, "%s: nothing gives access before it is paid", by)
			}
			if from.Ended() {
				require.Equal(t, state.Active, to, "%s", by)
				require.Contains(t, []state.Action{state.LateMoney, state.AdminActivates}, by, "what has ended is left by money and by admins alone")
			}
		}
		require.NotZero(t, found, "%s moves nothing", by)
	}
	_, ok := state.Next(state.Active, "nobody's")
	require.False(t, ok)
	_, ok = state.Next("nowhere", state.PaymentSettles)
	require.False(t, ok)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(state.Actions))), len(state.Actions), "an action stands twice")
}
