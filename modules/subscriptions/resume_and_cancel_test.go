package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// toEnd is a paid subscription of gateway B that ends with its period, whose events are held back from then on.
func toEnd(t *testing.T, b *bundle) (objectid.ID, *stage.Stage) {
	t.Helper()
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	gw := b.gateways.Sandbox.GWB.Stage()
	gw.Webhooks.Hold("*")
	return id, gw
}

// resumeSlowly has a resumption's call be under way, until the channel says what was answered.
func resumeSlowly(t *testing.T, b *bundle, gw *stage.Stage) <-chan int {
	t.Helper()
	slowDown(t, gw)
	resumed := make(chan int, 1)
	go func() {
		status, _ := b.call(t, http.MethodPut, renewPath, object{}) //nolint:testifylint // a step of the story
		resumed <- status
	}()
	underWay(t, gw)
	return resumed
}

func slowDown(t *testing.T, gw *stage.Stage) {
	t.Helper()
	require.NoError(t, gw.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Kind: stage.FaultDelay, Delay: stage.Duration(3 * time.Second),
	}))
}

func underWay(t *testing.T, gw *stage.Stage) {
	t.Helper()
	require.Eventually(t, func() bool { return len(gw.Faults.Planned()) == 0 }, time.Minute, time.Millisecond)
}

// requireItEnds: the end that was acknowledged stands, here and at the gateway, when all that is open is done.
func requireItEnds(t *testing.T, b *bundle, id objectid.ID) {
	t.Helper()
	gw := b.gateways.Sandbox.GWB.Stage()
	gw.Faults.Clear()
	gw.Webhooks.Release()
	b.settle(t)
	b.runStatusChecks(t, 2*time.Minute)
	require.NoError(t, b.service.Sweep(t.Context()))
	require.True(t, endsAtB(t, b, id), "at the gateway")
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"))
}

// TestACancelEndsAResumptionBesideAnOlderIntent: whatever else is open of the subscription.
func TestACancelEndsAResumptionBesideAnOlderIntent(t *testing.T) {
	t.Parallel()
	older := func(t *testing.T, b *bundle, id objectid.ID) {
		t.Helper()
		found := mislaid(t, b, "gwb", id)
		require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
		found()
		b.clock.Advance(time.Second)
	}
	t.Run("whose answer is lost", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id, gw := toEnd(t, b)
		older(t, b, id)
		require.NoError(t, gw.Faults.Plan(stage.Fault{
			Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes,
		}))
		a := b.expect(t, 200, http.MethodPut, renewPath, object{})
		require.Equal(t, "pending", a["subscription"].(object)["status"])
		gw.Faults.Clear()
		b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
		requireItEnds(t, b, id)
	})
	t.Run("that is under way", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id, gw := toEnd(t, b)
		older(t, b, id)
		resumed := resumeSlowly(t, b, gw)
		b.expect(t, 409, http.MethodDelete, subscriptionPath+atEnd, nil)
		require.Equal(t, 200, <-resumed)
		require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
	})
}

// TestALateResumptionUndoesNoEnd: its call, or that of a check, comes after its lease and after the end.
func TestALateResumptionUndoesNoEnd(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"a check has carried it out", "the cancel has ended it"} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, gw := toEnd(t, b)
			resumed := resumeSlowly(t, b, gw)
			b.clock.Advance(2 * time.Minute)
			if before == "a check has carried it out" {
				b.runDueStatusChecks(t)
			}
			b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
			require.Equal(t, 409, <-resumed)
			requireItEnds(t, b, id)
		})
	}
	t.Run("a check, and then the gateway fails", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id, gw := toEnd(t, b)
		fails := stage.Fault{Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes}
		require.NoError(t, gw.Faults.Plan(fails))
		b.expect(t, 200, http.MethodPut, renewPath, object{})
		gw.Faults.Clear()
		slowDown(t, gw)
		b.clock.Advance(10 * time.Second)
		checked := make(chan error, 1)
		go func() { checked <- b.payments.Intents().CheckDue(t.Context(), "gwb") }()
		underWay(t, gw)
		b.clock.Advance(2 * time.Minute)
		b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
		require.NoError(t, gw.Faults.Plan(fails))
		require.NoError(t, <-checked)
		require.False(t, endsAtB(t, b, id), "it is not ordered again yet")
		b.expect(t, 409, http.MethodPut, renewPath, object{})
		requireItEnds(t, b, id)
	})
}

// TestALateResumptionWhoseProcessDiesUndoesNoEnd: its call reaches the gateway after the end, and nobody puts that back.
func TestALateResumptionWhoseProcessDiesUndoesNoEnd(t *testing.T) {
	t.Parallel()
	for _, checked := range []bool{false, true} {
		b := setup(t)
		id, gw := toEnd(t, b)
		require.NoError(t, gw.Faults.Plan(stage.Fault{
			Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes,
		}))
		b.expect(t, 200, http.MethodPut, renewPath, object{})
		gw.Faults.Clear()
		if checked {
			b.runStatusChecks(t, 2*time.Minute)
			require.False(t, endsAtB(t, b, id), "a check has carried it out")
		}
		b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
		require.True(t, endsAtB(t, b, id))
		adapter, err := b.payments.Gateway("gwb")
		require.NoError(t, err)
		_, err = adapter.SetCancelAtPeriodEnd(t.Context(), column[string](t, b, id, "gwb_subscription_id"), id, false)
		require.NoError(t, err)
		require.False(t, endsAtB(t, b, id), "the late call")
		requireItEnds(t, b, id)
		b.expect(t, 200, http.MethodPut, renewPath, object{})
		require.False(t, endsAtB(t, b, id), "later it is resumed as ever")
	}
}

// TestTheEventOfALateResumptionUndoesNoEnd: neither before the end is ordered again nor after.
func TestTheEventOfALateResumptionUndoesNoEnd(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{30 * time.Second, 62 * time.Second, 2 * time.Minute, 4 * time.Minute} {
		t.Run(late.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, gw := toEnd(t, b)
			require.NoError(t, gw.Faults.Plan(stage.Fault{
				Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes,
			}))
			b.expect(t, 200, http.MethodPut, renewPath, object{})
			gw.Faults.Clear()
			b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
			gw.Webhooks.Release()
			b.settle(t)
			b.clock.Advance(late)
			_, err := gw.Clock.AdvanceTo(b.clock.Now())
			require.NoError(t, err)
			if late > time.Minute+30*time.Second {
				b.runDueStatusChecks(t)
			}
			adapter, err := b.payments.Gateway("gwb")
			require.NoError(t, err)
			_, err = adapter.SetCancelAtPeriodEnd(t.Context(), column[string](t, b, id, "gwb_subscription_id"), id, false)
			require.NoError(t, err)
			b.settle(t)
			require.True(t, column[bool](t, b, id, "cancel_at_period_end"), "the end that was answered stands")
			requireItEnds(t, b, id)
			b.expect(t, 200, http.MethodPut, renewPath, object{})
			b.settle(t)
			require.False(t, endsAtB(t, b, id), "later it is resumed as ever")
			require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
		})
	}
}

// TestGatewayBDeclinesWhatChargesNobody: a refusal as any other, in the form of a declined card.
func TestGatewayBDeclinesWhatChargesNobody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	gw := b.gateways.Sandbox.GWB.Stage()
	decline := func() {
		require.NoError(t, gw.Faults.Plan(stage.Fault{
			Method: http.MethodPost, Kind: stage.FaultStatus, Status: http.StatusPaymentRequired,
		}))
	}
	decline()
	b.expect(t, 409, http.MethodDelete, subscriptionPath+atEnd, nil)
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	decline()
	b.expect(t, 409, http.MethodPut, renewPath, object{})
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil) // nothing is open
	requireItEnds(t, b, id)
}

// TestAnAdminsResumptionIsRepeatedByNobody: where its row could not be written the checks read what the gateway made.
func TestAnAdminsResumptionIsRepeatedByNobody(t *testing.T) {
	t.Parallel()
	for _, acts := range []bool{true, false} {
		b := setup(t)
		b.broken = true
		id, gw := toEnd(t, b)
		admin := b.admin(t)
		if !acts {
			require.NoError(t, gw.Faults.Plan(stage.Fault{
				Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes,
			}))
		}
		unguard(t, b,
			`CREATE FUNCTION public.boom() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'boom'; END $$`,
			`CREATE TRIGGER boom BEFORE INSERT ON accounts.audit_log FOR EACH ROW EXECUTE FUNCTION public.boom()`)
		r := admin.Post("/admin/subscriptions/"+id.String()+"/activate", object{"reason": "they asked"})
		require.GreaterOrEqual(t, r.Status, 500)
		unguard(t, b, `DROP TRIGGER boom ON accounts.audit_log`)
		gw.Faults.Clear()
		b.runStatusChecks(t, 3*time.Minute)
		require.NoError(t, b.service.Sweep(t.Context()))
		require.Equal(t, acts, !endsAtB(t, b, id), "nobody calls again")
		require.Equal(t, endsAtB(t, b, id), column[bool](t, b, id, "cancel_at_period_end"),
			"the row follows the gateway")
		require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
	}
}

// TestAFailedCancelHasTheGatewayRead: the resumption that it ended may have been carried out.
func TestAFailedCancelHasTheGatewayRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, gw := toEnd(t, b)
	plan := func(k stage.FaultKind) {
		gw.Faults.Clear()
		require.NoError(t, gw.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: k, Times: manyTimes}))
	}
	plan(stage.FaultResetAfter) // the gateway has taken the end back
	b.expect(t, 200, http.MethodPut, renewPath, object{})
	plan(stage.FaultResetBefore)
	b.expect(t, 503, http.MethodDelete, subscriptionPath+atEnd, nil)
	gw.Faults.Clear()
	b.runStatusChecks(t, 5*time.Minute)
	require.NoError(t, b.service.Sweep(t.Context()))
	require.False(t, endsAtB(t, b, id))
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
}
