package tickets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

func order(m object) object { return m["order"].(object) }
func payment(m object) object {
	p, _ := m["payment"].(object)
	return p
}

func ticketsOf(m object) []objectid.ID {
	var ids []objectid.ID
	for _, id := range order(m)["ticket_ids"].([]any) {
		ids = append(ids, objectid.ID(id.(string)))
	}
	return ids
}

func TestBuyByCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	for gateway, body := range map[string]func(objectid.ID) object{
		"gwa": func(id objectid.ID) object { return cardA(id, 2, paymentstest.CardApproved) },
		"gwb": func(id objectid.ID) object { return cardB(id, 2, paymentstest.TokenApproved) },
	} {
		event := b.event(nil)
		m := b.me.Post("/store/purchase/"+gateway+"/card", body(event)).Expect(200).Map()
		o := order(m)
		require.Equal(t, "pending", o["status"])
		require.Equal(t, gateway, o["gateway"])
		require.Equal(t, "credit_card", o["payment_method"])
		require.InDelta(t, 241.0, o["total"], 0)
		require.InDelta(t, 120.5, o["unit_price"], 0)
		require.Equal(t, map[string]string{"gwa": "CONFIRMED", "gwb": "succeeded"}[gateway], o["payment_status"])
		require.Equal(t, object{
			"id": o["gateway_payment_id"], "status": "CONFIRMED", "billing_type": "CREDIT_CARD",
		}, payment(m))
		require.NotContains(t, m, "pix")
		require.NotContains(t, o, "without_login")
		require.Len(t, ticketsOf(m), 2)
		for _, id := range ticketsOf(m) {
			require.Equal(t, "available", b.ticketStatus(id))
		}
		require.Equal(t, 2, b.issued(event))
		b.settle()
		require.Equal(t, 1,
			b.count("SELECT count(*) FROM payments.payments WHERE local_id = $1 AND purpose = 'order' AND amount_cents = 24100", o["_id"]))
	}
	require.Equal(t, 0, b.count("SELECT count(*) FROM payments.processed_events WHERE state <> 'done'"))
	orders := b.me.Get("/me/ticket-orders").Expect(200).Map()["orders"].([]any)
	require.Len(t, orders, 2)
	detail := b.me.Get("/me/ticket-orders/" + orders[0].(object)["_id"].(string)).Expect(200).Map()
	require.Len(t, detail["tickets"], 2)
	require.Equal(t, orders[0], detail["order"])
	_, stranger := b.another()
	stranger.Get("/me/ticket-orders/" + orders[0].(object)["_id"].(string)).Expect(404)
	require.Len(t, docs(b.me.Get("/me/tickets").Expect(200)), 4)
	require.Empty(t, docs(stranger.Get("/me/tickets").Expect(200)))
}

func TestDeclinedCardGivesItsPlacesBackAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	event := b.event(object{"capacity": 1})
	for range 2 {
		a := b.me.Post("/store/purchase/gwa/card", cardA(event, 1, paymentstest.CardDeclined)).Expect(400)
		require.Equal(t, "VALIDATION_ERROR", a.Code())
		require.Equal(t, 0, b.issued(event))
		for _, token := range []string{
			paymentstest.TokenDeclined, paymentstest.TokenRefused, paymentstest.TokenAuthentication,
		} {
			b.me.Post("/store/purchase/gwb/card", cardB(event, 1, token)).Expect(400)
			require.Equal(t, 0, b.issued(event), token)
		}
		_, err := b.db.Exec(t.Context(), "DELETE FROM tickets.declines")
		require.NoError(t, err)
	}
	require.Empty(t, b.me.Get("/me/ticket-orders").Expect(200).Map()["orders"], "what never came about is no order")
	b.settle()
	b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200)
	require.Equal(t, 1, b.issued(event))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.payments"))
	require.Equal(t, 0, b.count("SELECT count(*) FROM tickets.tickets WHERE status <> 'available'"))
}

func TestBuyByPix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	for gateway, pay := range map[string]func(m object) error{
		"gwa": func(m object) error {
			_, err := b.gateways.Sandbox.GWA.PayPIX(m["pix"].(object)["payload"].(string))
			return err
		},
		"gwb": func(m object) error { return b.gateways.Sandbox.GWB.PayPIX(order(m)["gateway_payment_id"].(string)) },
	} {
		event := b.event(nil)
		m := b.me.Post("/store/purchase/"+gateway+"/pix", pix(event, 3)).Expect(200).Map()
		require.Equal(t, "PENDING", payment(m)["status"])
		require.Equal(t, "PIX", payment(m)["billing_type"])
		require.NotEmpty(t, m["pix"].(object)["encoded_image"])
		until, err := time.Parse(time.RFC3339, m["pix"].(object)["expiration_date"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, b.clock.Now().Add(30*time.Minute), until, time.Minute)
		require.Equal(t, 3, b.issued(event), "pending tickets hold places")
		require.Equal(t, "pending", b.ticketStatus(ticketsOf(m)[0]))
		b.me.Get("/me/tickets/" + ticketsOf(m)[0].String() + "/qr").Expect(409)
		require.NoError(t, pay(m))
		b.settle()
		require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[2]), gateway)
		require.Equal(t, 3, b.issued(event))
		b.sweep()
		detail := b.me.Get("/me/ticket-orders/" + order(m)["_id"].(string)).Expect(200).Map()
		require.Equal(t, map[string]string{"gwa": "RECEIVED", "gwb": "succeeded"}[gateway],
			order(detail)["payment_status"])
		require.Equal(t, "pending", order(detail)["status"])
	}
}

func TestFreeEventsIssueAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, value := range []any{nil, 0} {
		event := b.event(object{"ticket_value": value})
		m := b.me.Post("/store/purchase/gwb/card", object{"event_id": event, "quantity": 2}).Expect(200).Map()
		require.Nil(t, m["payment"])
		require.Nil(t, order(m)["gateway"])
		require.Nil(t, order(m)["payment_method"])
		require.Equal(t, "CONFIRMED", order(m)["payment_status"])
		require.InDelta(t, 0, order(m)["total"], 0)
		require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[1]))
	}
}
