package subscriptions_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/state"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden file is the whole product of states and actions, so that no move
// appears or vanishes unseen.
func TestTransitionsAreThoseOfTheGoldenFile(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	states := append([]state.Status{state.None}, state.Statuses...)
	fmt.Fprintf(&b, "%-24s", "action")
	for _, s := range states {
		fmt.Fprintf(&b, "%-11s", name(s))
	}
	for _, action := range state.Actions {
		fmt.Fprintf(&b, "\n%-24s", action)
		for _, s := range states {
			cell := "-"
			if to, ok := state.Next(s, action); ok {
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

func name(s state.Status) string {
	if s == state.None {
		return "(new)"
	}
	return string(s)
}

func TestTerminalStatesAreLeftOnlyByLateMoneyAndAdmins(t *testing.T) {
	t.Parallel()
	for _, action := range state.Actions {
		for _, ended := range []state.Status{state.Cancelled, state.Expired} {
			to, ok := state.Next(ended, action)
			if ok && to != ended {
				require.Contains(t, []state.Action{state.LateMoney, state.AdminActivates}, action)
			}
		}
	}
}

// TestEveryRowOfTheContract: the contract's table; its "any" is any live state, since terminal states hold
// (docs/contract/states.md, Subscriptions).
func TestEveryRowOfTheContract(t *testing.T) {
	t.Parallel()
	const (
		pending, active, suspended = state.Pending, state.Active, state.Suspended
		cancelled, expired         = state.Cancelled, state.Expired
	)
	live := []state.Status{pending, active, suspended}
	for _, row := range []struct {
		trigger string
		from    []state.Status
		by      state.Action
		to      state.Status
	}{
		{"gateway B subscribe (card), any answer", []state.Status{state.None}, state.Subscribe, pending},
		{"gateway B subscribe (card), approved at once", []state.Status{pending}, state.PaymentSettles, active},
		{"gateway B subscribe (card), declined", []state.Status{pending}, state.PaymentDeclined, cancelled},
		{"gateway A subscribe (card)", []state.Status{state.None}, state.Subscribe, pending},
		{"renew", []state.Status{state.None}, state.Renew, pending},
		{"renew, the previous one", []state.Status{pending, active}, state.Replaced, cancelled},
		{"payment confirmed webhook (gateway A)", []state.Status{pending}, state.PaymentSettles, active},
		{"invoice.paid", []state.Status{pending}, state.PaymentSettles, active},
		{
			"GET status: incomplete, incomplete_expired or canceled",
			[]state.Status{pending},
			state.LiveReadEnded,
			cancelled,
		},
		{"new subscribe, PIX pending for more than 24 hours", []state.Status{pending}, state.Replaced, cancelled},
		{"updated or created: active, trialing", live, state.GatewaySaysActive, active},
		{"updated or created: past_due, unpaid, paused", live, state.GatewaySaysSuspended, suspended},
		{"updated or created: canceled", live, state.GatewaySaysCancelled, cancelled},
		{"updated or created: incomplete", live, state.GatewaySaysIncomplete, pending},
		{"updated or created: incomplete_expired", live, state.GatewaySaysExpired, expired},
		{"customer.subscription.deleted", live, state.GatewaySaysCancelled, cancelled},
		{"invoice.payment_failed, below 3", []state.Status{active}, state.PaymentFails, active},
		{"invoice.payment_failed reaches 3", []state.Status{active}, state.PaymentFailsTooOften, suspended},
		{"charge.dispute.created", []state.Status{active}, state.DisputeOpens, suspended},
		{"payment_intent.succeeded", []state.Status{pending}, state.PaymentSettles, active},
		{"payment_intent.payment_failed", []state.Status{pending}, state.PixRunsOut, cancelled},
		{"gateway A deleted or inactivated, no time left", live, state.GatewaySaysCancelled, cancelled},
		{"authorization activated", live, state.AuthorizationActivated, active},
		{"authorization cancelled or refused", live, state.AuthorizationCancelled, cancelled},
		{"authorization expired", live, state.AuthorizationExpired, expired},
		{"admin cancel", live, state.AdminCancels, cancelled},
		{"customer cancel", live, state.CustomerCancels, cancelled},
	} {
		for _, from := range row.from {
			to, ok := state.Next(from, row.by)
			require.True(t, ok, "%s from %s", row.trigger, from)
			require.Equal(t, row.to, to, "%s from %s", row.trigger, from)
		}
	}
	for _, from := range live { // gateway A deleted or inactivated, expires_at ahead
		to, ok := state.Next(from, state.GatewayDeletedPaid)
		require.True(t, ok)
		require.Equal(t, from, to)
	}
}
