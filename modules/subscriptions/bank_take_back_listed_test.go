package subscriptions_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox"
)

// TestWhatTheBankTookIsNotLeftToPeople: the payer's bank takes all of a PIX, and its gateway
// tells of it only when it is asked for a refund of our own. Whichever comes first, the
// money or its place on the list, nothing is left to decide.
func TestWhatTheBankTookIsNotLeftToPeople(t *testing.T) {
	t.Parallel()
	const note = "The payer's bank took all of the payment back: nothing is left of it."
	lost := func(t *testing.T, b *bundle, payment string) {
		t.Helper()
		row := b.listed(t, payment)
		require.Equal(t, "kept", row["state"])
		require.Equal(t, note, row["note"])
		require.Equal(t, "med lost",
			b.text(t, "SELECT kind || ' ' || state FROM payments.disputes WHERE payment_ref = $1", payment))
		pgtest.RequireInvariants(t, b.db, b.clock.Now(), "subscription_status_is_history") // of latePix
	}
	t.Run("withdrawal", func(t *testing.T) {
		t.Parallel()
		b := withdrawable(t)
		b.listen()
		id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
		payment := column[string](t, b, id, "pix_payment_id")
		_, err := b.gateways.Sandbox.GWA.Pay(payment)
		require.NoError(t, err)
		b.settle(t)
		b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
		_, err = b.gateways.Sandbox.GWA.TakeBack(payment, 0)
		require.NoError(t, err)
		b.client(t, objectid.New().String()).Post(withdrawPath, nil).Expect(200)
		b.settle(t)
		require.Equal(t, "cancelled", b.status(t, id))
		lost(t, b, payment)

		_, err = b.db.Exec(t.Context(),
			`WITH u AS (UPDATE payments.unapplied_payments SET state = 'open', note = 'payments: dispute of the payment is lost' RETURNING id)
			INSERT INTO payments.unapplied_decisions (unapplied_id, at, from_state, to_state, source) SELECT id, now(), 'kept', 'open', 'gateway' FROM u`)
		require.NoError(t, err)
		b.refundUnapplied(t)
		lost(t, b, payment) // what an earlier release left open
	})
	t.Run("refund of the list", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, _, payment := latePix(t, b, "gwa")
		b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
		_, err := b.gateways.Sandbox.GWA.TakeBack(payment, 0)
		require.NoError(t, err)
		detail := b.admin(t).Post(unappliedPath+"/"+b.listed(t, payment)["_id"].(string)+"/refund", nil).Expect(422).
			Detail()
		require.Contains(t, detail, "nothing is left to refund")
		lost(t, b, payment)
	})
}
