package tickets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

func cancelEvent(b *bundle, event objectid.ID, refund string) object {
	b.t.Helper()
	return b.admin.Post("/admin/events/"+event.String()+"/cancel", object{
		"reason": "The projector burned down", "refund": refund,
	}).Expect(200).Map()
}

func progress(b *bundle, event objectid.ID) object {
	b.t.Helper()
	return b.admin.Get("/admin/events/" + event.String() + "/cancellation").Expect(200).Map()["progress"].(object)
}

// TestAnEventIsCalledOff: its sale is closed at once, each ticket is blocked whoever issued it,
// all its money goes back once, but for what a bank has and what a gateway refuses, and what
// is paid after goes back too. Each holder is written once.
func TestAnEventIsCalledOff(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	event := b.event(nil)
	path := "/admin/events/" + event.String() + "/cancel"
	first, second := buyTwo["gwa card"](b, b.me, event), buyTwo["gwb card"](b, b.me, event)
	b.admin.Put("/tickets/"+ticketsOf(second)[0].String()+"/consume", nil).Expect(200)
	_, other := b.another()
	partly := buyTwo["gwb pix"](b, other, event)
	b.admin.Post("/admin/ticket-orders/"+order(partly)["_id"].(string)+"/refund", object{
		"reason": "as agreed", "ticket_ids": ticketsOf(partly)[:1],
	}).Expect(200)
	b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 1, paymentstest.TokenApproved), "bruno@example.com", "11144477735")).Expect(200)
	bank, banked := b.another()
	disputed := disputers["gwb"].buy(b, event)
	disputers["gwb"].open(b, order(disputed)["gateway_payment_id"].(string))
	refused := buyTwo["gwa card"](b, banked, event)
	bonus := b.give(bank.ID, event)
	unpaid := b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200).Map()
	late := b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200).Map()
	b.settle()

	b.me.Post(path, object{"reason": "It burned down", "refund": "all"}).Expect(403)
	b.admin.Post("/admin/events/"+objectid.New().String()+"/cancel", object{
		"reason": "It burned down", "refund": "all",
	}).Expect(404)
	b.admin.Get("/admin/events/" + event.String() + "/cancellation").Expect(404)
	require.Equal(t, "reason", b.admin.Post(path, object{"reason": "   no   ", "refund": "all"}).Expect(422).Field())
	b.admin.Post(path, object{"reason": "It burned down", "refund": "some"}).Expect(422)
	b.admin.Post(path, object{"reason": "It burned down", "refund": "all", "refund_until": "2099-01-01"}).Expect(422)

	b.clock.Advance(time.Minute)
	keyed := b.admin.With("Idempotency-Key", "5e1a2f6e-0c7b-4b61-9d53-1d0a7ce1b003")
	body := object{"reason": "The projector burned down", "refund": "all"}
	a := keyed.Post(path, body).Expect(200).Map()
	require.Equal(t, object{
		"orders": 6.0, "refunded": 0.0, "failed": 0.0, "disputed": 1.0, "not_asked": 0.0, "amount": 0.0,
	}, a["progress"])
	require.Equal(t, a, keyed.Post(path, body).Expect(200).Map(), "the same request again")
	require.Equal(t, a["cancelled_at"], cancelEvent(b, event, "all")["cancelled_at"], "called off once")
	b.admin.Post(path, object{"reason": "It burned down", "refund": "on_request"}).Expect(409)
	doc := docs(b.admin.Get("/events?_id=" + event.String()).Expect(200))[0]
	require.Equal(t, []any{
		false, a["cancelled_at"], "The projector burned down",
	}, []any{doc["is_active"], doc["cancelled_at"], doc["cancel_reason"]})

	b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(400)
	b.nobody.Get("/store/events/" + event.String()).Expect(404)
	b.admin.Post("/tickets", object{"customer_id": bank.ID, "event_id": event}).Expect(409)
	edits := object{
		"is_active": true, "event_date": "2099-01-01T20:00:00Z", "location": "Elsewhere",
		"refund_until": "2099-01-01T20:00:00Z",
	}
	for field, value := range edits {
		require.Equal(t, field, b.admin.Put("/events", []object{{"_id": event, field: value}}).Expect(409).Field())
	}
	b.admin.Put("/events", []object{doc}).Expect(200) // what GET returns PUT takes
	for _, ticket := range []objectid.ID{ticketsOf(first)[0], bonus} {
		ticketDoc := docs(b.admin.Get("/tickets?_id=" + ticket.String()).Expect(200))[0]
		require.Equal(t, []any{"available", "event_cancelled"}, []any{ticketDoc["status"], ticketDoc["blocked"]})
		require.Contains(t, b.admin.Put("/tickets/"+ticket.String()+"/consume", nil).Expect(409).Detail(),
			"event_cancelled")
		b.admin.Put("/tickets", []object{{"_id": ticket, "status": "consumed"}}).Expect(409)
	}
	require.NotContains(t, b.me.Get("/me/ticket-orders/"+order(late)["_id"].(string)).Expect(200).Map(), "pix",
		"nobody is shown a code to pay")
	require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(order(late)["gateway_payment_id"].(string)))

	payment := order(refused)["gateway_payment_id"].(string)
	require.NoError(t, b.gateways.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Method: "POST", Path: "/v3/payments/" + payment, Suffix: "/refund", Kind: stage.FaultStatus, Status: 400,
		Body: `{"errors":[{"code":"invalid_action","description":"No."}]}`,
	}))
	b.work()
	b.sweep()
	b.eventually("all that can be is given back",
		func() bool { b.settle(); p := progress(b, event); return p["refunded"] == 5.0 && p["failed"] == 1.0 })
	require.Equal(t, object{
		"orders": 7.0, "refunded": 5.0, "failed": 1.0, "disputed": 1.0, "not_asked": 0.0,
		"amount": 241.0 + 241.0 + 120.5 + 120.5 + 120.5,
	}, progress(b, event))
	state, _ := b.orderRow(order(unpaid)["_id"].(string))
	require.Equal(t, "released", state)
	require.Error(t, b.gateways.Sandbox.GWB.PayPIX(order(unpaid)["gateway_payment_id"].(string)))
	require.Equal(t, "consumed", b.ticketStatus(ticketsOf(second)[0]),
		"what was used stays used, and its money is back")
	require.Equal(t, "available", b.ticketStatus(bonus))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.unapplied_payments WHERE state = 'open' AND kind = 'unrefundable' AND order_id = $1", order(refused)["_id"]))
	require.Equal(t, 6, b.count("SELECT count(*) FROM payments.refunds WHERE source = 'platform' AND status = 'done'")+
		b.count("SELECT count(*) FROM payments.refunds WHERE source = 'platform' AND status = 'failed'"),
		"one refund an order, and none of what a bank has")

	disputers["gwb"].close(b, order(disputed)["gateway_payment_id"].(string), true)
	b.settle()
	b.sweep()
	b.eventually("the dispute is won: it is given back, too",
		func() bool { b.sweep(); b.settle(); return progress(b, event)["refunded"] == 6.0 })
	for _, to := range []string{b.customer.Email, bank.Email, "bruno@example.com"} {
		b.eventually("a mail to "+to, func() bool { return len(b.mails.to(to, "O evento foi cancelado")) == 1 })
	}
	require.Contains(t, b.mails.to(b.customer.Email, "O evento foi cancelado")[0].Text, "The projector burned down")
	require.NotContains(t, b.mails.to(bank.Email, "O evento foi cancelado")[0].Text, "contestou")
	require.Len(t, b.mails.to(b.customer.Email, "Seu pagamento foi devolvido"), 1)
	require.Contains(t, b.mails.to(b.customer.Email, "Seu pagamento foi devolvido")[0].Text, "cancelado")
}

// TestACalledOffEventGivesBackOnRequest: until refund_until, whatever the limits of withdrawal;
// in the end all may be given back after all.
func TestACalledOffEventGivesBackOnRequest(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	b.work()
	event := b.event(object{"event_date": b.clock.Now().Add(10 * time.Hour).Format(time.RFC3339)})
	first := buyTwo["gwb card"](b, b.me, event)
	second := buyTwo["gwa card"](b, b.me, event)
	_, other := b.another()
	third := buyTwo["gwb card"](b, other, event)
	b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 1, paymentstest.TokenApproved), "bruno@example.com", "11144477735")).Expect(200)
	require.Equal(t, "WITHDRAWAL_NOT_ALLOWED", b.me.Post(withdrawPath(first), nil).Expect(422).Code(),
		"less than 48 h before it")
	b.admin.Put("/tickets/"+ticketsOf(first)[0].String()+"/consume", nil).Expect(200)
	a := cancelEvent(b, event, "on_request")
	require.Equal(t, []any{4.0, 4.0}, []any{a["progress"].(object)["orders"], a["progress"].(object)["not_asked"]})
	until := b.clock.Now().Add(30 * 24 * time.Hour).UTC().Format("2006-01-02T15:04")
	require.Equal(t, until, a["refund_until"].(string)[:16])
	b.eventually("the guest is sent a link",
		func() bool { return len(b.mails.to("bruno@example.com", "O evento foi cancelado")) == 1 })
	_, token, _ := strings.Cut(b.mails.to("bruno@example.com", "O evento foi cancelado")[0].Text, "withdraw#")
	token, _, _ = strings.Cut(token, "\n")

	b.clock.Advance(29 * 24 * time.Hour)
	require.Equal(t, 241.0, b.me.Post(withdrawPath(first), nil).Expect(200).Map()["refund_amount"],
		"also of a used ticket")
	require.Equal(t, 120.5,
		b.nobody.Post("/store/ticket-orders/withdraw", object{"token": token}).Expect(200).Map()["refund_amount"])
	b.settle()
	require.Equal(t, object{
		"orders": 4.0, "refunded": 2.0, "failed": 0.0, "disputed": 0.0, "not_asked": 2.0, "amount": 361.5,
	}, progress(b, event))
	b.clock.Advance(2 * 24 * time.Hour)
	require.Equal(t, "WITHDRAWAL_NOT_ALLOWED", b.me.Post(withdrawPath(second), nil).Expect(422).Code())
	require.NoError(t, b.service.Refunds().GiveBackDue(t.Context()), "nobody has asked")
	require.Equal(t, 2.0, progress(b, event)["refunded"])

	cancelEvent(b, event, "all")
	b.eventually("all of it", func() bool { b.settle(); return progress(b, event)["refunded"] == 4.0 })
	require.Equal(t, 241.0, other.Post(withdrawPath(third), nil).Expect(200).Map()["refund_amount"],
		"it is back already")
}

// TestAScanIsJudgedByItsInstant: uploaded after the refund of a ticket, it is refused with what
// blocked the ticket when it was scanned, however fast the refund was.
func TestAScanIsJudgedByItsInstant(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	event := b.event(nil)
	m := buyTwo["gwb card"](b, b.me, event)
	code := b.code(ticketsOf(m)[0])
	bought := b.clock.Now()
	b.clock.Advance(time.Hour)
	off := b.clock.Now()
	cancelEvent(b, event, "on_request")
	b.clock.Advance(time.Hour)
	b.me.Post(withdrawPath(m), nil).Expect(200)
	b.settle()
	b.clock.Advance(time.Hour)
	require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
	scan := b.scanned(code, off.Add(time.Minute))
	require.Equal(t, []any{
		"refused", "event_cancelled", off.UTC().Format("2006-01-02T15:04:05.000Z"),
	}, []any{scan["result"], scan["reason"], scan["at"]})
	scan = b.scanned(code, b.clock.Now().Add(-time.Minute))
	require.Equal(t, []any{"refused", "refunded"}, []any{scan["result"], scan["reason"]})
	require.Equal(t, "expired", b.scanned(code, bought.Add(time.Minute))["result"], "it was good when it was scanned")
}
