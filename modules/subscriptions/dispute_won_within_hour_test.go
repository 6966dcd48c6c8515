package subscriptions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
)

// TestADisputeThatIsWonWithinTheHour leaves the day of the next charge: what the customer
// is shown is the day on which the gateway charges, and the payment of that day keeps the
// ones after it.
func TestADisputeThatIsWonWithinTheHour(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, gateway string, d disputes, id objectid.ID) {
		b.signLater(t)
		b.goBy(t, 2*day)
		due := oneMonthOn(t, column[time.Time](t, b, id, "started_at")).In(reportZone(t))
		dispute := d.open(b, t, id)
		b.goBy(t, 30*time.Minute)
		require.Equal(t, "paused", b.pause(t, id))
		d.close(b, t, dispute, true)
		b.goBy(t, 30*time.Minute)
		require.Equal(t, "resumed", b.pause(t, id))
		require.True(t, b.access(t))
		require.Equal(t, due.Format(time.DateOnly), b.day(t, id, "next_billing_date"))

		b.goBy(t, due.Sub(b.clock.Now())-36*time.Hour)
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"), "not before its day")
		b.goBy(t, 3*day)
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments"), "charged on its day")
		after := func(months int) string {
			zone, started := reportZone(t), column[time.Time](t, b, id, "started_at")
			return lifecycle.AddMonths(started, months, zone).In(zone).Format(time.DateOnly)
		}
		require.Contains(t, []string{after(2), after(3)}, b.day(t, id, "next_billing_date"),
			"gateway A tells the day after the charge that it made ahead")
		require.Equal(t, "active", b.status(t, id))
	})
}
