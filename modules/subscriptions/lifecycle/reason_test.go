package lifecycle

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"marquee/modules/subscriptions/state"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden file is the reason of every action, by what is known of a subscription, so
// that none changes unseen: churn is told apart by them.
func TestReasonsAreThoseOfTheGoldenFile(t *testing.T) {
	t.Parallel()
	known := []struct {
		name string
		sub  Subscription
	}{
		{"active", Subscription{Status: state.Active}},
		{"pending", Subscription{Status: state.Pending}},
		{"ends with its period", Subscription{Status: state.Active, CancelAtPeriodEnd: true}},
		{"payments failed", Subscription{Status: state.Suspended, PaymentFailures: 1}},
		{"disputed", Subscription{Status: state.Suspended, HasChargeback: true, CancelAtPeriodEnd: true, PaymentFailures: 1}},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s", "action")
	for _, k := range known {
		fmt.Fprintf(&b, "%-25s", k.name)
	}
	for _, action := range state.Actions {
		fmt.Fprintf(&b, "\n%-24s", action)
		for _, k := range known {
			fmt.Fprintf(&b, "%-25s", state.ReasonFor(action, k.sub.known()))
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	const golden = "testdata/reasons.golden"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
