package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// forgetRecurrence has the gateway know a recurrence no more: gateway B says so, gateway A answers
// 404, and its list has none.
func forgetRecurrence(t *testing.T, b *bundle, gateway string, id objectid.ID) {
	t.Helper()
	path, column, body := "/v3/subscriptions/", "gwa_subscription_id", ""
	if gateway == "gwb" {
		path, column = "/v1/subscriptions/", "gwb_subscription_id"
		body = `{"error": {"code": "resource_missing", "message": "No such subscription", "type": "invalid_request_error"}}`
	}
	path += b.text(t, "SELECT "+column+" FROM subscriptions.subscriptions WHERE id = $1", id)
	require.NoError(t, stages[gateway](b).Faults.Plan(stage.Fault{
		Path: path, Kind: stage.FaultStatus, Status: 404, Body: body, Times: manyTimes,
	}))
}

// TestADisputeOfWhatHasEndedAtTheGateway: nothing collects any more, so that nothing is
// paused nor resumed; an end that the gateway has not confirmed yet is pursued meanwhile.
func TestADisputeOfWhatHasEndedAtTheGateway(t *testing.T) {
	t.Parallel()
	activate := func(b *bundle, t *testing.T, id objectid.ID) {
		t.Helper()
		b.admin(t).Post("/admin/subscriptions/"+id.String()+"/activate", object{"reason": "sorry"}).Expect(200)
	}
	confirmed := func(t *testing.T, b *bundle, gateway string, id objectid.ID) {
		t.Helper()
		b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
		b.goBy(t, time.Hour)
		forgetRecurrence(t, b, gateway, id)
		activate(b, t, id)
		require.NotNil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
	}
	for name, given := range map[string]func(*bundle, *testing.T, string, disputes) objectid.ID{
		"ended and opened again": func(b *bundle, t *testing.T, gateway string, d disputes) objectid.ID {
			t.Helper()
			id := d.begin(b, t)
			b.signLater(t)
			b.goBy(t, 2*day)
			confirmed(t, b, gateway, id)
			return id
		},
		"disputed before": func(b *bundle, t *testing.T, gateway string, d disputes) objectid.ID {
			t.Helper()
			id := d.begin(b, t)
			b.signLater(t)
			b.goBy(t, 2*day)
			b.admin(t).Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "They say so"}).Expect(200)
			b.goBy(t, time.Hour)
			require.Equal(t, "paused", b.pause(t, id))
			b.admin(t).Delete("/subscriptions/"+id.String()+"/chargebacks/"+
				b.text(t, "SELECT id FROM payments.disputes"), object{"reason": "A mistake"}).Expect(200)
			confirmed(t, b, gateway, id)
			return id
		},
		"opened again before its end was confirmed": func(b *bundle, t *testing.T, gateway string,
			_ disputes,
		) objectid.ID {
			t.Helper()
			id := unended(t, b, gateway)
			activate(b, t, id)
			require.NotNil(t, column[*time.Time](t, b, id, "gateway_end_open_since"))
			return id
		},
	} {
		for gateway, d := range disputesAt {
			t.Run(gateway+" "+name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := given(b, t, gateway, d)
				dispute := d.open(b, t, id)
				require.Equal(t, "suspended", b.status(t, id))
				passUnserved(t, b, time.Hour)
				if column[*time.Time](t, b, id, "gateway_deleted_at") == nil {
					takeEndsAgain(b)
					b.goBy(t, time.Hour)
					forgetRecurrence(t, b, gateway, id)
				}
				b.runStatusChecks(t, 10*time.Second)
				require.False(t, recurrenceRuns(t, b, gateway, id))
				require.NotEqual(t, "pausing", b.pause(t, id))
				d.close(b, t, dispute, true)
				require.Equal(t, "active", b.status(t, id))
				passUnserved(t, b, time.Hour)
				require.NotEqual(t, "resuming", b.pause(t, id))
				require.Zero(t, b.count(t,
					"SELECT count(*) FROM payments.intents WHERE kind = 'pause' AND state = 'open'"))
				require.NotNil(t, column[*time.Time](t, b, id, "expires_at"))
				require.Equal(t, "active", b.status(t, id))
			})
		}
	}
}
