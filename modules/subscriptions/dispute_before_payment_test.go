package subscriptions_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	sandboxa "marquee/testutil/sandbox/gwa/account"
)

// disputeOrder is a payment with all that was told of it, none of which has come yet.
type disputeOrder struct {
	events  []string
	prepare func(b *bundle, t *testing.T, id objectid.ID) (payment string)
	begin   func(b *bundle, t *testing.T) objectid.ID
	deliver func(b *bundle, t *testing.T, kind, payment string)
	want    string // the status, then the disputes
	paid    int    // payments in the ledger, 1 for 0
}

func chargedBack(t *testing.T, b *bundle, payment string, steps ...sandboxa.ChargebackStep) string {
	t.Helper()
	for _, step := range steps {
		_, err := b.gateways.Sandbox.GWA.Chargeback(payment, step, "")
		require.NoError(t, err)
	}
	return payment
}

func deliverA(b *bundle, t *testing.T, kind, payment string) {
	t.Helper()
	b.gateways.DeliverGWA(t, b.serve().url, kind, payment)
}

func deliverB(b *bundle, t *testing.T, kind, payment string) {
	t.Helper()
	b.gateways.DeliverGWB(t, b.serve().url, kind, payment)
}

func disputedAtB(t *testing.T, b *bundle, intent string, closed bool) string {
	t.Helper()
	dispute, err := b.gateways.Sandbox.GWB.OpenDispute(intent, "fraudulent", false)
	require.NoError(t, err)
	if closed {
		require.NoError(t, b.gateways.Sandbox.GWB.CloseDispute(dispute, false))
	}
	return intent
}

// cardChargedA is the first charge of a card at gateway A, of which no event has come.
func cardChargedA(t *testing.T, b *bundle, id objectid.ID) string {
	t.Helper()
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(time.Minute))
	remote := column[string](t, b, id, "gwa_subscription_id")
	list, err := b.gateways.A.ReadSubscription(t.Context(), remote, id)
	require.NoError(t, err)
	require.NotNil(t, list.LatestPayment)
	return list.LatestPayment.ID
}

var disputeOrders = map[string]disputeOrder{
	"card of gateway A, lost": {
		events: []string{"PAYMENT_CONFIRMED", "PAYMENT_CHARGEBACK_REQUESTED", "PAYMENT_REFUNDED"},
		begin: func(b *bundle, t *testing.T) objectid.ID {
			return idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved)))
		},
		prepare: func(b *bundle, t *testing.T, id objectid.ID) string {
			return chargedBack(t, b, cardChargedA(t, b, id), sandboxa.ChargebackRequested, sandboxa.ChargebackDisputed,
				sandboxa.ChargebackLost)
		},
		deliver: deliverA, want: "cancelled chargeback lost",
	},
	"card of gateway A, open": {
		events: []string{"PAYMENT_CONFIRMED", "PAYMENT_CHARGEBACK_REQUESTED"},
		begin: func(b *bundle, t *testing.T) objectid.ID {
			return idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved)))
		},
		prepare: func(b *bundle, t *testing.T, id objectid.ID) string {
			return chargedBack(t, b, cardChargedA(t, b, id), sandboxa.ChargebackRequested)
		},
		deliver: deliverA, want: "suspended chargeback open",
	},
	"pix of gateway A": {
		events: []string{"PAYMENT_RECEIVED", "PAYMENT_REFUNDED"},
		begin: func(b *bundle, t *testing.T) objectid.ID {
			return idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
		},
		prepare: func(b *bundle, t *testing.T, id objectid.ID) string {
			payment := column[string](t, b, id, "pix_payment_id")
			_, err := b.gateways.Sandbox.GWA.Pay(payment)
			require.NoError(t, err)
			_, err = b.gateways.Sandbox.GWA.TakeBack(payment, 0)
			require.NoError(t, err)
			return payment
		},
		deliver: deliverA, want: "cancelled med lost",
	},
	"card of gateway B, lost": { // of a renewal: the first payment is in the answer to the customer
		events: []string{"invoice.paid", "charge.dispute.created", "charge.dispute.closed"},
		begin: func(b *bundle, t *testing.T) objectid.ID {
			return idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa")))
		},
		prepare: func(b *bundle, t *testing.T, id objectid.ID) string {
			remote := column[string](t, b, id, "gwb_subscription_id")
			require.NoError(t, b.gateways.Sandbox.GWB.Renew(remote))
			read, err := b.gateways.B.ReadSubscription(t.Context(), remote, id)
			require.NoError(t, err)
			require.NotEmpty(t, read.LatestPayment.PaymentIntentID)
			return read.LatestPayment.ID + " " + disputedAtB(t, b, read.LatestPayment.PaymentIntentID, true)
		},
		deliver: func(b *bundle, t *testing.T, kind, payment string) {
			invoice, intent, _ := strings.Cut(payment, " ")
			if kind == "invoice.paid" {
				intent = invoice
			}
			deliverB(b, t, kind, intent)
		},
		paid: 2, want: "cancelled chargeback lost",
	},
	"pix of gateway B, lost": {
		events: []string{"payment_intent.succeeded", "charge.dispute.created", "charge.dispute.closed"},
		begin: func(b *bundle, t *testing.T) objectid.ID {
			return idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan}))
		},
		prepare: func(b *bundle, t *testing.T, id objectid.ID) string {
			payment := column[string](t, b, id, "pix_payment_id")
			require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(payment))
			return disputedAtB(t, b, payment, true)
		},
		deliver: deliverB, want: "cancelled chargeback lost",
	},
}

// TestADisputeMayBeToldBeforeItsPayment: in any order of the events the same stands, as
// soon as the payment is booked, and nothing of it waits on the list of unapplied payments:
// at most what another payment paid for time that is lost with it.
func TestADisputeMayBeToldBeforeItsPayment(t *testing.T) {
	t.Parallel()
	for name, o := range disputeOrders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.work(t)
			for _, inTurn := range paymentstest.Permutations(o.events...) {
				t.Run(strings.Join(inTurn, " "), func(t *testing.T) {
					b.newcomer(t)
					id := o.begin(b, t)
					payment := o.prepare(b, t, id)
					for _, kind := range inTurn {
						o.deliver(b, t, kind, payment)
						untilIdle(t, b)
					}
					requireSettled(t, b)
					require.Equal(t, o.want,
						b.status(t, id)+" "+
							b.text(t,
								"SELECT string_agg(kind || ' ' || state, ', ') FROM payments.disputes WHERE local_id = $1", id))
					require.True(t, column[bool](t, b, id, "has_chargeback"))
					require.Equal(t, strconv.Itoa(max(1, o.paid))+" true",
						b.text(t,
							"SELECT count(*) || ' ' || bool_and(counted) FROM payments.payments WHERE local_id = $1",
							id))
					require.Equal(t, max(0, o.paid-1),
						b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE subscription_id = $1", id))
					require.Zero(t, b.count(t,
						`SELECT count(*) FROM payments.unapplied_payments u JOIN payments.payments p USING (gateway, gateway_payment_id)
						JOIN payments.disputes d ON d.payment_ref IN (p.gateway_payment_id, p.payment_intent_id) WHERE u.subscription_id = $1`, id))
					require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds WHERE local_id = $1", id))
					moves := b.history(t, id)
					require.Contains(t, strings.Join(moves, "\n"), ">active ", "it was paid: %v", moves)
				})
			}
		})
	}
}

// untilIdle waits until no job is left that applies what was told: the order of the events is
// that in which they are applied.
func untilIdle(t *testing.T, b *bundle) {
	t.Helper()
	eventually(t, "no job applies an event", func() bool {
		return b.count(t, `SELECT count(*) FROM jobs.river_job WHERE state IN ('available', 'running', 'retryable')
			AND kind IN ('payments_event_told', 'payments_events_replay', 'payments_event_retry', 'subscriptions_late_money')`) == 0
	})
}

// requireSettled expects that nothing of what was told waits any more.
func requireSettled(t *testing.T, b *bundle) {
	t.Helper()
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.processed_events WHERE state <> 'done'"))
}
