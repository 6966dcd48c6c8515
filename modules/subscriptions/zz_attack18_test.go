package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/sandbox/stage"
)

func (b *bundle) dumpIntents(t *testing.T) {
	t.Helper()
	t.Log(b.text(t, `SELECT coalesce(string_agg(concat_ws(' ', kind, item, state, 'looks', looks, 'calls', calls, 'next', next_look_at::text, 'lease', leased_until::text, cause), E'\n' ORDER BY created_at, id), '') FROM payments.intents`))
}

// A1: an older open intent of the same subscription (subscription_gone) hides the resumption from giveUpResume.
func TestAttackCancelWhileAResumptionIsOpenBesideAnOlderIntent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	found := b.mislaid(t, "gwb", id)
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	found()
	b.clock.Advance(time.Second)
	gw := b.gateways.Sandbox.GWB.Stage()
	gw.Webhooks.Hold("*")
	require.NoError(t, gw.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes}))
	a := b.expect(t, 200, http.MethodPut, renewPath, object{})
	require.Equal(t, "pending", a["subscription"].(object)["status"])
	gw.Faults.Clear()
	b.dumpIntents(t)
	// the customer wants the end after all: acknowledged
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	require.True(t, b.endsAtB(t, id))
	gw.Webhooks.Release()
	b.settle(t)
	b.dumpIntents(t)
	b.runStatusChecks(t, 2*time.Minute)
	b.settle(t)
	b.dumpIntents(t)
	require.True(t, b.endsAtB(t, id), "UNDONE at the gateway")
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"), "UNDONE")
}

// A1b: the same while the call is under way: the cancel is not refused.
func TestAttackCancelDuringTheCallOfAResumptionBesideAnOlderIntent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	found := b.mislaid(t, "gwb", id)
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	found()
	b.clock.Advance(time.Second)
	gw := b.gateways.Sandbox.GWB.Stage()
	gw.Webhooks.Hold("*")
	require.NoError(t, gw.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: stage.FaultDelay, Delay: stage.Duration(3 * time.Second)}))
	resumed := make(chan int, 1)
	go func() {
		status, _ := b.call(t, http.MethodPut, renewPath, object{})
		resumed <- status
	}()
	require.Eventually(t, func() bool { return len(gw.Faults.Planned()) == 0 }, time.Minute, time.Millisecond)
	status, a := b.call(t, http.MethodDelete, subscriptionPath+atEnd, nil)
	t.Log("cancel answered", status, a)
	t.Log("resume answered", <-resumed)
	gw.Webhooks.Release()
	b.settle(t)
	t.Log("row ends:", column[bool](t, b, id, "cancel_at_period_end"), "gateway ends:", b.endsAtB(t, id))
	require.Equal(t, 409, status)
}

// A2: the lease runs out while the call is under way, a check carries the resumption out, the customer cancels, and
// the late call arrives last.
func TestAttackLateResumptionAfterItsLease(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"carried out by a check", "given up by the cancel"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWB(t)
			b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
			b.settle(t)
			gw := b.gateways.Sandbox.GWB.Stage()
			gw.Webhooks.Hold("*")
			require.NoError(t, gw.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: stage.FaultDelay, Delay: stage.Duration(4 * time.Second)}))
			resumed := make(chan int, 1)
			go func() {
				status, a := b.call(t, http.MethodPut, renewPath, object{})
				t.Log("late resume answered", status, a)
				resumed <- status
			}()
			require.Eventually(t, func() bool { return len(gw.Faults.Planned()) == 0 }, time.Minute, time.Millisecond)
			b.clock.Advance(2 * time.Minute)
			if kind == "carried out by a check" {
				b.runDueStatusChecks(t)
			}
			b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
			require.True(t, b.endsAtB(t, id))
			<-resumed
			gw.Webhooks.Release()
			b.settle(t)
			b.runStatusChecks(t, time.Minute)
			require.NoError(t, b.service.Sweep(t.Context()))
			b.dumpIntents(t)
			t.Log("row ends:", column[bool](t, b, id, "cancel_at_period_end"), "gateway ends:", b.endsAtB(t, id))
			require.True(t, column[bool](t, b, id, "cancel_at_period_end"), "an acknowledged end is undone")
		})
	}
}

// A3: an admin's resumption whose write fails after the gateway's word is carried out by the checks, without audit.
func TestAttackAdminsResumptionIsRepeatedWithoutAudit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.broken = true
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	admin := b.admin(t)
	gw := b.gateways.Sandbox.GWB.Stage()
	gw.Webhooks.Hold("*")
	b.unguard(t, `CREATE FUNCTION public.boom() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'boom'; END $$`,
		`CREATE TRIGGER boom BEFORE INSERT ON accounts.audit_log FOR EACH ROW EXECUTE FUNCTION public.boom()`)
	t.Log(admin.Post("/admin/subscriptions/"+id.String()+"/activate", object{"reason": "x"}).Status)
	b.unguard(t, `DROP TRIGGER boom ON accounts.audit_log`)
	b.dumpIntents(t)
	b.runStatusChecks(t, 3*time.Minute)
	b.dumpIntents(t)
	t.Log("row ends:", column[bool](t, b, id, "cancel_at_period_end"), "gateway ends:", b.endsAtB(t, id),
		"audit:", b.count(t, "SELECT count(*) FROM accounts.audit_log WHERE record_id = $1", id))
}

// A4: an ordinary end and a reported one open at once, the gateway down for an hour.
func TestAttackTwoEndsAfterAnOutage(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id, _ := paidCard(t, b, gateway)
		gw := b.gateways.Sandbox.GWA.Stage()
		if gateway == "gwb" {
			gw = b.gateways.Sandbox.GWB.Stage()
		}
		require.NoError(t, gw.Faults.Plan(stage.Fault{Kind: stage.FaultResetBefore, Times: manyTimes}))
		a := b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
		require.Equal(t, "cancelled", a["status"])
		b.report(t, id, gateway)
		b.dumpIntents(t)
		b.runStatusChecks(t, time.Hour)
		gw.Faults.Clear()
		b.runStatusChecks(t, 30*time.Minute)
		b.dumpIntents(t)
		require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
		require.False(t, b.runs(t, gateway, id))
		require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
		t.Log(b.history(t, id))
	})
}

// A5: odd answers to the deletion.
func TestAttackOddAnswersToTheEnd(t *testing.T) {
	t.Parallel()
	for _, f := range []stage.Fault{
		{Kind: stage.FaultStatus, Status: 404, Body: `{}`},
		{Kind: stage.FaultStatus, Status: 404, Body: `{"errors":[{"code":"invalid_object"}],"error":{"type":"invalid_request_error","code":"resource_missing"}}`},
		{Kind: stage.FaultStatus, Status: 200, Body: `{"deleted":true,"id":"sub_other","object":"subscription","status":"canceled"}`},
		{Kind: stage.FaultStatus, Status: 200, Body: `{}`},
		{Kind: stage.FaultStatus, Status: 200, Body: `null`},
		{Kind: stage.FaultStatus, Status: 204, Body: ``},
		{Kind: stage.FaultStatus, Status: 400, Body: `{"errors":[{"code":"x","description":"no"}]}`},
		{Kind: stage.FaultBadGateway},
		{Kind: stage.FaultOdd, Answer: stage.OddForeign}, {Kind: stage.FaultOdd, Answer: stage.OddNull, Status: 404}, {Kind: stage.FaultOdd, Answer: stage.OddTruncated},
	} {
		for _, gateway := range []string{"gwa", "gwb"} {
			t.Run(gateway+string(f.Kind)+http.StatusText(f.Status)+f.Body+string(f.Answer), func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id, _ := paidCard(t, b, gateway)
				gw := b.gateways.Sandbox.GWA.Stage()
				if gateway == "gwb" {
					gw = b.gateways.Sandbox.GWB.Stage()
				}
				f := f
				f.Method, f.Times = http.MethodDelete, manyTimes
				require.NoError(t, gw.Faults.Plan(f))
				b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
				require.Nil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
				b.runStatusChecks(t, 30*time.Second)
				require.Nil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
				gw.Faults.Clear()
				b.runStatusChecks(t, 10*time.Minute)
				require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
				require.False(t, b.runs(t, gateway, id))
			})
		}
	}
}


func (b *bundle) report(t *testing.T, id objectid.ID, at string) {
	t.Helper()
	b.requestEnd(t, id, at, lifecycle.EndReported, 0)
}

func (b *bundle) requestEnd(t *testing.T, id objectid.ID, at, item string, after time.Duration) {
	t.Helper()
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		return b.payments.Intents().RequestTx(t.Context(), tx, intent.Opening{
			Ref: intent.Ref{Kind: intent.End, Subject: id, Item: item}, Customer: b.customer.ID, Gateway: gateway.Name(at), After: after,
		})
	}))
}
