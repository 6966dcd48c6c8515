package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// ordered are the orders to a gateway that have a row of their own, each made while the
// gateway fails.
var ordered = map[string]struct {
	table string
	done  string
	order func(t *testing.T, b *bundle, id objectid.ID)
}{
	"pause": {"pauses", "paused", func(t *testing.T, b *bundle, id objectid.ID) {
		t.Helper()
		b.admin(t).Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).Expect(200)
	}},
	"charge_move": {"charge_moves", "done", func(t *testing.T, b *bundle, id objectid.ID) {
		t.Helper()
		extenders["days"](t, b, id)
	}},
	"plan_move": {"plan_moves", "done", func(t *testing.T, b *bundle, id objectid.ID) {
		t.Helper()
		admin := b.admin(t)
		subscriptionstest.Plan(t, b.db, dearer, 9990)
		require.Equal(t, 503, putPlan(admin, id, dearer).Status)
	}},
}

// TestWhatFailsAtAGatewayIsCheckedAsAllIntentsAre: 5 s after the first failure, by the
// checks alone, told to people and listed after a day, and brought forward.
func TestWhatFailsAtAGatewayIsCheckedAsAllIntentsAre(t *testing.T) {
	t.Parallel()
	for at, r := range recurring {
		for kind, o := range ordered {
			t.Run(at+" "+kind, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := r.begin(b, t)
				b.settle(t)
				for _, f := range []stage.Fault{
					{Method: r.verb, Path: r.path, Kind: stage.FaultResetBefore},
					{Method: http.MethodDelete, Path: "/v", Kind: stage.FaultResetBefore},
				} {
					f.Times = manyTimes
					require.NoError(t, r.stage(b).Faults.Plan(f))
				}
				o.order(t, b, id)
				b.runDueStatusChecks(t) // which make the first call, but for what a request makes
				var next time.Time
				require.NoError(t,
					b.db.QueryRow(t.Context(),
						"SELECT next_look_at FROM payments.intents WHERE kind = $1 AND state = 'open'", kind).
						Scan(&next))
				require.WithinDuration(t, b.clock.Now().Add(5*time.Second), next, time.Second)
				tries := "SELECT looks FROM payments.intents WHERE state = 'open'"
				before := b.count(t, tries)
				for range 3 {
					b.clock.Advance(20 * time.Minute)
					require.NoError(t, b.service.Sweep(t.Context()))
				}
				require.Equal(t, before, b.count(t, tries), "the sweep leaves it to the checks")
				require.NoError(t, b.payments.Intents().CheckDue(t.Context(), gateway.Name(at)))
				require.Equal(t, before+1, b.count(t, tries))
				b.clock.Advance(25 * time.Hour)
				require.NoError(t, b.payments.Intents().CheckDue(t.Context(), gateway.Name(at)))
				require.Equal(t, id.String(),
					b.text(t, "SELECT subscription_id FROM payments.unapplied_payments WHERE kind = 'unknown'"))
				r.stage(b).Faults.Clear()
				b.runStatusChecks(t, time.Minute)
				require.Equal(t, o.done, b.text(t, "SELECT state FROM subscriptions."+o.table))
				require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
			})
		}
	}
}
