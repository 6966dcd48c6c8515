package subscriptions_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/lifecycle"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden file is the whole product of states and actions, so that no move
// appears or vanishes unseen.
func TestTransitionsAreThoseOfTheGoldenFile(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	states := append([]lifecycle.Status{lifecycle.None}, lifecycle.Statuses...)
	fmt.Fprintf(&b, "%-24s", "action")
	for _, s := range states {
		fmt.Fprintf(&b, "%-11s", name(s))
	}
	for _, action := range lifecycle.Actions {
		fmt.Fprintf(&b, "\n%-24s", action)
		for _, s := range states {
			cell := "-"
			if to, ok := lifecycle.Next(s, action); ok {
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

func name(s lifecycle.Status) string {
	if s == lifecycle.None {
		return "(new)"
	}
	return string(s)
}

func TestTerminalStatesAreLeftOnlyByLateMoneyAndAdmins(t *testing.T) {
	t.Parallel()
	for _, action := range lifecycle.Actions {
		for _, ended := range []lifecycle.Status{lifecycle.Cancelled, lifecycle.Expired} {
			to, ok := lifecycle.Next(ended, action)
			if ok && to != ended {
				require.Contains(t, []lifecycle.Action{lifecycle.LateMoney, lifecycle.AdminActivates}, action)
			}
		}
	}
}

// TestEveryRowOfTheSpecification's table "Subscription status"; its "any" is any live
// state, since terminal states hold (open-shapes, section 3).
func TestEveryRowOfTheSpecification(t *testing.T) {
	t.Parallel()
	const (
		pending, active, suspended = lifecycle.Pending, lifecycle.Active, lifecycle.Suspended
		cancelled, expired         = lifecycle.Cancelled, lifecycle.Expired
	)
	live := []lifecycle.Status{pending, active, suspended}
	for _, row := range []struct {
		trigger string
		from    []lifecycle.Status
		by      lifecycle.Action
		to      lifecycle.Status
	}{
		{"gateway B subscribe (card), any answer", []lifecycle.Status{lifecycle.None}, lifecycle.Subscribe, pending},
		{"gateway B subscribe (card), approved at once", []lifecycle.Status{pending}, lifecycle.PaymentSettles, active},
		{"gateway B subscribe (card), declined", []lifecycle.Status{pending}, lifecycle.PaymentDeclined, cancelled},
		{"gateway A subscribe (card)", []lifecycle.Status{lifecycle.None}, lifecycle.Subscribe, pending},
		{"renew", []lifecycle.Status{lifecycle.None}, lifecycle.Renew, pending},
		{"renew, the previous one", []lifecycle.Status{pending, active}, lifecycle.Replaced, cancelled},
		{"payment confirmed webhook (gateway A)", []lifecycle.Status{pending}, lifecycle.PaymentSettles, active},
		{"invoice.paid", []lifecycle.Status{pending}, lifecycle.PaymentSettles, active},
		{"GET status: incomplete, incomplete_expired or canceled", []lifecycle.Status{pending}, lifecycle.LiveReadDead, cancelled},
		{"new subscribe, PIX pending for more than 24 hours", []lifecycle.Status{pending}, lifecycle.Replaced, cancelled},
		{"updated or created: active, trialing", live, lifecycle.GatewaySaysActive, active},
		{"updated or created: past_due, unpaid, paused", live, lifecycle.GatewaySaysSuspended, suspended},
		{"updated or created: canceled", live, lifecycle.GatewaySaysCancelled, cancelled},
		{"updated or created: incomplete", live, lifecycle.GatewaySaysIncomplete, pending},
		{"updated or created: incomplete_expired", live, lifecycle.GatewaySaysExpired, expired},
		{"customer.subscription.deleted", live, lifecycle.GatewaySaysCancelled, cancelled},
		{"invoice.payment_failed, below 3", []lifecycle.Status{active}, lifecycle.PaymentFails, active},
		{"invoice.payment_failed reaches 3", []lifecycle.Status{active}, lifecycle.PaymentFailsTooOften, suspended},
		{"charge.dispute.created", []lifecycle.Status{active}, lifecycle.DisputeOpens, suspended},
		{"payment_intent.succeeded", []lifecycle.Status{pending}, lifecycle.PaymentSettles, active},
		{"payment_intent.payment_failed", []lifecycle.Status{pending}, lifecycle.PixRunsOut, cancelled},
		{"gateway A deleted or inactivated, no time left", live, lifecycle.GatewaySaysCancelled, cancelled},
		{"authorization activated", live, lifecycle.AuthorizationActivated, active},
		{"authorization cancelled or refused", live, lifecycle.AuthorizationCancelled, cancelled},
		{"authorization expired", live, lifecycle.AuthorizationExpired, expired},
		{"admin cancel", live, lifecycle.AdminCancels, cancelled},
		{"customer cancel", live, lifecycle.CustomerCancels, cancelled},
	} {
		for _, from := range row.from {
			to, ok := lifecycle.Next(from, row.by)
			require.True(t, ok, "%s from %s", row.trigger, from)
			require.Equal(t, row.to, to, "%s from %s", row.trigger, from)
		}
	}
	for _, from := range live { // gateway A deleted or inactivated, expires_at ahead
		to, ok := lifecycle.Next(from, lifecycle.GatewayDeletedPaid)
		require.True(t, ok)
		require.Equal(t, from, to)
	}
}
