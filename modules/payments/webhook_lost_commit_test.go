package payments_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/pgtest"
)

// The delivery is told once more what became of its event, and is logged once.
func TestADeliveryWhoseCommitIsNotAnsweredIsNoFailure(t *testing.T) {
	t.Parallel()
	pool, armed := pgtest.LosingCommits(t, pgtest.DB(t))
	b := setupOn(t, pool)
	armed.Store(true)
	res := b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	require.False(t, armed.Load(), "nothing was committed")
	require.Equal(t, http.StatusOK, res.status, res.raw)
	require.Equal(t, gateway.ResultApplied, res.body.Result.Status)
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs"))
}
