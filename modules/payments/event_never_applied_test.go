package payments_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/pgtest"
)

// TestEventThatCanNeverBeApplied: it is ignored at once, with the reason, instead of
// standing in the queue for a job that cannot help it.
func TestEventThatCanNeverBeApplied(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, tc := range []struct{ sample, from, to, reason string }{
		{
			sample: "gwa.PAYMENT_CONFIRMED.card-subscription", from: `"value": 49.9,`, to: `"value": -49.9,`,
			reason: "a negative amount",
		},
		{
			sample: "gwa.PAYMENT_CONFIRMED.card-subscription", from: `"value": 49.9,`, to: `"value": 99999999999999,`,
			reason: "an amount beyond all bounds",
		},
		{
			sample: "gwa.PAYMENT_CONFIRMED.card-subscription", from: `"pay_a1b2c3d4e5f6g7h8"`, to: `"pay_\u0000"`,
			reason: "an id that cannot be one",
		},
		{
			sample: "gwa.PAYMENT_CONFIRMED.card-subscription", from: `"pay_a1b2c3d4e5f6g7h8"`,
			to: `"` + strings.Repeat("p", 3000) + `"`, reason: "an id that cannot be one",
		},
		{
			sample: "gwa.PAYMENT_REFUNDED.pix-full", from: `"value": 240.0`, to: `"value": -240.0`,
			reason: "a negative amount",
		},
		{
			sample: "gwb.invoice.paid.first.dahlia", from: `"amount_paid": 4990`, to: `"amount_paid": -4990`,
			reason: "a negative amount",
		},
		{
			sample: "gwb.invoice.payment_failed.renewal.dahlia", from: `"attempt_count": 1`, to: `"attempt_count": -1`,
			reason: "a number of attempts beyond all bounds",
		},
		{
			sample: "gwb.customer.subscription.created.incomplete.dahlia", from: `"created": `, to: `"created": 99999`,
			reason: "a date beyond all bounds",
		},
		{sample: "gwb.charge.dispute.created", from: `"amount": `, to: `"amount": -`, reason: "a negative amount"},
	} {
		body := sample(t, tc.sample)
		require.Contains(t, string(body), tc.from, tc.sample)
		body = bytes.ReplaceAll(body, []byte(tc.from), []byte(tc.to))
		for range 2 {
			a := b.deliver(tc.sample[:3], body)
			require.Equal(t, http.StatusOK, a.status, a.raw)
			require.Equal(t, gateway.ResultIgnored, a.body.Result.Status, "%s: %s", tc.sample, a.raw)
			require.EqualValues(t, "not an event that can be applied: "+tc.reason, a.body.Result.Reason, tc.sample)
		}
	}
	require.Zero(t, b.count("SELECT count(*) FROM public.effects"))
	require.Zero(t, b.count("SELECT count(*) FROM jobs.river_job"), "no job tries them again")
	require.Equal(t, 18, b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND signature_valid"))
	pgtest.RequireInvariants(t, b.pool, b.clock.Now())
}

// TestQueuedEventThatCanNeverBeApplied: one that was queued before anybody looked is
// ended by its job.
func TestQueuedEventThatCanNeverBeApplied(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.failing.Store(true)
	require.Equal(t, gateway.ResultQueued,
		b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")).body.Result.Status)
	_, err := b.pool.Exec(t.Context(),
		`UPDATE payments.webhook_logs SET payload = jsonb_set(payload, '{payment,value}', '-1')`)
	require.NoError(t, err)
	b.work()
	require.Eventually(t, func() bool {
		return b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'reason' LIKE '%a negative amount'") == 1
	}, time.Minute, 20*time.Millisecond)
}
