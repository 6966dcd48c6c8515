package subscriptions_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// whileLocked makes two requests while a table can be read and not written: the first waits
// to write there, and the second is made then. It goes on once the second waits, too, or is
// answered.
func whileLocked(t *testing.T, b *bundle, table string, before, after func() int) (first, second int) {
	t.Helper()
	b.settle(t)
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "LOCK TABLE "+table+" IN SHARE MODE")
	require.NoError(t, err)
	waiting := func() int {
		return b.count(t,
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	}
	var wg sync.WaitGroup
	wg.Go(func() { first = before() })
	eventually(t, "the first waits", func() bool { return waiting() == 1 })
	responded := make(chan struct{})
	wg.Go(func() {
		defer close(responded)
		second = after()
	})
	eventually(t, "the second waits or is answered", func() bool {
		select {
		case <-responded:
			return true
		default:
			return waiting() > 1
		}
	})
	require.NoError(t, tx.Rollback(t.Context()))
	wg.Wait()
	return first, second
}

// takings are the ways in which people take a subscription's money.
func takings(t *testing.T, b *bundle, id objectid.ID) (refund, chargeback, undo func() int) {
	t.Helper()
	admin, path := b.admin(t), "/subscriptions/"+id.String()
	refund = func() int { return admin.Post(path+"/refund", object{"reason": "as agreed"}).Status }
	chargeback = func() int { return admin.Post(path+"/chargeback", object{"reason": "told by the bank"}).Status }
	undo = func() int {
		return admin.Delete(path+"/chargebacks/"+chargebacks(t, b, id)[0]["chargeback_id"].(string),
			object{"reason": "by mistake"}).Status
	}
	return refund, chargeback, undo
}

// TestMoneyIsTakenOnce: of a refund and a chargeback at once the second sees what the first
// took, also when each knows the payment by another name.
func TestMoneyIsTakenOnce(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, gateway string, d disputes, id objectid.ID) {
		refund, chargeback, undo := takings(t, b, id)
		first, second := whileLocked(t, b, "payments.disputes", chargeback, refund)
		require.Equal(t, []int{200, 422}, []int{first, second}, "the chargeback was first")
		require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"))
		require.Equal(t, 200, undo())

		if gateway == "gwb" { // at gateway A one dispute is two events
			var dispute string
			_, second = whileLocked(t, b, "payments.disputes", func() int {
				dispute = d.open(b, t, id)
				return 0
			}, refund)
			require.Equal(t, 422, second, "the gateway's dispute was first")
			d.close(b, t, dispute, true)
		}

		first, second = whileLocked(t, b, "payments.intents", refund, chargeback)
		require.Equal(t, []int{200, 422}, []int{first, second}, "the refund was first")
		b.settle(t)
		require.Equal(t, 4990, b.count(t, "SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done'"))
		require.Zero(t, b.count(t, "SELECT count(*) FROM payments.disputes WHERE state IN ('open', 'lost')"))
	})
}

// TestAWithdrawalAndAChargebackAtOnce: the one that came first holds, and what the customer
// was told to get back they get, also when a dispute of the gateway came between.
func TestAWithdrawalAndAChargebackAtOnce(t *testing.T) {
	t.Parallel()
	b, d := withdrawable(t), disputesAt["gwb"]
	id := b.paidGWB(t)
	_, chargeback, undo := takings(t, b, id)
	var body object
	withdraw := func() (status int) {
		status, body = b.call(t, http.MethodPost, withdrawPath, nil)
		return status
	}
	first, second := whileLocked(t, b, "payments.disputes", chargeback, withdraw)
	require.Equal(t, []int{200, 422}, []int{first, second})
	refused(t, body, "WITHDRAWAL_NOT_ALLOWED", "")
	require.Equal(t, "suspended", b.status(t, id))
	require.Zero(t, b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_give_back'"))
	require.Equal(t, 200, undo())

	faults := b.gateways.Sandbox.GWB.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{
		Method: http.MethodGet, Path: "/v1/refunds", Kind: stage.FaultStatus, Status: http.StatusServiceUnavailable,
		Times: manyTimes,
	}))
	require.Equal(t, 200, withdraw())
	require.EqualValues(t, 4990, body["refund_amount"])
	require.Nil(t, body["refunded_at"])
	require.Equal(t, 409, chargeback(), "the money was promised, and is not asked for yet")
	faults.Clear()

	dispute := d.open(b, t, id)
	require.NoError(t, b.service.GiveBack(t.Context(), id))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"), "the bank decides")
	jobs := b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_give_back'")
	d.close(b, t, dispute, true)
	require.Equal(t, jobs+1, b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_give_back'"))
	require.NoError(t, b.service.GiveBack(t.Context(), id))
	require.Equal(t, 4990, b.count(t, "SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done'"))
	require.Equal(t, 422, chargeback(), "nothing is left")
	require.NotNil(t, b.expect(t, 200, http.MethodPost, withdrawPath, nil)["refunded_at"])
}
