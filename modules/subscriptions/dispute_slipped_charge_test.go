package subscriptions_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
	sandboxa "marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// unbooked is the object of an event of a type that waits, of which the ledger has nothing.
func unbooked(t *testing.T, b *bundle, at *stage.Stage, eventType string) string {
	t.Helper()
	for _, d := range at.Webhooks.Deliveries() {
		var e struct {
			Payment struct{ ID string }
			Data    struct{ Object struct{ ID string } }
		}
		require.NoError(t, json.Unmarshal(d.Body, &e))
		id := cmp.Or(e.Payment.ID, e.Data.Object.ID)
		if d.Type == eventType &&
			b.count(t, "SELECT count(*) FROM payments.payments WHERE gateway_payment_id = $1", id) == 0 {
			return id
		}
	}
	t.Fatalf("no %s waits", eventType)
	return ""
}

// openedAt is when the dispute was opened that gateway A has to tell.
func openedAt(t *testing.T, b *bundle) time.Time {
	t.Helper()
	for _, d := range b.gateways.Sandbox.GWA.Stage().Webhooks.Deliveries() {
		if d.Type == "PAYMENT_CHARGEBACK_REQUESTED" {
			var e struct{ DateCreated string }
			require.NoError(t, json.Unmarshal(d.Body, &e))
			at, err := time.ParseInLocation(time.DateTime, e.DateCreated, reportZone(t))
			require.NoError(t, err)
			return at
		}
	}
	t.Fatal("no dispute waits")
	return time.Time{}
}

// chargeIsGivenBack gives the one charge of the list back, and waits until it is. The jobs may be at it, too: the clock
// may have jumped over their call, whose outcome is then not known until a check that is due later.
func chargeIsGivenBack(t *testing.T, b *bundle) {
	t.Helper()
	eventually(t, "the charge was not given back", func() bool {
		require.NoError(t, b.payments.Cases().Sweep(t.Context()))
		if b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunded'") == 1 {
			return true
		}
		b.clock.Advance(time.Second)
		b.runDueStatusChecks(t)
		return false
	})
}

// TestAChargeThatIsBookedBeforeTheDisputeIsToldSlipsThrough: it was paid after the dispute
// had been opened, and goes back, however the dispute ends. The money of months that a lost
// dispute took away beside it is listed for people where the month had begun.
func TestAChargeThatIsBookedBeforeTheDisputeIsToldSlipsThrough(t *testing.T) {
	t.Parallel()
	for gateway, d := range disputesAt {
		for _, end := range []string{"won", "lost", "lost at once"} {
			end, atOnce := strings.CutSuffix(end, " at once")
			if atOnce && gateway == "gwb" {
				continue // its periods begin with their payment
			}
			t.Run(gateway+" "+end+map[bool]string{true: " at once"}[atOnce], func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := d.begin(b, t)
				b.signLater(t)
				b.goBy(t, 2*day)
				next := column[time.Time](t, b, id, "next_billing_date")
				b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
				dispute := d.open(b, t, id)
				if !atOnce {
					b.clock.Advance(time.Minute)
					b.gateways.Advance(t, time.Minute)
				}
				recurring[gateway].renew(b, t, id)
				deliver, paid, disputed := b.gateways.DeliverGWA, "PAYMENT_CONFIRMED", "PAYMENT_CHARGEBACK_REQUESTED"
				if gateway == "gwb" {
					deliver, paid, disputed = b.gateways.DeliverGWB, "invoice.paid", "charge.dispute.created"
				}
				deliver(t, b.serve().url, paid, unbooked(t, b, stages[gateway](b), paid))
				require.Equal(t, "active", b.status(t, id))
				require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE counted"))
				if atOnce {
					_, err := b.db.Exec(t.Context(),
						"UPDATE payments.payments SET settled_at = $1 WHERE gateway_payment_id <> $2",
						openedAt(t, b), dispute)
					require.NoError(t, err)
				}
				deliver(t, b.serve().url, disputed, dispute)
				replayWaiting(t, b)
				b.signLater(t)
				b.settle(t)
				require.Equal(t, "suspended", b.status(t, id))
				require.Equal(t, "late automatic",
					b.text(t,
						"SELECT string_agg(kind || CASE WHEN automatic AND NOT bought THEN ' automatic' ELSE '' END, ', ') FROM payments.unapplied_payments"))
				if gateway == "gwa" { // gateway B tells its period by customer.subscription.updated
					require.Equal(t, next, column[time.Time](t, b, id, "next_billing_date"))
				}
				d.close(b, t, dispute, end == "won")
				b.goBy(t, time.Hour)
				chargeIsGivenBack(t, b)
				eventually(t, "the dispute was not decided", func() bool {
					return b.status(t, id) == map[string]string{"won": "active", "lost": "cancelled"}[end]
				})
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
			})
		}
	}
}

// TestALostDisputeListsTheMonthsThatItTakesAway: of an older payment, while a later one has
// paid the month that runs.
func TestALostDisputeListsTheMonthsThatItTakesAway(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, _ string, d disputes, id objectid.ID) {
		b.signLater(t)
		b.goBy(t, 33*day)
		b.settle(t)
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE counted"))
		d.close(b, t, d.open(b, t, id), false)
		b.goBy(t, time.Hour)
		require.Equal(t, "cancelled", b.status(t, id))
		require.Equal(t, "late open 4990 by people",
			b.text(t,
				`SELECT string_agg(kind || ' ' || state || ' ' || amount_cents || CASE WHEN automatic THEN '' ELSE ' by people' END, ', ')
			FROM payments.unapplied_payments`),
			"the month that was disputed had run out, and is no more than the disputed one")
	})
}

// TestASecondChargeForADueDate pays no further period: it is a duplicate. One whose due date
// was moved is made for the day that it was made for.
func TestASecondChargeForADueDate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	next := column[time.Time](t, b, id, "next_billing_date")
	recurring["gwa"].renew(b, t, id)
	b.settle(t)
	require.Equal(t, 2, b.count(t, "SELECT count(DISTINCT due_at) FROM payments.payments WHERE counted"))
	_, err := b.db.Exec(t.Context(),
		"UPDATE payments.payments SET shown_at = now()") // or the others, which no gateway has, were read first
	require.NoError(t, err)
	paid := func(payment string, moved, madeFor time.Time) string {
		b.apply(t, gateway.Event{
			Gateway: gateway.GWA, Type: gateway.ReadLive, Confirmed: true, CreatedAt: b.clock.Now(),
			SubscriptionID: column[string](t, b, id, "gwa_subscription_id"),
			Payload: gateway.SettledPayment{Payment: gateway.Payment{
				ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "CONFIRMED",
				Method: gateway.MethodCard, Amount: 4990,
				SettledAt: new(b.clock.Now()), DueDate: &moved, MadeFor: &madeFor,
			}},
		})
		return b.text(t, `SELECT concat_ws(' ', p.counted, u.kind, u.automatic) FROM payments.payments p
			LEFT JOIN payments.unapplied_payments u USING (gateway, gateway_payment_id) WHERE p.gateway_payment_id = $1`, payment)
	}
	until := column[time.Time](t, b, id, "next_billing_date")
	require.True(t, until.After(next))
	require.Equal(t, "f duplicate t", paid("pay_second", next, next))
	require.Equal(t, until, column[time.Time](t, b, id, "next_billing_date"), "it pays no period")
	require.Equal(t, "t", paid("pay_moved", next, until), "an open one of another month, moved to the day of the first")
	require.Equal(t, "f duplicate t", paid("pay_moved_too", until.AddDate(0, 1, 0), until),
		"nor does moving one make it another month's")
}

// TestADisputeIsBookedThatIsToldBeforeItsPaymentAndAfterTheEnd: nothing opens; the payment is
// booked and listed, and given back should the dispute be won.
func TestADisputeIsBookedThatIsToldBeforeItsPaymentAndAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"won", "lost"} {
		b := setup(t)
		id := b.paidGWA(t)
		b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
		recurring["gwa"].renew(b, t, id)
		next := unbooked(t, b, b.gateways.Sandbox.GWA.Stage(), "PAYMENT_CONFIRMED")
		_, err := b.gateways.Sandbox.GWA.Chargeback(next, sandboxa.ChargebackRequested, "")
		require.NoError(t, err)
		b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
		require.Equal(t, "cancelled", b.status(t, id))
		moves := len(b.history(t, id))
		b.gateways.DeliverGWA(t, b.serve().url, "PAYMENT_CHARGEBACK_REQUESTED", next)
		b.confirmLate(t)
		b.listen()
		b.settle(t)
		state := func() string {
			return b.text(t, `SELECT concat_ws(' ', d.state, u.kind, u.state, p.counted) FROM payments.disputes d
				JOIN payments.payments p ON p.gateway_payment_id = d.payment_ref JOIN payments.unapplied_payments u ON u.gateway_payment_id = d.payment_ref WHERE d.payment_ref = $1`, next)
		}
		require.Equal(t, "open late open f", state())
		require.Equal(t, "cancelled", b.status(t, id))
		require.Len(t, b.history(t, id), moves)
		require.False(t, column[bool](t, b, id, "has_chargeback"), "it gave nobody anything")
		disputesAt["gwa"].close(b, t, next, end == "won")
		if end == "lost" {
			require.Equal(t, "lost late kept f", state())
			continue
		}
		b.goBy(t, 48*time.Hour)
		chargeIsGivenBack(t, b)
		require.True(t, strings.HasPrefix(state(), "won late refunded"), state())
	}
}
