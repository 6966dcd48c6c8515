package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/sandbox/stage"
)

// readsOfA counts the calls that read the recurrence of gateway A.
func readsOfA(t *testing.T, b *bundle) (n int) {
	t.Helper()
	for _, e := range b.gateways.Sandbox.GWA.Stage().Journal.Entries(stage.EntryCall) {
		if e.Method == http.MethodGet &&
			e.Path == "/v3/subscriptions/"+b.text(t, "SELECT gwa_subscription_id FROM subscriptions.subscriptions") {
			n++
		}
	}
	return n
}

func failingMarked(t *testing.T, b *bundle) bool {
	t.Helper()
	return b.count(t, "SELECT count(*) FROM payments.gateway_state WHERE failing_since IS NOT NULL") > 0
}

// TestLoginsAskAgainWhenTheGatewayTakesCallsAgain: its own clock decides, with nothing
// open that a check could ask about.
func TestLoginsAskAgainWhenTheGatewayTakesCallsAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paidCard(t, b, "gwa")
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
	b.gateways.Sandbox.GWA.ExhaustRateLimit(12 * time.Hour)
	require.ErrorIs(t, b.service.SyncSubscription(t.Context(), b.customer.ID), gateway.ErrUnavailable)
	require.False(t, failingMarked(t, b), "one endpoint")
	require.ErrorIs(t, b.gateways.A.Probe(t.Context()), gateway.ErrUnavailable)
	require.True(t, failingMarked(t, b), "two mean the account")
	reads := readsOfA(t, b)
	b.clock.Advance(time.Minute)
	b.gateways.Advance(t, time.Minute)
	waitAndCheck(t, b, time.Minute)
	require.True(t, failingMarked(t, b), "the probe was refused")
	require.ErrorIs(t, b.service.SyncSubscription(t.Context(), b.customer.ID), gateway.ErrUnavailable)
	require.Equal(t, reads, readsOfA(t, b), "logins do not ask")

	require.NoError(t, b.gateways.Sandbox.Advance(12*time.Hour)) // the gateway's clock alone
	b.gateways.Advance(t, time.Minute)
	waitAndCheck(t, b, time.Minute)
	require.False(t, failingMarked(t, b))
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Equal(t, reads+1, readsOfA(t, b))
}

// TestALoginEndsTheMarkOfAGateway that failed for a moment.
func TestALoginEndsTheMarkOfAGateway(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"gwa", "gwb"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			paidCard(t, b, at)
			_, err := b.db.Exec(t.Context(),
				"UPDATE payments.gateway_state SET failing_since = now(), failed_at = now() WHERE gateway = $1", at)
			require.NoError(t, err)
			b.payments.Intents().Health().Heard(t.Context(), gateway.Name(at), false)
			require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
			require.False(t, failingMarked(t, b))
		})
	}
}
