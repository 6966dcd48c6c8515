package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// TestARecurrenceThatIsFoundAfterItsRowHadEnded: an admin has ended the row while nobody
// knew what the call had made. Its money opens one period, whoever brings it, and what
// was found is ended at the gateway.
func TestARecurrenceThatIsFoundAfterItsRowHadEnded(t *testing.T) {
	t.Parallel()
	found := map[string]func(*bundle, *testing.T, objectid.ID){
		"by its event": func(b *bundle, t *testing.T, _ objectid.ID) {
			t.Helper()
			b.signLater(t)
			b.gateways.Advance(t, time.Minute)
			b.settle(t)
		},
		"by a check": func(b *bundle, t *testing.T, id objectid.ID) {
			t.Helper()
			b.gateways.Advance(t, time.Minute)
			require.NoError(t, b.service.Recover(t.Context(), id))
			b.signLater(t)
			b.settle(t)
		},
	}
	for gateway, first := range map[string]string{"gwa": "", "gwb": "", "gwa discounted": "FIRST1"} {
		for name, find := range found {
			t.Run(gateway+" "+name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				gateway := gateway[:3]
				body := gwbCard(paymentstest.TokenApproved)
				if gateway == "gwa" {
					body = gwaCard(paymentstest.CardApproved)
				}
				if first != "" {
					b.promos.price = 990
					body["promo_code"] = first
				}
				again := loseNewRecurrence(t, b, gateway, stage.FaultResetAfter)
				id := idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe", body))
				b.admin(t).Post("/subscriptions/"+id.String()+"/cancel", object{"reason": "They rang up"}).Expect(200)
				require.Equal(t, "cancelled", b.status(t, id))
				again()
				find(b, t, id)
				require.Equal(t, "active", b.status(t, id), "late money activates")
				require.Zero(t, b.count(t,
					"SELECT count(*) FROM payments.webhook_logs WHERE result->>'status' = 'queued'"),
					"the logs tell what came of it")
				end := column[*time.Time](t, b, id, "expires_at")
				require.NotNil(t, end, "for one period")
				b.goBy(t, time.Hour)
				b.runStatusChecks(t, time.Minute)
				b.goBy(t, time.Hour)
				require.False(t, recurrenceRuns(t, b, gateway, id), "the recurrence is ended")
				paid, _ := b.taken(t, id)
				b.goBy(t, end.Sub(b.clock.Now())-time.Hour)
				require.True(t, b.access(t))
				b.goBy(t, 2*time.Hour)
				require.False(t, b.access(t))
				require.Contains(t, []string{"expired", "cancelled"}, b.status(t, id))
				after, waiting := b.taken(t, id)
				require.Equal(t, paid, after)
				require.Zero(t, waiting)
			})
		}
	}
}
