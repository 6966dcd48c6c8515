package tickets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
)

// TestMoneyForAnOrderDeletedWithItsEvent: the event names our id, so that its subject
// is known, and the money goes back.
func TestMoneyForAnOrderDeletedWithItsEvent(t *testing.T) {
	t.Parallel()
	for _, gw := range []gateway.Name{gateway.GWA, gateway.GWB} {
		t.Run(string(gw), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			event := b.event(nil)
			m := b.me.Post("/store/purchase/"+string(gw)+"/pix", pix(event, 1)).Expect(200).Map()
			id := objectid.ID(order(m)["_id"].(string))
			b.clock.Advance(time.Hour)
			b.sweep()
			b.admin.Delete("/events?_id="+event.String(), nil).Expect(200)
			require.Zero(t, b.count("SELECT count(*) FROM tickets.orders"))
			at := b.clock.Now()
			paid := gateway.Event{ // as the job applies it that has read it live
				Gateway: gw, Type: gateway.ReadLive, CreatedAt: at, Reference: id,
				Payload: gateway.SettledPayment{Payment: gateway.Payment{
					ID: "pay_late" + id.String(), Status: gateway.PaymentStatusSettled, NativeStatus: "RECEIVED",
					Method: gateway.MethodPix, Amount: 12050, SettledAt: &at,
				}},
			}
			for range 2 {
				r := b.apply(paid)
				require.False(t, r.Unclaimed, "the subject is known")
				require.EqualValues(t, "the order was deleted with its event", r.Reason)
			}
			require.Equal(t, 1, b.count("SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
			require.Equal(t, 1,
				b.count("SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'late' AND automatic AND order_id = $1 AND amount_cents = 12050", id))
			late := paid.Payload.(gateway.SettledPayment)
			late.Payment.ID = order(m)["gateway_payment_id"].(string)
			paid.Payload, paid.Reference = late, ""
			require.False(t, b.apply(paid).Unclaimed, "by the gateway's id, too")
			late.Payment.ID = "pay_foreign"
			paid.Payload, paid.Reference = late, objectid.New()
			require.True(t, b.apply(paid).Unclaimed)
		})
	}
}

// TestMoneyOfTheOtherGatewayForAnOrder: it is no payment of the order, and is not lost.
func TestMoneyOfTheOtherGatewayForAnOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.me.Post("/store/purchase/gwa/pix", pix(b.event(nil), 1)).Expect(200).Map()
	id, at := objectid.ID(order(m)["_id"].(string)), b.clock.Now()
	r := b.apply(gateway.Event{
		Gateway: gateway.GWB, CreatedAt: at, Reference: id, Purpose: gateway.ForOrder,
		Payload: gateway.SettledPayment{Payment: gateway.Payment{
			ID: "pi_1", Status: gateway.PaymentStatusSettled, NativeStatus: "succeeded", Method: gateway.MethodPix,
			Amount: 12050, SettledAt: &at,
		}},
	})
	require.EqualValues(t, "the order is of the other gateway", r.Reason)
	state, _ := b.orderRow(id.String())
	require.Equal(t, "reserved", state)
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'foreign' AND order_id = $1", id))
}
