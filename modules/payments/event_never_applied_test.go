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
		{"gwa.PAYMENT_CONFIRMED.card-subscription", `"value": 49.9,`, `"value": -49.9,`, "a negative amount"},
		{"gwa.PAYMENT_CONFIRMED.card-subscription", `"value": 49.9,`, `"value": 99999999999999,`, "an amount beyond all bounds"},
		{"gwa.PAYMENT_CONFIRMED.card-subscription", `"pay_a1b2c3d4e5f6g7h8"`, `"pay_\u0000"`, "an id that cannot be one"},
		{"gwa.PAYMENT_CONFIRMED.card-subscription", `"pay_a1b2c3d4e5f6g7h8"`, `"` + strings.Repeat("p", 3000) + `"`, "an id that cannot be one"},
		{"gwa.PAYMENT_REFUNDED.pix-full", `"value": 240.0`, `"value": -240.0`, "a negative amount"},
		{"gwb.invoice.paid.first.dahlia", `"amount_paid": 4990`, `"amount_paid": -4990`, "a negative amount"},
		{"gwb.invoice.payment_failed.renewal.dahlia", `"attempt_count": 1`, `"attempt_count": -1`, "a number of attempts beyond all bounds"},
		{"gwb.customer.subscription.created.incomplete.dahlia", `"created": `, `"created": 99999`, "a date beyond all bounds"},
		{"gwb.charge.dispute.created", `"amount": `, `"amount": -`, "a negative amount"},
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
	pgtest.Sound(t, b.pool, b.clock.Now())
}

// TestQueuedEventThatCanNeverBeApplied: one that was queued before anybody looked is
// ended by its job.
func TestQueuedEventThatCanNeverBeApplied(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.failing.Store(true)
	require.Equal(t, gateway.ResultQueued, b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")).body.Result.Status)
	_, err := b.pool.Exec(t.Context(), `UPDATE payments.webhook_logs SET payload = jsonb_set(payload, '{payment,value}', '-1')`)
	require.NoError(t, err)
	b.work()
	require.Eventually(t, func() bool {
		return b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'reason' LIKE '%a negative amount'") == 1
	}, 10*time.Second, 20*time.Millisecond)
}
