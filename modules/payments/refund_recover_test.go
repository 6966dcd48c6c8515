package payments_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/testutil/sandbox/stage"
)

// runStatusChecks makes the checks that are due after a while.
func (s *shop) runStatusChecks(name gateway.Name, after time.Duration) {
	s.t.Helper()
	s.clock.Advance(after)
	require.NoError(s.t, s.svc.Intents().CheckDue(s.t.Context(), name))
}

// refundCalls counts the calls that asked the gateway for a refund.
func (s *shop) refundCalls(p gateway.LedgerPayment) (n int) {
	s.t.Helper()
	st, path := s.g.Sandbox.GWA.Stage(), "/v3/payments/"+p.Payment.ID+"/refund"
	if p.Gateway == gateway.GWB {
		st, path = s.g.Sandbox.GWB.Stage(), "/v1/refunds"
	}
	for _, e := range st.Journal.Entries(stage.EntryCall) {
		if e.Method == http.MethodPost && e.Path == path {
			n++
		}
	}
	return n
}

// TestARefundThatNeverArrivedIsMadeAfterProof: an empty check says nothing while the
// call may be under way, and one says nothing by itself.
func TestARefundThatNeverArrivedIsMadeAfterProof(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		paid := s.lostRefund(name, 2000, stage.FaultResetBefore)
		tried := s.refundCalls(paid)
		for range 3 {
			s.runStatusChecks(name, 20*time.Second)
		}
		require.Equal(t, tried, s.refundCalls(paid), "the call may still be under way")
		misses := map[gateway.Name]int{gateway.GWA: 4, gateway.GWB: 2}[name]
		s.runStatusChecks(name, time.Minute)
		for miss := 1; miss < misses; miss++ {
			require.Equal(t, tried, s.refundCalls(paid), "after %d empty checks", miss)
			require.Equal(t, gateway.RefundStatusRequested, s.refunds()[0].Status)
			s.runStatusChecks(name, 10*time.Minute)
		}
		require.Equal(t, tried+1, s.refundCalls(paid), "made again, once")
		require.EqualValues(t, 2000, s.refunded())
		require.Len(t, s.refundsAt(paid), 1)
		require.Zero(t, s.count("SELECT count(*) FROM payments.intents WHERE state = 'open'"))
		require.NoError(t, s.refund(paid, 2000), "nothing keeps the next one waiting")
	})
}

func TestARefundThatIsRefusedAfterProofIsFailed(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		paid := s.lostRefund(name, 2000, stage.FaultResetBefore)
		body := `{"errors":[{"code":"invalid_action","description":"Saldo insuficiente para realizar a operação."}]}`
		if name == gateway.GWB {
			body = `{"error":{"type":"invalid_request_error","code":"charge_disputed","message":"It has been charged back."}}`
		}
		s.refundFault(paid, stage.Fault{Kind: stage.FaultStatus, Status: 400, Body: body})
		for range 5 {
			s.runStatusChecks(name, 10*time.Minute)
		}
		require.Equal(t, gateway.RefundStatusFailed, s.refunds()[0].Status)
		require.Zero(t, s.count("SELECT count(*) FROM payments.intents WHERE state = 'open'"))
	})
}

// TestARefundGivenBackMeanwhileIsNotMadeAgain: somebody gave it back at the console.
func TestARefundGivenBackMeanwhileIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		paid := s.lostRefund(name, 24000, stage.FaultResetBefore)
		s.atConsole(paid, 24000)
		tried := s.refundCalls(paid)
		for range 5 {
			s.runStatusChecks(name, 10*time.Minute)
		}
		require.Equal(t, tried, s.refundCalls(paid))
		require.EqualValues(t, 24000, s.refunded())
		require.Len(t, s.refundsAt(paid), 1)
		require.Equal(t, 1, s.count("SELECT count(*) FROM payments.refunds WHERE status = 'failed'"))
	})
}

func TestARefundWhoseJobIsLostIsStillAskedAbout(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		s.lostRefund(name, 2000, stage.FaultResetAfter)
		for _, lost := range []string{"DELETE FROM payments.intents", "DELETE FROM jobs.river_job"} {
			_, err := s.pool.Exec(t.Context(), lost)
			require.NoError(t, err)
		}
		s.runStatusChecks(name, time.Hour)
		require.Zero(t, s.refunded())
		require.NoError(t, s.svc.AdoptRefunds(t.Context()))
		s.runStatusChecks(name, time.Second)
		require.EqualValues(t, 2000, s.refunded())
	})
}

// atPanel gives back a part of a payment at gateway A's own panel, which tells no reason.
func (s *shop) atPanel(p gateway.LedgerPayment, reais string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		s.g.Sandbox.GWAURL()+"/payments/"+p.Payment.ID+"/refund", strings.NewReader(`{"value": `+reais+`}`))
	require.NoError(s.t, err)
	req.Header.Set("access_token", "$aact_hmlg_sandbox")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	require.Equal(s.t, http.StatusOK, res.StatusCode)
}

// TestARefundOfTheSameValueAtThePanel, while the answer to ours is lost: ours is told by
// its mark, and the other is booked beside it. What nobody marked is never given back twice.
func TestARefundOfTheSameValueAtThePanel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind  stage.FaultKind
		given money.Cents
		rows  int
	}{{stage.FaultResetAfter, 4000, 2}, {stage.FaultResetBefore, 2000, 1}} {
		s := openShop(t)
		paid := s.sold(gateway.GWA)
		faults := s.refundFault(paid, stage.Fault{Kind: tc.kind})
		require.ErrorIs(t, s.refund(paid, 2000), gateway.ErrOutcomeUnknown)
		faults.Clear()
		_, err := s.pool.Exec(t.Context(),
			"UPDATE payments.refunds SET requested_at = '2020-01-01'") // the sandbox has a clock of its own
		require.NoError(t, err)
		s.atPanel(paid, "20.00")
		for range 5 {
			s.runStatusChecks(gateway.GWA, 10*time.Minute)
		}
		require.Equal(t, tc.given, s.refunded())
		require.Len(t, s.refundsAt(paid), tc.rows, "not made again")
		require.Equal(t, tc.rows, s.count("SELECT count(*) FROM payments.refunds WHERE status = 'done'"))
		require.Zero(t, s.count("SELECT count(*) FROM payments.intents WHERE state = 'open'"))
		require.ErrorIs(t, s.refund(paid, 24000-tc.given+1), payments.ErrRefundTooMuch)
	}
}
