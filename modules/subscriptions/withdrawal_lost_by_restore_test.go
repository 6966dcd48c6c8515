package subscriptions_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
)

// keepRow keeps the row of a subscription as it stands. Restored puts it back, without what
// has become known of it and of refunds since.
func keepRow(t *testing.T, b *bundle, id objectid.ID) (restored func()) {
	t.Helper()
	row := b.text(t, "SELECT to_jsonb(s)::text FROM subscriptions.subscriptions s WHERE id = $1", id)
	moves := b.count(t, "SELECT max(id) FROM subscriptions.transitions")
	return func() {
		t.Helper()
		tx, err := b.db.Begin(t.Context())
		require.NoError(t, err)
		for _, statement := range []string{
			"SET LOCAL session_replication_role = replica",
			"DELETE FROM jobs.river_job WHERE args ->> 'subscription_id' = '" + id.String() + "'",
			"DELETE FROM subscriptions.subscriptions WHERE id = '" + id.String() + "'",
			"UPDATE accounts.users SET current_subscription_id = '" + id.String() + "' WHERE id = '" +
				b.customer.ID.String() + "'",
		} {
			_, err = tx.Exec(t.Context(), statement)
			require.NoError(t, err)
		}
		_, err = tx.Exec(t.Context(), "DELETE FROM subscriptions.transitions WHERE id > $1", moves)
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(),
			"INSERT INTO subscriptions.subscriptions SELECT r.* FROM jsonb_populate_record(NULL::subscriptions.subscriptions, $1) r", row)
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
		loseRefundRows(t, b)
		_, err = b.db.Exec(t.Context(), "UPDATE payments.database_marks SET mark = 'restored'")
		require.NoError(t, err)
		require.Equal(t, "active", b.status(t, id))
	}
}

// TestAWithdrawalThatARestoreLost: its refund bears at the gateway that it was one, so that
// the subscription ends as it had, once.
func TestAWithdrawalThatARestoreLost(t *testing.T) {
	t.Parallel()
	ways := maps.Clone(begins)
	ways["renewed"] = func(b *bundle, t *testing.T) objectid.ID {
		b.paidGWA(t)
		id := renewed(b.expect(t, 200, "PUT", renewPath, goodCard()))
		b.settle(t)
		return id
	}
	for name, begin := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			id := begin(b, t)
			b.gateways.Sandbox.GWA.SetBalance(10_000_000)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			restored := keepRow(t, b, id)
			b.clock.Advance(time.Minute)
			b.expect(t, 200, "POST", withdrawPath, nil)
			require.Equal(t, "cancelled", b.status(t, id))
			before := b.history(t, id)
			restored()

			dry := b.reconcile(t, true)
			require.NotZero(t, dry.Verdicts[payments.Repairable], "%+v", dry.Findings)
			require.Equal(t, "active", b.status(t, id))
			r := b.reconcile(t, false)
			require.Equal(t, "cancelled", b.status(t, id), "%+v", r.Findings)
			require.Contains(t, before[len(before)-1], "active>cancelled withdrawn")
			after := b.history(t, id) // gateway B's events tell of the recurrence's end first
			require.Contains(t, after[len(after)-1], ">cancelled withdrawn customer")
			require.Zero(t, b.count(t, "SELECT count(*) FROM accounts.users WHERE current_subscription_id IS NOT NULL"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.disputes"))
			require.Equal(t, 4990,
				b.count(t, "SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done' AND kind = 'refund'"))
			again := b.expect(t, 200, "POST", withdrawPath, nil)
			require.NotEmpty(t, again["refunded_at"])
			require.NotZero(t, again["refund_amount"])
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
			b.work(t)
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
			r = b.reconcile(t, false)
			require.Zero(t, r.Verdicts[payments.Repaired], "%+v", r.Findings)
			require.NoError(t, b.payments.Comparison().AcceptDatabase(t.Context()))
		})
	}
}
