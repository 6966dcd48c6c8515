package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/sandbox"
)

// TestARenewalToldAfterTheCancelGoesBack: it was charged before, and added no time, so
// that the answer to the customer did not count it among the days that were given up.
func TestARenewalToldAfterTheCancelGoesBack(t *testing.T) {
	t.Parallel()
	for _, gw := range []gateway.Name{gateway.GWA, gateway.GWB} {
		t.Run(string(gw), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _, paymentID := paidAt(t, b, gw)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{}) // they come late
			before := map[string]bool{}
			for _, c := range b.gateways.Charges(t) {
				before[c.ID] = c.Succeeded
			}
			var err error
			if gw == gateway.GWA {
				_, err = b.gateways.Sandbox.GWA.Renew(paymentID, false)
			} else {
				err = b.gateways.Sandbox.GWB.Renew(paymentID)
			}
			require.NoError(t, err)
			payment := ""
			for _, c := range b.gateways.Charges(t) {
				if c.Succeeded && !before[c.ID] {
					payment = c.ID
				}
			}
			require.NotEmpty(t, payment)
			charged := b.clock.Now().Truncate(time.Second)
			b.clock.Advance(3 * time.Second)
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
			b.clock.Advance(time.Second)
			b.apply(t, gateway.Event{
				Gateway: gw, SubscriptionID: paymentID, Reference: id, CreatedAt: charged,
				Payload: gateway.SettledPayment{Payment: gateway.Payment{
					ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "CONFIRMED",
					Method: gateway.MethodCard, Amount: 4990, SettledAt: &charged,
				}},
			})
			b.confirmLate(t)
			require.Equal(t, "cancelled", b.status(t, id))
			row := b.listed(t, payment)
			require.Equal(t, "late", row["kind"])
			require.Contains(t, row["note"], "reported after it")
			b.refundUnapplied(t)
			require.Equal(t, "refunded", b.listed(t, payment)["state"])
			require.True(t, givenBack(t, b, payment))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"), "what was given up stays given up")
			b.work(t)
			eventually(t, "the mail", func() bool { return len(b.mails.Mails()) == 1 })
		})
	}
}

// TestAChargeInTheSecondOfTheEndCameAfterIt: gateways tell no milliseconds.
func TestAChargeInTheSecondOfTheEndCameAfterIt(t *testing.T) {
	t.Parallel()
	for after, status := range map[time.Duration]string{0: "active", -time.Second: "cancelled"} {
		b := setup(t)
		id := b.paidGWA(t)
		b.clock.Advance(time.Minute)
		b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
		at := column[time.Time](t, b, id, "ended_at").Truncate(time.Second)
		b.set(t, id, "ended_at = $2", at.Add(129*time.Millisecond))
		e := forgedLate(b, id, "pay_same_second")
		e.Type = gateway.Reconciled
		editPayment(&e, func(p *gateway.Payment) { p.SettledAt = new(at.Add(after)) })
		b.apply(t, e)
		require.Equal(t, status, b.status(t, id))
	}
}
