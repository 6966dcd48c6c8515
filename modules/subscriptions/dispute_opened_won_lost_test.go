package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	sandboxa "marquee/testutil/sandbox/gwa/account"
)

// disputes is what differs between the gateways' disputes.
type disputes struct {
	begin func(b *bundle, t *testing.T) objectid.ID
	open  func(b *bundle, t *testing.T, id objectid.ID) (dispute string)
	close func(b *bundle, t *testing.T, dispute string, won bool)
	ahead int // charges that are made and not paid two days after the first was paid
}

var disputesAt = map[string]disputes{
	"gwa": {
		begin: (*bundle).paidGWA, ahead: 1,
		open: func(b *bundle, t *testing.T, id objectid.ID) string {
			t.Helper()
			payment := b.text(t,
				"SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1 ORDER BY id LIMIT 1", id)
			for _, step := range []sandboxa.ChargebackStep{sandboxa.ChargebackRequested, sandboxa.ChargebackDisputed} {
				_, err := b.gateways.Sandbox.GWA.Chargeback(payment, step, "")
				require.NoError(t, err)
			}
			b.settle(t)
			if b.count(t, "SELECT count(*) FROM payments.processed_events WHERE state = 'queued'") > 0 {
				replayWaiting(t, b) // on a busy machine applying took longer than the gateway waits
			}
			return payment
		},
		close: func(b *bundle, t *testing.T, payment string, won bool) {
			t.Helper()
			step := sandboxa.ChargebackLost
			if won {
				step = sandboxa.ChargebackWon
			}
			_, err := b.gateways.Sandbox.GWA.Chargeback(payment, step, "")
			require.NoError(t, err)
			b.settle(t)
		},
	},
	"gwb": {
		begin: (*bundle).paidGWB,
		open: func(b *bundle, t *testing.T, id objectid.ID) string {
			t.Helper()
			invoice := b.text(t,
				"SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1 ORDER BY id LIMIT 1", id)
			paid, err := b.gateways.B.ReadPayment(t.Context(), invoice, id)
			require.NoError(t, err)
			dispute, err := b.gateways.Sandbox.GWB.OpenDispute(paid.PaymentIntentID, "fraudulent", false)
			require.NoError(t, err)
			b.settle(t)
			replayWaiting(t, b)
			return dispute
		},
		close: func(b *bundle, t *testing.T, dispute string, won bool) {
			t.Helper()
			require.NoError(t, b.gateways.Sandbox.GWB.CloseDispute(dispute, won))
			b.settle(t)
		},
	},
}

// eachGateway is paymentstest.EachGateway, with a bundle for each.
func eachGateway(t *testing.T, run func(t *testing.T, b *bundle, gateway string)) {
	t.Helper()
	paymentstest.EachGateway(t, func(t *testing.T, gateway string) { run(t, setup(t), gateway) })
}

// eachDispute runs a test for both gateways' disputes, each with a bundle whose subscription a card has paid.
func eachDispute(t *testing.T,
	run func(t *testing.T, b *bundle, gateway string, d disputes, id objectid.ID),
) {
	t.Helper()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		d := disputesAt[gateway]
		run(t, b, gateway, d, d.begin(b, t))
	})
}

// TestADisputePausesCollection: a dispute with charges made 40 days ahead, for two
// months; then it is lost, or won. Every cent is counted at the gateway.
func TestADisputePausesCollection(t *testing.T) {
	t.Parallel()
	for gateway, d := range disputesAt {
		for _, end := range []string{"open", "lost", "won"} {
			t.Run(gateway+" "+end, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := d.begin(b, t)
				b.signLater(t)
				b.goBy(t, 2*day)
				paid, waiting := b.taken(t, id)
				require.EqualValues(t, 4990, paid)
				require.Equal(t, d.ahead, waiting)
				dispute := d.open(b, t, id)
				require.Equal(t, "suspended", b.status(t, id))
				require.Equal(t, "pausing", b.pause(t, id), "recorded with the event, before the gateway is asked")
				require.False(t, b.access(t))

				b.goBy(t, 65*day)
				require.Equal(t, "paused", b.pause(t, id))
				paid, waiting = b.taken(t, id)
				require.EqualValues(t, 4990, paid, "nothing is charged")
				require.Zero(t, waiting, "and nothing waits to be charged")
				require.Equal(t, "suspended", b.status(t, id), "the echoes changed nothing")
				require.Zero(t, column[int](t, b, id, "payment_failures"))
				require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.dunning_mails"))
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
				switch end {
				case "lost":
					d.close(b, t, dispute, false)
					requireLost(t, b, id, d)
				case "won":
					d.close(b, t, dispute, true)
					requireWon(t, b, id, gateway)
				}
			})
		}
	}
}

// disputeHistory are the moves of all disputes in their order, each with its action.
func disputeHistory(t *testing.T, b *bundle) string {
	t.Helper()
	return b.text(t, `SELECT string_agg(concat(from_state, '>', to_state, ' ', action), ', ' ORDER BY id)
		FROM payments.dispute_transitions`)
}

func requireLost(t *testing.T, b *bundle, id objectid.ID, d disputes) {
	t.Helper()
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, "void", b.pause(t, id))
	require.True(t, column[bool](t, b, id, "has_chargeback"))
	moves := b.history(t, id)
	require.Equal(t, []string{"active>suspended chargeback webhook", "suspended>cancelled chargeback webhook"},
		moves[len(moves)-2:])
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM subscriptions.transitions WHERE subscription_id = $1 AND from_status = 'active'", id),
		"one exit")
	require.NoError(t, b.service.EndAtGateway(t.Context(), id)) // or its job, which may run
	eventually(t, "it is ended at the gateway",
		func() bool { return column[*time.Time](t, b, id, "gateway_ended_at") != nil })
	b.goBy(t, 40*day)
	paid, waiting := b.taken(t, id)
	require.EqualValues(t, 4990, paid)
	require.Zero(t, waiting)
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"), "the dispute took it, no refund")
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.disputes WHERE state = 'lost' AND kind = 'chargeback'"))
	require.Equal(t, ">open reported_open, open>lost reported_lost", disputeHistory(t, b))
}

func requireWon(t *testing.T, b *bundle, id objectid.ID, gateway string) {
	t.Helper()
	require.Equal(t, "active", b.status(t, id))
	require.True(t, b.access(t))
	require.False(t, column[bool](t, b, id, "has_chargeback"))
	require.Equal(t, ">open reported_open, open>won reported_won", disputeHistory(t, b))
	require.Equal(t, "resuming", b.pause(t, id))
	b.runDueStatusChecks(t)
	b.settle(t)
	require.Equal(t, "resumed", b.pause(t, id))
	if gateway == "gwa" {
		require.Equal(t, b.clock.Now().In(reportZone(t)).Format(time.DateOnly), b.day(t, id, "next_billing_date"))
	}
	paid, _ := b.taken(t, id)
	require.EqualValues(t, 4990, paid, "nothing is charged for the time of the dispute")
	b.goBy(t, 27*day)
	paid, _ = b.taken(t, id)
	require.EqualValues(t, 2*4990, paid, "and then as before")
	require.Equal(t, "active", b.status(t, id))
	b.goBy(t, 30*day)
	paid, _ = b.taken(t, id)
	require.EqualValues(t, 3*4990, paid)
}

// A dispute that is decided before the next charge falls due changes no date: the
// charge that was made ahead, and removed, is made again for its day.
func TestADisputeWonEarlyKeepsTheDay(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, _ string, d disputes, id objectid.ID) {
		b.signLater(t)
		begun := b.clock.Now()
		b.goBy(t, 2*day)
		dispute := d.open(b, t, id)
		b.goBy(t, 3*day)
		require.Equal(t, "paused", b.pause(t, id))
		d.close(b, t, dispute, true)
		b.goBy(t, time.Hour)
		require.Equal(t, "resumed", b.pause(t, id))
		require.WithinDuration(t, begun.AddDate(0, 1, 0), column[time.Time](t, b, id, "next_billing_date"), 3*day)
		b.goBy(t, 40*day)
		paid, _ := b.taken(t, id)
		require.EqualValues(t, 2*4990, paid)
		require.Equal(t, "active", b.status(t, id))
	})
}

func TestAfterALostDisputeACustomerMaySubscribeAnew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	dispute := disputesAt["gwb"].open(b, t, id)
	refused := b.expect(t, 409, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa"))
	require.Contains(t, refused["detail"], "disputed")
	refused = b.expect(t, 400, http.MethodPut, "/customers/me/subscription/renew",
		object{"payment_method_id": "pm_card_visa"})
	require.Contains(t, refused["detail"], "disputed")
	changed := b.expect(t, 200, http.MethodPut, "/gwb/subscription/payment-method",
		object{"payment_method_id": "pm_card_mastercard"})
	require.Contains(t, info(changed)["message"], "Nothing is charged while")
	disputesAt["gwb"].close(b, t, dispute, false)
	require.Equal(t, "cancelled", b.status(t, id))
	again := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa")))
	b.settle(t)
	require.Equal(t, "active", b.status(t, again))
}
