package subscriptions_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
)

// loseRefundRows takes what is known of refunds out of the database, as the restore of an
// older one does.
func loseRefundRows(t *testing.T, b *bundle) {
	t.Helper()
	_, err := b.db.Exec(t.Context(), `SET session_replication_role = replica;
		DELETE FROM payments.intent_steps WHERE intent_id IN (SELECT id FROM payments.intents WHERE kind = 'refund'); DELETE FROM payments.intents WHERE kind = 'refund';
		DELETE FROM payments.refunds; DELETE FROM payments.refund_transitions; DELETE FROM payments.refund_reports; DELETE FROM payments.processed_events; DELETE FROM payments.webhook_logs;
		UPDATE subscriptions.subscriptions SET total_refunded_cents = 0;
		SET session_replication_role = DEFAULT`)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), "SELECT finance.rebuild()")
	require.NoError(t, err)
}

// TestARefundThatARestoreLostIsNotPaidAgain: the gateway's list has it, so that the same
// request is told of it once, with the money booked, and goes through when it is repeated.
// A PIX that was given back by the platform is not taken for one that its bank took back.
func TestARefundThatARestoreLostIsNotPaidAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paid func(*bundle, *testing.T) objectid.ID
		path string
		part object
	}{
		"gwa card": {
			(*bundle).paidGWA, "/admin/gwa/subscriptions/%s/refund", object{"reason": "as agreed", "value": 5.0},
		},
		"gwa pix": {
			begins["gwa pix"], "/admin/gwa/subscriptions/%s/refund", object{"reason": "as agreed", "value": 5.0},
		},
		"gwb card": {
			(*bundle).paidGWB, "/admin/gwb/subscriptions/%s/refund", object{"reason": "as agreed", "amount": 500},
		},
		"gwb pix": {
			begins["gwb pix"], "/admin/gwb/subscriptions/%s/refund", object{"reason": "as agreed", "amount": 500},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, admin := c.paid(b, t), b.admin(t)
			b.gateways.Sandbox.GWA.SetBalance(10_000_000)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			path := fmt.Sprintf(c.path, id)
			admin.Post(path, c.part).Expect(200)
			first := b.text(t, "SELECT id FROM payments.refunds")
			loseRefundRows(t, b)

			again := admin.With("Idempotency-Key", "one") // also by the same key
			conflict := again.Post(path, c.part).Expect(409)
			require.Equal(t, "CONFLICT", conflict.Code())
			require.Contains(t, conflict.Detail(), "already given back R$ 5.00 at 20")
			require.Contains(t, conflict.Detail(), "which was not known here when you asked")
			require.Equal(t, 500,
				b.count(t, "SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done' AND kind = 'refund'"),
				"booked, and nothing more was paid")
			require.Equal(t, first, b.text(t, "SELECT id FROM payments.refunds"), "by its own id")
			require.Equal(t, int64(500), column[int64](t, b, id, "total_refunded_cents"))
			require.Equal(t, "active", b.status(t, id))

			again.Post(path, c.part).Expect(200)
			require.Equal(t, 2, b.count(t,
				"SELECT count(*) FROM payments.refunds WHERE status = 'done' AND amount_cents = 500"))
			require.Equal(t, int64(1000), column[int64](t, b, id, "total_refunded_cents"))

			// The whole of it, of which the last part is lost: nothing is left, and no bank took it.
			rest := object{"reason": "the rest"}
			admin.Post(path, rest).Expect(200)
			loseRefundRows(t, b)
			conflict = admin.Post(path, rest).Expect(409)
			require.Contains(t, conflict.Detail(), "R$ "+money.Cents(3990).String())
			require.Equal(t, "REFUND_NOT_ALLOWED", admin.Post(path, rest).Expect(422).Code())
			require.Equal(t, 3, b.count(t,
				"SELECT count(*) FROM payments.refunds WHERE status = 'done' AND kind = 'refund'"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.disputes"))
			require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"))
			require.Equal(t, "active", b.status(t, id))
			require.NoError(t, b.payments.Comparison().AcceptDatabase(t.Context()))
		})
	}
}
