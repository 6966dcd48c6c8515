package tickets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// TestAdminsGiveOrdersBack: by the routes, with what a client sees of it, and what else
// could make good or take away what was paid is refused.
func TestAdminsGiveOrdersBack(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		d := disputers[gateway]
		b.listen()
		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		event := b.event(nil)
		m := d.buy(b, event)
		id, all := order(m)["_id"].(string), ticketsOf(m)
		path := "/admin/ticket-orders/" + id
		why := object{"reason": "as agreed"}
		b.me.Post(path+"/refund", why).Expect(403)
		b.admin.Post("/admin/ticket-orders/"+objectid.New().String()+"/refund", why).Expect(404)
		b.admin.Post("/admin/ticket-orders/"+objectid.New().String()+"/cancel", why).Expect(404)
		require.Equal(t, "reason", b.admin.Post(path+"/refund", object{"reason": "    no    "}).Expect(422).Field())
		require.Contains(t, b.admin.Delete("/tickets?_id="+all[0].String(), nil).Expect(409).Detail(),
			path+"/refund")

		body := object{"reason": "as agreed", "ticket_ids": []objectid.ID{all[0]}}
		keyed := b.admin.With("Idempotency-Key", "5e1a2f6e-0c7b-4b61-9d53-1d0a7ce1b001")
		a := keyed.Post(path+"/refund", body).Expect(200).Map()
		require.Equal(t, a["refund_id"], keyed.Post(path+"/refund", body).Expect(200).Map()["refund_id"],
			"the same request again")
		require.Equal(t, 120.5, a["refund_amount"])
		require.Equal(t, []any{all[0].String()}, a["ticket_ids"])
		require.NotNil(t, a["gateway_response"])
		b.settle()
		seen := b.me.Get("/me/ticket-orders/" + id).Expect(200).Map()["order"].(object)
		require.Equal(t, []any{
			order(m)["payment_status"], 120.5, 241.0,
		}, []any{seen["payment_status"], seen["refunded"], seen["total"]})
		require.Equal(t, 12050, b.count("SELECT revenue_cents FROM finance.events WHERE event_id = $1", event),
			"paid minus refunded")
		require.Equal(t, 12050,
			b.count("SELECT revenue_cents FROM finance.orders WHERE order_id = $1 AND is_paid AND refunded_cents = 12050", id))
		require.Equal(t, 120.5,
			b.me.Get("/me/ticket-orders").Expect(200).Map()["orders"].([]any)[0].(object)["refunded"])
		require.Equal(t, "REFUND_NOT_ALLOWED", b.admin.Post(path+"/refund", body).Expect(422).Code())
		for _, status := range []string{"available", "consumed", "pending"} {
			b.admin.Put("/tickets", []object{{"_id": all[0], "status": status}}).Expect(409)
		}
		b.admin.Put("/tickets", []object{{"_id": all[0], "status": "expired", "title": "Given back"}}).Expect(200)
		require.Contains(t, b.admin.Delete("/tickets", []object{
			{"_id": all[0]},
			{"_id": all[1]},
		}).Expect(409).Detail(), path+"/refund")
		require.Equal(t, 2, b.count("SELECT count(*) FROM tickets.tickets WHERE order_id = $1", id),
			"all or nothing")

		b.admin.Put("/tickets/"+all[1].String()+"/consume", nil).Expect(200)
		require.Equal(t, "include_consumed", b.admin.Post(path+"/cancel", why).Expect(409).Field())
		a = b.admin.Post(path+"/cancel", object{"reason": "as agreed", "include_consumed": true}).Expect(200).Map()
		require.Equal(t, []any{120.5, 241.0}, []any{a["refund_amount"], a["order"].(object)["refunded"]})
		require.Nil(t, b.admin.Post(path+"/cancel", why).Expect(200).Map()["refund_id"], "nothing is left to do")
		state, _ := b.orderRow(id)
		require.Equal(t, "refunded", state)
		require.Zero(t, b.count("SELECT revenue_cents FROM finance.events WHERE event_id = $1", event))
		b.admin.Delete("/tickets?_id="+all[0].String(), nil).Expect(200)

		lost := d.buy(b, event)
		payment := order(lost)["gateway_payment_id"].(string)
		d.open(b, payment)
		b.settle()
		require.Equal(t, "REFUND_NOT_ALLOWED",
			b.admin.Post("/admin/ticket-orders/"+order(lost)["_id"].(string)+"/refund", why).Expect(422).Code())
		b.admin.Put("/tickets", []object{{"_id": ticketsOf(lost)[0], "status": "pending"}}).Expect(409)
		d.close(b, payment, false)
		b.settle()
		b.admin.Put("/tickets", []object{{"_id": ticketsOf(lost)[0], "status": "available"}}).Expect(409)
		require.Equal(t, "REFUND_NOT_ALLOWED",
			b.admin.Post("/admin/ticket-orders/"+order(lost)["_id"].(string)+"/refund", why).Expect(422).Code())
	})
}

// TestAnOrderThatIsNotPaidIsCancelled: at its gateway first, so that nobody pays it after.
func TestAnOrderThatIsNotPaidIsCancelled(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		b.listen()
		event := b.event(nil)
		m := b.me.Post("/store/purchase/"+gateway+"/pix", pix(event, 2)).Expect(200).Map()
		id, payment := order(m)["_id"].(string), order(m)["gateway_payment_id"].(string)
		refused := b.admin.Put("/tickets", []object{{"_id": ticketsOf(m)[0], "status": "available"}}).Expect(409)
		require.Contains(t, refused.Detail(), "POST /tickets")
		require.Equal(t, "REFUND_NOT_ALLOWED",
			b.admin.Post("/admin/ticket-orders/"+id+"/refund", object{"reason": "as agreed"}).Expect(422).Code())
		a := b.admin.Post("/admin/ticket-orders/"+id+"/cancel", object{"reason": "as agreed"}).Expect(200).Map()
		require.Nil(t, a["refund_id"])
		require.Zero(t, b.issued(event))
		if gateway == "gwa" {
			_, err := b.gateways.Sandbox.GWA.Pay(payment)
			require.Error(t, err)
		} else {
			require.Error(t, b.gateways.Sandbox.GWB.PayPIX(payment))
		}
		refused = b.admin.Put("/tickets", []object{{"_id": ticketsOf(m)[0], "status": "available"}}).Expect(409)
		require.Contains(t, refused.Detail(), "POST /tickets")
	})
	t.Run("free", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		event := b.event(object{"ticket_value": nil})
		m := b.me.Post("/store/purchase/gwb/card", cardB(event, 2, paymentstest.TokenApproved)).Expect(200).Map()
		a := b.admin.Post("/admin/ticket-orders/"+order(m)["_id"].(string)+"/cancel", object{"reason": "as agreed"}).
			Expect(200).Map()
		require.Equal(t, "REFUNDED", a["order"].(object)["payment_status"])
		require.Zero(t, b.issued(event))
	})
}
