package subscriptions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox"
)

// TestAChargeToldAfterAnExtension that was settled before it: it pays its own period, from
// whose end the extension counts, and takes no end away.
func TestAChargeToldAfterAnExtension(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id := begins[gateway](b, t)
		b.signLater(t)
		b.goBy(t, 25*day)
		b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{}) // they come late
		b.goBy(t, 10*day)
		paid, _ := b.taken(t, id)
		require.EqualValues(t, 2*4990, paid, "charged, and not told")
		extendedAt := b.clock.Now()
		extenders["days"](t, b, id)
		end := column[time.Time](t, b, id, "expires_at")
		require.WithinDuration(t, extendedAt.AddDate(0, 0, 20+33), end, 9*day,
			"the month that is paid, and 33 days")
		b.signLater(t)
		b.settle(t)
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments"))
		require.Equal(t, &end, column[*time.Time](t, b, id, "expires_at"))
		b.goBy(t, end.Sub(b.clock.Now())-30*time.Hour)
		paid, _ = b.taken(t, id)
		require.EqualValues(t, 2*4990, paid, "nothing in the extended time")
		require.NotNil(t, column[*time.Time](t, b, id, "expires_at"))
		b.goBy(t, 12*time.Hour)
		require.Nil(t, column[*time.Time](t, b, id, "expires_at"), "the recurrence goes on")
		b.goBy(t, 2*day)
		paid, _ = b.taken(t, id)
		require.EqualValues(t, 3*4990, paid)
		require.Equal(t, "active", b.status(t, id))
		require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"))
	})
}
