package subscriptions_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoRefundOfADisputedPayment: the refusal names the dispute, and the gateway is not
// asked.
func TestNoRefundOfADisputedPayment(t *testing.T) {
	t.Parallel()
	for gateway, d := range disputesAt {
		b := setup(t)
		id, admin := d.begin(b, t), b.admin(t)
		dispute := d.open(b, t, id)
		name := b.text(t, "SELECT gateway_dispute_id FROM payments.disputes")
		for _, state := range []string{"open", "lost"} {
			if state == "lost" {
				d.close(b, t, dispute, false)
			}
			for _, path := range []string{
				"/admin/" + gateway + "/subscriptions/" + id.String() + "/refund",
				"/subscriptions/" + id.String() + "/refund",
			} {
				a := admin.Post(path, object{"reason": "They ask for it"}).Expect(422)
				require.Equal(t, "REFUND_NOT_ALLOWED", a.Code(), state)
				require.Contains(t, a.Detail(), name)
			}
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"))
		}
	}
}

// TestARefundAfterAWonDispute: the money is the platform's again, which may give it back
// like any other.
func TestARefundAfterAWonDispute(t *testing.T) {
	t.Parallel()
	for gateway, d := range disputesAt {
		b := setup(t)
		id, admin := d.begin(b, t), b.admin(t)
		d.close(b, t, d.open(b, t, id), true)
		admin.Post("/admin/"+gateway+"/subscriptions/"+id.String()+"/refund", object{"reason": "They ask for it"}).
			Expect(200)
		b.settle(t)
		require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"), gateway)
		require.Empty(t, b.gateways.Paid(t), gateway)
	}
}
