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

// TestEveryRowOfTheSpecification's table "Subscription status"; its "any" is any live
// state, since terminal states hold (open-shapes, section 3).
func TestEveryRowOfTheSpecification(t *testing.T) {
	t.Parallel()
	const (
		pending, active, suspended = subscriptions.Pending, subscriptions.Active, subscriptions.Suspended
		cancelled, expired         = subscriptions.Cancelled, subscriptions.Expired
	)
	live := []subscriptions.Status{pending, active, suspended}
	for _, row := range []struct {
		trigger string
		from    []subscriptions.Status
		by      subscriptions.Action
		to      subscriptions.Status
	}{
		{"gateway B subscribe (card), any answer", []subscriptions.Status{subscriptions.None}, subscriptions.Subscribe, pending},
		{"gateway B subscribe (card), approved at once", []subscriptions.Status{pending}, subscriptions.PaymentSettles, active},
		{"gateway B subscribe (card), declined", []subscriptions.Status{pending}, subscriptions.PaymentDeclined, cancelled},
		{"gateway A subscribe (card)", []subscriptions.Status{subscriptions.None}, subscriptions.Subscribe, pending},
		{"renew", []subscriptions.Status{subscriptions.None}, subscriptions.Renew, pending},
		{"renew, the previous one", []subscriptions.Status{pending, active}, subscriptions.Replaced, cancelled},
		{"payment confirmed webhook (gateway A)", []subscriptions.Status{pending}, subscriptions.PaymentSettles, active},
		{"invoice.paid", []subscriptions.Status{pending}, subscriptions.PaymentSettles, active},
		{"GET status: incomplete, incomplete_expired or canceled", []subscriptions.Status{pending}, subscriptions.LiveReadDead, cancelled},
		{"new subscribe, PIX pending for more than 24 hours", []subscriptions.Status{pending}, subscriptions.Replaced, cancelled},
		{"updated or created: active, trialing", live, subscriptions.GatewaySaysActive, active},
		{"updated or created: past_due, unpaid, paused", live, subscriptions.GatewaySaysSuspended, suspended},
		{"updated or created: canceled", live, subscriptions.GatewaySaysCancelled, cancelled},
		{"updated or created: incomplete", live, subscriptions.GatewaySaysIncomplete, pending},
		{"updated or created: incomplete_expired", live, subscriptions.GatewaySaysExpired, expired},
		{"customer.subscription.deleted", live, subscriptions.GatewaySaysCancelled, cancelled},
		{"invoice.payment_failed, below 3", []subscriptions.Status{active}, subscriptions.PaymentFails, active},
		{"invoice.payment_failed reaches 3", []subscriptions.Status{active}, subscriptions.PaymentFailsTooOften, suspended},
		{"charge.dispute.created", []subscriptions.Status{active}, subscriptions.DisputeOpens, suspended},
		{"payment_intent.succeeded", []subscriptions.Status{pending}, subscriptions.PaymentSettles, active},
		{"payment_intent.payment_failed", []subscriptions.Status{pending}, subscriptions.PixRunsOut, cancelled},
		{"gateway A deleted or inactivated, no time left", live, subscriptions.GatewaySaysCancelled, cancelled},
		{"authorization activated", live, subscriptions.AuthorizationActivated, active},
		{"authorization cancelled or refused", live, subscriptions.AuthorizationCancelled, cancelled},
		{"authorization expired", live, subscriptions.AuthorizationExpired, expired},
		{"admin cancel", live, subscriptions.AdminCancels, cancelled},
		{"customer cancel", live, subscriptions.CustomerCancels, cancelled},
	} {
		for _, from := range row.from {
			to, ok := subscriptions.Next(from, row.by)
			require.True(t, ok, "%s from %s", row.trigger, from)
			require.Equal(t, row.to, to, "%s from %s", row.trigger, from)
		}
	}
	for _, from := range live { // gateway A deleted or inactivated, expires_at ahead
		to, ok := subscriptions.Next(from, subscriptions.GatewayDeletedPaid)
		require.True(t, ok)
		require.Equal(t, from, to)
	}
}
