package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

const emptyList = `{"object":"list","hasMore":false,"totalCount":0,"limit":100,"offset":0,"data":[]}`

// dueDebit is an automatic PIX whose next debit is to be ordered.
func dueDebit(t *testing.T, b *bundle) objectid.ID {
	t.Helper()
	id, _ := b.authorized(t)
	next := column[time.Time](t, b, id, "next_billing_date")
	by := next.AddDate(0, 0, -6).Sub(b.clock.Now())
	b.clock.Advance(by)
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(next.AddDate(0, 0, -6).Sub(b.gateways.Sandbox.GWA.Now())))
	b.settle(t)
	return id
}

// debitFaulted orders the debit that is due by a call that meets a fault.
func debitFaulted(t *testing.T, b *bundle, f stage.Fault) (objectid.ID, *stage.Faults) {
	t.Helper()
	id := dueDebit(t, b)
	faults := b.gateways.Sandbox.GWA.Stage().Faults
	f.Method, f.Path, f.Times = http.MethodPost, "/v3/payments", 1
	require.NoError(t, faults.Plan(f))
	require.NoError(t, b.service.Debit(t.Context(), id))
	return id, faults
}

// checkGatewayA lets time pass, and has gateway A asked about what is due.
func checkGatewayA(t *testing.T, b *bundle, by time.Duration) {
	t.Helper()
	b.clock.Advance(by)
	require.NoError(t, b.payments.Intents().CheckDue(t.Context(), "gwa"))
	require.NoError(t, b.service.Sweep(t.Context()))
}

func debitsOrdered(t *testing.T, b *bundle, id objectid.ID) (n int) {
	t.Helper()
	for _, c := range b.gateways.Charges(t) {
		if c.LocalID == id {
			n++
		}
	}
	return n
}

// TestOneEmptyCheckOrdersNoSecondDebit: the answer is lost, and the gateway's search lags.
func TestOneEmptyCheckOrdersNoSecondDebit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, faults := debitFaulted(t, b, stage.Fault{Kind: stage.FaultResetAfter})
	require.NoError(t, faults.Plan(stage.Fault{
		Method: http.MethodGet, Path: "/v3/payments", Kind: stage.FaultStatus, Status: http.StatusOK, Body: emptyList,
		Times: 4,
	}))
	for range 12 {
		checkGatewayA(t, b, 20*time.Second)
	}
	for range 20 {
		checkGatewayA(t, b, 2*time.Minute)
	}
	require.Equal(t, 1, debitsOrdered(t, b, id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'debit' AND state = 'done'"))
}

// TestDebitThatWasNotMadeIsOrderedAgainAfterFourEmptyChecks, and not before the call's own
// time limit has passed.
func TestDebitThatWasNotMadeIsOrderedAgainAfterFourEmptyChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := debitFaulted(t, b, stage.Fault{Kind: stage.FaultResetBefore})
	since := b.clock.Now()
	for debitsOrdered(t, b, id) == 0 && b.clock.Now().Sub(since) < time.Hour {
		checkGatewayA(t, b, 20*time.Second)
		misses := b.count(t, "SELECT count(*) FROM payments.intent_steps WHERE outcome = 'not_there'")
		require.True(t, misses >= 3 || debitsOrdered(t, b, id) == 0, "ordered again after %d empty checks", misses)
	}
	require.Equal(t, 1, debitsOrdered(t, b, id))
	require.Greater(t, b.clock.Now().Sub(since), 8*time.Minute)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL"))
}

// TestACheckThatStoodStillFailsNoOrderedDebit: what it was told is older than what another has found since.
func TestACheckThatStoodStillFailsNoOrderedDebit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := debitFaulted(t, b, stage.Fault{Kind: stage.FaultResetAfter})
	open, ok, err := b.payments.Intents().OpenOf(t.Context(), b.db, id)
	require.NoError(t, err)
	require.True(t, ok)
	ordered := func() int {
		return b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL")
	}
	require.NoError(t, b.service.SettleDebitLate(t.Context(), open, func() {
		require.Zero(t, ordered())
		checkGatewayA(t, b, 20*time.Second)
		require.Equal(t, 1, ordered())
	}))
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE failed_at IS NOT NULL"))
}

// TestDebitThatTheGatewayRefusesIsOrderedLater: its refusal of the first call proves that
// nothing was made.
func TestDebitThatTheGatewayRefusesIsOrderedLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := debitFaulted(t, b, stage.Fault{Kind: stage.FaultStatus, Status: http.StatusBadRequest})
	require.Zero(t, debitsOrdered(t, b, id))
	for range 20 {
		checkGatewayA(t, b, 2*time.Minute)
	}
	require.Equal(t, 1, debitsOrdered(t, b, id))
}

// TestMoneyOfADebitThatIsNotKnown: it comes while the gateway's search shows nothing; the
// debit is found in the end, and known to be paid.
func TestMoneyOfADebitThatIsNotKnown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := debitFaulted(t, b, stage.Fault{Kind: stage.FaultResetAfter})
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(8*days))
	b.settle(t)
	checkGatewayA(t, b, 8*days)
	checkGatewayA(t, b, time.Hour)
	require.Equal(t, 1, debitsOrdered(t, b, id))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM subscriptions.debits WHERE paid_at IS NOT NULL AND failed_at IS NULL"))
}

// TestAPauseForgetsNoDebitThatIsBeingLookedFor: after an outage of two hours the pause is the
// first to hear that the gateway shows none, which proves nothing yet. Once it is proved, and
// the money is disputed no more, the cycle is ordered, once.
func TestAPauseForgetsNoDebitThatIsBeingLookedFor(t *testing.T) {
	t.Parallel()
	for kind, lags := range map[stage.FaultKind]int{stage.FaultResetBefore: 0, stage.FaultResetAfter: 2} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, faults := debitFaulted(t, b, stage.Fault{Kind: kind})
			admin := b.admin(t)
			require.NoError(t, faults.Plan(stage.Fault{
				Method: http.MethodGet, Path: "/v", Kind: stage.FaultResetBefore, Times: manyTimes,
			}))
			checkGatewayA(t, b, 2*time.Hour)
			admin.Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).Expect(200)
			faults.Clear()
			if lags > 0 {
				require.NoError(t, faults.Plan(stage.Fault{
					Method: http.MethodGet, Path: "/v3/payments", Kind: stage.FaultStatus, Status: http.StatusOK,
					Body: emptyList, Times: lags,
				}))
			}
			require.NoError(t, b.service.Sweep(t.Context())) // before any look of the debit's own
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits"),
				"one empty answer proves nothing")
			for range 40 {
				checkGatewayA(t, b, time.Minute)
			}
			require.Equal(t, "paused", b.pause(t, id))
			require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.debits"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
			require.Zero(t, debitsOrdered(t, b, id), "nothing is taken that is disputed")

			admin.Post("/admin/subscriptions/"+id.String()+"/activate", nil).Expect(200)
			for range 40 {
				checkGatewayA(t, b, time.Minute)
			}
			require.Equal(t, "resumed", b.pause(t, id))
			require.Equal(t, 1, debitsOrdered(t, b, id))
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
		})
	}
}
