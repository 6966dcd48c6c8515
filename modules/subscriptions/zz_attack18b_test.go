package subscriptions_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

func (b *bundle) stageOf(at string) *stage.Stage {
	if at == "gwb" {
		return b.gateways.Sandbox.GWB.Stage()
	}
	return b.gateways.Sandbox.GWA.Stage()
}

// a late check of a resumption after its lease, with the gateway failing after it.
func TestAttackLateCheckOfAResumption(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	gw := b.gateways.Sandbox.GWB.Stage()
	gw.Webhooks.Hold("*")
	require.NoError(t, gw.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes}))
	b.expect(t, 200, http.MethodPut, renewPath, object{})
	gw.Faults.Clear()
	require.NoError(t, gw.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: stage.FaultDelay, Delay: stage.Duration(4 * time.Second)}))
	b.clock.Advance(10 * time.Second)
	checked := make(chan error, 1)
	go func() { checked <- b.payments.Intents().CheckDue(t.Context(), "gwb") }()
	require.Eventually(t, func() bool { return len(gw.Faults.Planned()) == 0 }, time.Minute, time.Millisecond)
	b.clock.Advance(2 * time.Minute)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	require.True(t, b.endsAtB(t, id))
	require.NoError(t, gw.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes}))
	t.Log(<-checked)
	b.dumpIntents(t)
	t.Log("gateway ends:", b.endsAtB(t, id))
	gw.Faults.Clear()
	gw.Webhooks.Release()
	b.settle(t)
	b.runStatusChecks(t, time.Minute)
	require.NoError(t, b.service.Sweep(t.Context()))
	b.dumpIntents(t)
	t.Log("row ends:", column[bool](t, b, id, "cancel_at_period_end"), "gateway ends:", b.endsAtB(t, id))
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"), "an acknowledged end is undone")
}

// old jobs beside new intents, and rows of the release before.
func TestAttackOldJobs(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"end", "stop", "row alone told", "row alone", "row alone, no job"} {
		eachGatewayNamed(t, how, func(t *testing.T, b *bundle, gateway string) {
			id, _ := paidCard(t, b, gateway)
			gw := b.stageOf(gateway)
			down := func() {
				require.NoError(t, gw.Faults.Plan(stage.Fault{Kind: stage.FaultResetBefore, Times: manyTimes}))
			}
			switch how {
			case "end":
				down()
				b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
			case "stop":
				if gateway == "gwb" {
					return
				}
				down()
				b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
			default:
				b.unsound = append(b.unsound, "subscriptions_history", "histories_agree")
				b.set(t, id, "status = 'cancelled', ended_at = $2, next_billing_date = NULL", b.clock.Now())
			}
			b.work(t)
			for n := range 3 {
				if how == "row alone, no job" || how == "row alone" && n == 1 {
					continue
				}
				told := how != "row alone"
				_, err := b.jobs.Insert(t.Context(), lifecycle.EndArgs{SubscriptionID: id, Told: told && n%2 == 1}, nil)
				require.NoError(t, err)
				_, err = b.jobs.Insert(t.Context(), lifecycle.StopArgs{SubscriptionID: id}, nil)
				require.NoError(t, err)
			}
			b.eventually(t, "jobs", func() bool {
				return b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind IN ('subscriptions_end_at_gateway', 'subscriptions_stop_recurrence') AND state <> 'completed'") == 0
			})
			b.dumpIntents(t)
			gw.Faults.Clear()
			b.clock.Advance(2 * time.Minute)
			b.runStatusChecks(t, 10*time.Minute)
			if how == "row alone, no job" {
				b.clock.Advance(3 * time.Hour)
				b.reconcile(t, false)
				b.runStatusChecks(t, time.Minute)
			}
			b.dumpIntents(t)
			require.False(t, b.runs(t, gateway, id))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
			if how == "stop" {
				require.NotNil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
			} else {
				require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
			}
		})
	}
}

func eachGatewayNamed(t *testing.T, name string, run func(t *testing.T, b *bundle, gateway string)) {
	t.Helper()
	for _, at := range []string{"gwa", "gwb"} {
		t.Run(name+" "+at, func(t *testing.T) { t.Parallel(); run(t, setup(t), at) })
	}
}

// random ends at once, with faults; afterwards nothing runs.
func TestAttackRandomEnds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		eachGatewayNamed(t, fmt.Sprint(seed), func(t *testing.T, b *bundle, at string) {
			r := rand.New(rand.NewPCG(seed, 7))
			begin := b.paidGWA
			if at == "gwb" {
				begin = b.paidGWB
			}
			id := begin(t)
			admin := b.admin(t)
			gw := b.stageOf(at)
			kinds := []stage.FaultKind{stage.FaultResetBefore, stage.FaultResetAfter, stage.FaultStatus, stage.FaultStatusAfter, stage.FaultBadGateway}
			if r.IntN(2) == 0 {
				b.set(t, id, "expires_at = $2, cancel_at_period_end = true", b.clock.Now())
			}
			for range r.IntN(6) {
				require.NoError(t, gw.Faults.Plan(stage.Fault{Kind: kinds[r.IntN(len(kinds))], Times: 1 + r.IntN(4)}))
			}
			acts := []func(){
				func() { s, _ := b.call(t, http.MethodDelete, subscriptionPath, nil); t.Log("cancel", s) },
				func() { s, _ := b.call(t, http.MethodDelete, subscriptionPath, nil); t.Log("cancel", s) },
				func() { s, _ := b.call(t, http.MethodDelete, subscriptionPath+atEnd, nil); t.Log("at end", s) },
				func() { t.Log("expire", b.service.Expire(t.Context(), id)) },
				func() {
					t.Log("chargeback", admin.Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).Status)
				},
				func() { t.Log("admin", admin.Post("/subscriptions/"+id.String()+"/cancel", object{"reason": "they asked for it"}).Status) },
				func() { _ = b.payments.Intents().CheckDue(t.Context(), gateway.Name(at)) },
				func() { t.Log("old job", b.service.EndAtGateway(t.Context(), id)) },
			}
			var all sync.WaitGroup
			for _, n := range r.Perm(len(acts)) {
				all.Go(acts[n])
			}
			all.Wait()
			b.clock.Advance(time.Duration(r.IntN(3)-1) * 10 * time.Minute)
			gw.Faults.Clear()
			b.settle(t)
			b.clock.Advance(15 * time.Minute)
			for range 3 {
				_ = b.service.Sweep(t.Context())
				b.runStatusChecks(t, 2*time.Minute)
				b.settle(t)
			}
			b.dumpIntents(t)
			t.Log(b.status(t, id), b.history(t, id))
			if !lifecycleEnded(b.status(t, id)) {
				b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
			}
			b.runStatusChecks(t, time.Minute)
			require.False(t, b.runs(t, at, id))
			require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
		})
	}
}

func lifecycleEnded(s string) bool { return s == "cancelled" || s == "expired" }

// random cancels at the period's end and resumptions, one after the other: the last acknowledged one stands.
func TestAttackRandomResumptions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWB(t)
			r := rand.New(rand.NewPCG(seed, 8))
			gw := b.stageOf("gwb")
			kinds := []stage.FaultKind{stage.FaultResetBefore, stage.FaultResetAfter, stage.FaultStatus, stage.FaultStatusAfter, stage.FaultBadGateway}
			answers := []stage.OddResponse{stage.OddForeign, stage.OddTruncated, stage.OddObject, stage.OddNull, stage.OddEmpty}
			var wanted *bool
			var log []string
			for range 12 {
				gw.Faults.Clear()
				for range r.IntN(3) {
					if r.IntN(3) == 0 {
						require.NoError(t, gw.Faults.Plan(stage.Fault{Kind: stage.FaultOddAfter, Answer: answers[r.IntN(len(answers))], Times: 1 + r.IntN(3)}))
					} else {
						require.NoError(t, gw.Faults.Plan(stage.Fault{Kind: kinds[r.IntN(len(kinds))], Times: 1 + r.IntN(3)}))
					}
				}
				switch r.IntN(4) {
				case 0:
					s, _ := b.call(t, http.MethodDelete, subscriptionPath+atEnd, nil)
					log = append(log, fmt.Sprint("end ", s))
					if s == 200 {
						wanted = new(true)
					} else if s == 503 { // not known
						wanted = nil
					}
				case 1:
					s, a := b.call(t, http.MethodPut, renewPath, object{})
					log = append(log, fmt.Sprint("resume ", s, a["info"]))
					if s == 200 { // also pending: it is carried out
						wanted = new(false)
					}
				case 2:
					b.clock.Advance(time.Duration(r.IntN(200)) * time.Second)
					b.runDueStatusChecks(t)
					log = append(log, "checks")
				case 3:
					gw.Faults.Clear()
					b.settle(t)
					_ = b.service.Sweep(t.Context())
					log = append(log, "sweep")
				}
			}
			gw.Faults.Clear()
			b.settle(t)
			for range 3 {
				b.runStatusChecks(t, 3*time.Minute)
				_ = b.service.Sweep(t.Context())
				b.settle(t)
			}
			t.Log(log)
			b.dumpIntents(t)
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open' AND kind <> 'subscription_gone'"))
			require.Equal(t, b.endsAtB(t, id), column[bool](t, b, id, "cancel_at_period_end"), log)
			if wanted != nil {
				require.Equal(t, *wanted, b.endsAtB(t, id), log)
			}
		})
	}
}

var _ objectid.ID
