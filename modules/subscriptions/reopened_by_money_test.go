package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// unended begins a subscription and cancels it while the gateway does not take the end.
func unended(t *testing.T, b *bundle, gateway string) objectid.ID {
	t.Helper()
	begin, faults := b.paidGWA, b.gateways.Sandbox.GWA.Stage().Faults
	if gateway == "gwb" {
		begin, faults = b.paidGWB, b.gateways.Sandbox.GWB.Stage().Faults
	}
	id := begin(t)
	b.signLater(t)
	require.NoError(t, faults.Plan(stage.Fault{
		Method: http.MethodDelete, Path: "/v", Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
	}))
	b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
	require.Equal(t, "cancelled", b.status(t, id))
	require.Nil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
	return id
}

// passUnserved lets time go by with a sweep that the gateway does not serve.
func passUnserved(t *testing.T, b *bundle, by time.Duration) {
	t.Helper()
	b.clock.Advance(by)
	b.gateways.Advance(t, by)
	b.settle(t)
	_ = b.service.Sweep(t.Context())
	b.runDueStatusChecks(t)
	b.settle(t)
}

// takeEndsAgain has the gateways take the end again.
func takeEndsAgain(b *bundle) {
	b.gateways.Sandbox.GWA.Stage().Faults.Clear()
	b.gateways.Sandbox.GWB.Stage().Faults.Clear()
}

// chargeRecurrence has the recurrence charge now.
func chargeRecurrence(t *testing.T, b *bundle, gateway string, id objectid.ID) {
	t.Helper()
	var err error
	if gateway == "gwb" {
		err = b.gateways.Sandbox.GWB.Renew(column[string](t, b, id, "gwb_subscription_id"))
	} else {
		_, err = b.gateways.Sandbox.GWA.Renew(column[string](t, b, id, "gwa_subscription_id"), false)
	}
	require.NoError(t, err)
	b.settle(t)
}

// recurrenceRuns reports whether the recurrence would charge the customer.
func recurrenceRuns(t *testing.T, b *bundle, gateway string, id objectid.ID) bool {
	t.Helper()
	if gateway == "gwb" {
		remote, err := b.gateways.B.ReadSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id"), id)
		return err == nil && remote.Status != "canceled"
	}
	remote, err := b.gateways.A.ReadSubscription(t.Context(), column[string](t, b, id, "gwa_subscription_id"), id)
	return err == nil && remote.Status != "canceled"
}

// TestMoneyOfARecurrenceThatWasToEnd: the gateway did not take the end, and charges. The
// money opens one period; the end is pursued until the gateway confirms it, and what it
// charges until then goes back.
func TestMoneyOfARecurrenceThatWasToEnd(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		for name, then := range map[string]func(*bundle, *testing.T, objectid.ID){
			"as it is": func(*bundle, *testing.T, objectid.ID) {},
			"cancelled with its period": func(b *bundle, t *testing.T, _ objectid.ID) {
				t.Helper()
				b.expect(t, 200, http.MethodDelete, "/customers/me/subscription?at=period_end", nil)
			},
		} {
			t.Run(gateway+" "+name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := unended(t, b, gateway)
				passUnserved(t, b, 32*day)
				require.Equal(t, "active", b.status(t, id))
				end := column[time.Time](t, b, id, "expires_at")
				require.Nil(t, column[*time.Time](t, b, id, "gateway_deleted_at"), "nothing is deleted")
				require.NotNil(t, column[*time.Time](t, b, id, "gateway_end_open_since"))
				then(b, t, id)
				require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
				passUnserved(t, b, day)
				chargeRecurrence(t, b, gateway, id)
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM payments.unapplied_payments WHERE kind <> 'unknown'"),
					"the next charge is not kept in silence")
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unknown'"),
					"nor that the gateway does not end it")
				require.Equal(t, end, column[time.Time](t, b, id, "expires_at"), "and moves nothing")
				takeEndsAgain(b)
				b.goBy(t, day)
				require.False(t, recurrenceRuns(t, b, gateway, id), "ended at the gateway")
			})
		}
	}
}

// TestTheEndIsPursuedWhileTheRowIsOpen, to which the gateway's word of it does nothing.
func TestTheEndIsPursuedWhileTheRowIsOpen(t *testing.T) {
	t.Parallel()
	for gateway, open := range map[string]func(*bundle, *testing.T, objectid.ID){
		"gwa": func(b *bundle, t *testing.T, _ objectid.ID) { t.Helper(); passUnserved(t, b, 32*day) },
		"gwb": func(b *bundle, t *testing.T, _ objectid.ID) { t.Helper(); passUnserved(t, b, 32*day) },
		"gwa by an admin": func(b *bundle, t *testing.T, id objectid.ID) {
			t.Helper()
			b.admin(t).Post("/admin/subscriptions/"+id.String()+"/activate", object{"reason": "sorry"}).Expect(200)
		},
		"gwb by an admin": func(b *bundle, t *testing.T, id objectid.ID) {
			t.Helper()
			b.admin(t).Post("/admin/subscriptions/"+id.String()+"/activate", object{"reason": "sorry"}).Expect(200)
		},
	} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := unended(t, b, gateway[:3])
			open(b, t, id)
			require.Equal(t, "active", b.status(t, id))
			end := column[time.Time](t, b, id, "expires_at")
			passUnserved(t, b, time.Hour)
			require.True(t, recurrenceRuns(t, b, gateway[:3], id), "the gateway does not take it yet")
			require.Nil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
			takeEndsAgain(b)
			b.goBy(t, day) // the pause between checks after a week of not knowing
			require.False(t, recurrenceRuns(t, b, gateway[:3], id))
			require.NotNil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
			require.Nil(t, column[*time.Time](t, b, id, "gateway_end_open_since"))
			require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
			require.Equal(t, "active", b.status(t, id), "access goes on to the end")
			require.Equal(t, end, column[time.Time](t, b, id, "expires_at"))
			before, _ := b.taken(t, id)
			b.goBy(t, end.Sub(b.clock.Now())-time.Hour)
			require.True(t, b.access(t))
			b.goBy(t, 2*time.Hour)
			require.Equal(t, "expired", b.status(t, id))
			b.goBy(t, 31*day)
			after, _ := b.taken(t, id)
			require.Equal(t, before, after, "nothing is charged any more")
		})
	}
}
