package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox/stage"
)

// refuseExtension has gateway A find the calls of an extension wrong.
func refuseExtension(t *testing.T, b *bundle, method, path string, times int) {
	t.Helper()
	require.NoError(t, b.gateways.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Method: method, Path: path, Kind: stage.FaultOdd, Answer: "error", Status: 400, Times: times,
	}))
}

// TestAnExtensionThatIsRefusedOnceIsAskedForAgain: gateway A says 400 to the moving of the
// next charge, or to the deleting of the one that it has made.
func TestAnExtensionThatIsRefusedOnceIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for name, call := range map[string][2]string{
		"move": {http.MethodPut, "/v3/subscriptions/"}, "drop": {http.MethodDelete, "/v3/payments/"},
	} {
		for way, extend := range extenders {
			if name == "move" && way != "days" {
				continue // the gateway charges then anyway, once the charge that it has made is gone
			}
			t.Run(name+" by "+way, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := b.paidGWA(t)
				b.goBy(t, 2*day)
				extend(t, b, id)
				end := column[time.Time](t, b, id, "expires_at")
				refuseExtension(t, b, call[0], call[1], 1)
				b.runDueStatusChecks(t)
				require.Equal(t, "open", chargeMove(t, b, id), "once is no proof")
				b.runStatusChecks(t, time.Minute)
				require.Equal(t, "done", chargeMove(t, b, id))
				require.Equal(t, end, column[time.Time](t, b, id, "expires_at"))
			})
		}
	}
}

// TestAnExtensionThatTheGatewayRefusesIsTakenBack: the customer is charged as without it,
// and keeps what was charged for; the payment that had paid for it is open again.
func TestAnExtensionThatTheGatewayRefusesIsTakenBack(t *testing.T) {
	t.Parallel()
	for way, extend := range extenders {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWA(t)
			b.goBy(t, 2*day)
			refuseExtension(t, b, http.MethodDelete, "/v3/payments/", manyTimes)
			extend(t, b, id)
			b.runDueStatusChecks(t)
			b.runStatusChecks(t, 40*time.Minute)
			require.Equal(t, []string{">open asked: ordered here", "open>refused kept: the gateway keeps what was"},
				b.orderHistory(t, "charge_move", id))
			require.NotEmpty(t, b.text(t, "SELECT refusal FROM subscriptions.charge_moves"))
			require.Nil(t, column[*time.Time](t, b, id, "expires_at"))
			require.Nil(t, column[*time.Time](t, b, id, "gateway_deleted_at"), "its recurrence runs")
			from := column[time.Time](t, b, id, "next_billing_date")
			require.WithinDuration(t, b.clock.Now().AddDate(0, 1, 0), from, 5*day, "when it was due before")
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE state = 'extended'"))
			if way != "days" {
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM payments.unapplied_payments WHERE state = 'open' AND NOT automatic AND note LIKE '%refuses%'"))
			}
			listed := b.count(t, "SELECT count(*) FROM payments.unapplied_payments")
			b.goBy(t, from.Sub(b.clock.Now())+2*day)
			paid, _ := b.taken(t, id)
			require.EqualValues(t, 2*4990, paid)
			require.Equal(t, listed, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"),
				"the charge pays its period")
			require.True(t, b.access(t))
			require.True(t, column[time.Time](t, b, id, "next_billing_date").After(from))
			if way == "days" {
				return
			}
			b.gateways.Sandbox.GWA.Stage().Faults.Clear()
			open := b.text(t, "SELECT id FROM payments.unapplied_payments WHERE state = 'open'")
			b.admin(t).Post(unappliedPath+"/"+open+"/extend", nil).Expect(200)
			b.runDueStatusChecks(t)
			b.runStatusChecks(t, time.Minute)
			require.Equal(t, "done", chargeMove(t, b, id), "once the cause is gone")
			pgtest.RequireInvariants(t, b.db, b.clock.Now())
		})
	}
}

// TestAnExtensionWaitsForADispute: our own pause of collection is no end of the
// recurrence; once the dispute is won the next charge moves, and nothing is charged in
// the extended time.
func TestAnExtensionWaitsForADispute(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, gateway string, d disputes, id objectid.ID) {
		b.signLater(t)
		b.goBy(t, 2*day)
		faults := b.gateways.Sandbox.GWA.Stage().Faults
		if gateway == "gwb" {
			faults = b.gateways.Sandbox.GWB.Stage().Faults
		}
		require.NoError(t, faults.Plan(stage.Fault{
			Method: http.MethodGet, Path: "/v", Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
		}))
		extenders["days"](t, b, id)
		end := column[time.Time](t, b, id, "expires_at")
		b.runDueStatusChecks(t)
		faults.Clear()
		dispute := d.open(b, t, id)
		b.runDueStatusChecks(t)
		b.runStatusChecks(t, time.Minute)
		require.Equal(t, "paused", b.pause(t, id))
		require.Equal(t, "open", chargeMove(t, b, id), "it waits")
		b.goBy(t, 10*day)
		b.runStatusChecks(t, time.Minute)
		require.Equal(t, "open", chargeMove(t, b, id))
		d.close(b, t, dispute, true)
		b.goBy(t, time.Hour)
		b.goBy(t, time.Hour) // what waits is asked hourly
		b.runStatusChecks(t, time.Minute)
		require.Equal(t, "done", chargeMove(t, b, id))
		require.Equal(t, "active", b.status(t, id))
		require.Nil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
		b.goBy(t, end.Sub(b.clock.Now())-30*time.Hour)
		paid, _ := b.taken(t, id)
		require.EqualValues(t, 4990, paid, "nothing in the extended time")
		b.goBy(t, 3*day)
		paid, _ = b.taken(t, id)
		require.EqualValues(t, 2*4990, paid, "one after")
		require.True(t, b.access(t))
		require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
	})
}

// TestTheEndOfThePeriodTakesNoExtensionBack: gateway B still tells the end of the old
// period while the next charge is about to be moved.
func TestTheEndOfThePeriodTakesNoExtensionBack(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/gwb/subscription", "/customers/me/subscription?at=period_end"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWB(t)
			b.signLater(t)
			b.goBy(t, 2*day)
			extend := func(days int) {
				b.admin(t).Post("/admin/subscriptions/"+id.String()+"/extend", object{"days": days}).Expect(200)
			}
			extend(30)
			end := column[time.Time](t, b, id, "expires_at")
			b.expect(t, 200, http.MethodDelete, path, nil)
			b.settle(t)
			require.Equal(t, end, column[time.Time](t, b, id, "expires_at"))
			extend(10)
			require.WithinDuration(t, end.AddDate(0, 0, 10), column[time.Time](t, b, id, "expires_at"), 2*time.Hour)
			end = column[time.Time](t, b, id, "expires_at")
			b.goBy(t, time.Hour)
			require.Equal(t, "done", chargeMove(t, b, id))
			require.WithinDuration(t, end, column[time.Time](t, b, id, "expires_at"), time.Second)
			b.goBy(t, end.Sub(b.clock.Now())-2*time.Hour)
			require.True(t, b.access(t))
			b.goBy(t, 4*time.Hour)
			require.Contains(t, []string{"cancelled", "expired"}, b.status(t, id))
			paid, _ := b.taken(t, id)
			require.EqualValues(t, 4990, paid)
		})
	}
}
