package tickets_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	gwastage "marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

func TestUnpaidPixGivesItsPlacesBack(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		b := setup(t)
		event := b.event(object{"capacity": 2})
		m := b.me.Post("/store/purchase/"+gateway+"/pix", pix(event, 2)).Expect(200).Map()
		b.me.Post("/store/purchase/"+gateway+"/pix", pix(event, 1)).Expect(409)
		b.sweep()
		require.Equal(t, 2, b.issued(event), "not yet")
		b.clock.Advance(31 * time.Minute)
		b.sweep()
		require.Equal(t, 0, b.issued(event))
		require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
		state, status := b.orderRow(order(m)["_id"].(string))
		require.Equal(t, "released", state)
		require.Equal(t, map[string]string{"gwa": "OVERDUE", "gwb": "canceled"}[gateway], status)
		if gateway == "gwa" {
			_, err := b.gateways.Sandbox.GWA.PayPIX(m["pix"].(object)["payload"].(string))
			require.Error(t, err, "the charge is deleted at the gateway")
		} else {
			require.Error(t, b.gateways.Sandbox.GWB.PayPIX(order(m)["gateway_payment_id"].(string)))
		}
		require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[1]))
	}
}

// release frees the places of an order here alone, as if its code had been paid
// in the moment in which it ran out.
func release(b *bundle, m object) {
	b.t.Helper()
	_, err := b.db.Exec(b.t.Context(), "UPDATE tickets.tickets SET status = 'expired', reason = 'not_paid' WHERE order_id = $1",
		order(m)["_id"])
	require.NoError(b.t, err)
	_, err = b.db.Exec(b.t.Context(), "UPDATE tickets.orders SET state = 'released' WHERE id = $1", order(m)["_id"])
	require.NoError(b.t, err)
}

func TestMoneyThatArrivesLateIsSeatedWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	event := b.event(object{"capacity": 2})
	m := b.me.Post("/store/purchase/gwa/pix", pix(event, 2)).Expect(200).Map()
	release(b, m)
	require.Equal(t, 0, b.issued(event))
	_, err := b.gateways.Sandbox.GWA.PayPIX(m["pix"].(object)["payload"].(string))
	require.NoError(t, err)
	b.settle()
	require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[0]))
	require.Equal(t, 2, b.issued(event))
	state, status := b.orderRow(order(m)["_id"].(string))
	require.Equal(t, "paid", state)
	require.Equal(t, "RECEIVED", status)
	require.Equal(t, "released>paid paid_late", b.history(order(m)["_id"])[2])
}

func TestMoneyThatArrivesLateIsRefundedWhereThereIsNone(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		b.listen()
		b.work()
		event := b.event(object{"capacity": 2})
		m := b.me.Post("/store/purchase/"+gateway+"/pix", pix(event, 2)).Expect(200).Map()
		release(b, m)
		_, other := b.another()
		other.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200)
		if gateway == "gwa" {
			_, err := b.gateways.Sandbox.GWA.PayPIX(m["pix"].(object)["payload"].(string))
			require.NoError(t, err)
		} else {
			require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(order(m)["gateway_payment_id"].(string)))
		}
		b.settle()
		b.eventually("the money goes back by itself", func() bool {
			state, _ := b.orderRow(order(m)["_id"].(string))
			return state == "refunded"
		})
		require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
		require.Equal(t, 1, b.issued(event))
		require.Equal(t, 1,
			b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND status = 'done' AND amount_cents = 24100", order(m)["_id"]))
		b.eventually("the buyer is told",
			func() bool { return len(b.mails.to(b.customer.Email, "devolvido")) == 1 })
		require.Contains(t, b.mails.to(b.customer.Email, "devolvido")[0].Text, "R$ 241,00")
		b.settle()
		b.sweep()
		require.Equal(t, 1, b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1", order(m)["_id"]),
			"once")
	})
}

// A refund that failed after it was believed done is made once more at once, and
// not when the first refund's job is forgotten.
func TestLateMoneyWhoseRefundFailsIsRefundedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	b.work()
	event := b.event(object{"capacity": 1})
	m := b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200).Map()
	id := order(m)["_id"].(string)
	release(b, m)
	_, other := b.another()
	other.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200)
	require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(order(m)["gateway_payment_id"].(string)))
	b.settle()
	refunds := func(status string) int {
		return b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND status = $2", id, status)
	}
	b.eventually("the first refund", func() bool {
		state, _ := b.orderRow(id)
		return state == "refunded" && refunds("done") == 1 &&
			b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'tickets_refund' AND state = 'completed'") == 1
	})
	var refund string
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT gateway_refund_id FROM payments.refunds WHERE local_id = $1",
		id).Scan(&refund))
	require.NoError(t, b.gateways.Sandbox.GWB.FinishRefund(refund, false))
	b.settle()
	b.eventually("the second refund", func() bool {
		state, _ := b.orderRow(id)
		return state == "refunded" && refunds("failed") == 1 && refunds("done") == 1
	})
}

// A card whose risk gateway A analyses for ever does not hold its places for ever;
// once it is approved, it is money that arrives late.
func TestPlacesDoNotWaitForeverForACard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *gwastage.Settings) { s.RiskAnalysis = true })
	require.NoError(t, err)
	event := b.event(object{"capacity": 1, "event_date": b.clock.Now().Add(72 * time.Hour).Format(time.RFC3339)})
	m := b.me.Post("/store/purchase/gwa/card", cardA(event, 1, paymentstest.CardApproved)).Expect(200).Map()
	b.clock.Advance(23 * time.Hour)
	b.sweep()
	require.Equal(t, 1, b.issued(event), "not yet")
	b.clock.Advance(2 * time.Hour)
	b.sweep()
	require.Equal(t, 0, b.issued(event))
	require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
	state, _ := b.orderRow(order(m)["_id"].(string))
	require.Equal(t, "released", state)
	require.Zero(t, b.count("SELECT count(*) FROM tickets.orders WHERE intent_open"))

	_, err = b.gateways.Sandbox.GWA.EndRiskAnalysis(order(m)["gateway_payment_id"].(string), true)
	require.NoError(t, err)
	b.settle()
	require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[0]))
	state, _ = b.orderRow(order(m)["_id"].(string))
	require.Equal(t, "paid", state)
}

// Paid when the event is over and the places are still held: the tickets do not
// wait for ever.
func TestMoneyThatArrivesAfterTheEventLeavesNoTicketsWaiting(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	event := b.event(object{
		"event_date":     b.clock.Now().Add(5 * time.Minute).Format(time.RFC3339),
		"event_end_date": b.clock.Now().Add(10 * time.Minute).Format(time.RFC3339),
	})
	m := b.me.Post("/store/purchase/gwa/pix", pix(event, 1)).Expect(200).Map()
	b.clock.Advance(11 * time.Minute)
	_, err := b.gateways.Sandbox.GWA.PayPIX(m["pix"].(object)["payload"].(string))
	require.NoError(t, err)
	b.settle()
	state, _ := b.orderRow(order(m)["_id"].(string))
	require.Equal(t, "refund_due", state)
	require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
	require.Zero(t, b.issued(event))
}

func TestPixPaidWhileItsPlacesAreGivenBack(t *testing.T) {
	t.Parallel()
	b := setup(t) // no webhooks: only the job learns of the payment
	event := b.event(object{"capacity": 1})
	m := b.me.Post("/store/purchase/gwa/pix", pix(event, 1)).Expect(200).Map()
	_, err := b.gateways.Sandbox.GWA.PayPIX(m["pix"].(object)["payload"].(string))
	require.NoError(t, err)
	b.clock.Advance(31 * time.Minute)
	b.sweep()
	require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[0]), "deleting found it paid")
	b.listen()
	b.settle()
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.payments"))
	require.Equal(t, 1, b.issued(event))
}

const manyTimes = 100 // more than an adapter tries again

func TestCardAnswerLostAfterTheCharge(t *testing.T) {
	t.Parallel()
	for gateway, c := range map[string]struct {
		path string
		body func(objectid.ID) object
	}{
		"gwa": {"/v3/payments", func(id objectid.ID) object { return cardA(id, 1, paymentstest.CardApproved) }},
		"gwb": {"/v1/payment_intents", func(id objectid.ID) object { return cardB(id, 1, paymentstest.TokenApproved) }},
	} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			event := b.event(nil)
			st := b.gateways.Sandbox.GWA.Stage()
			if gateway == "gwb" {
				st = b.gateways.Sandbox.GWB.Stage()
			}
			require.NoError(t, st.Faults.Plan(stage.Fault{
				Method: http.MethodPost, Path: c.path, Kind: stage.FaultResetAfter, Times: manyTimes,
			}))
			m := b.me.Post("/store/purchase/"+gateway+"/card", c.body(event)).Expect(200).Map()
			require.Equal(t, "PENDING", payment(m)["status"])
			require.Nil(t, payment(m)["id"])
			require.Equal(t, 1, b.issued(event), "the place is held")
			st.Faults.Clear()
			b.clock.Advance(time.Hour)
			b.sweep()
			require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[0]))
			b.listen()
			b.settle()
			require.NoError(t, b.service.Reconcile().Recover(t.Context(), objectid.ID(order(m)["_id"].(string))),
				"a second check does nothing")
			require.Equal(t, 1, b.count("SELECT count(*) FROM payments.payments"))
		})
	}
}

func TestNothingWasMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	st := b.gateways.Sandbox.GWB.Stage()
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/payment_intents", Kind: stage.FaultResetBefore, Times: manyTimes,
	}))
	m := b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200).Map()
	st.Faults.Clear()
	for range 2 {
		require.Equal(t, 1, b.issued(event), "silence proves nothing")
		b.clock.Advance(time.Hour)
		b.sweep()
	}
	require.Equal(t, 0, b.issued(event))
	state, _ := b.orderRow(order(m)["_id"].(string))
	require.Equal(t, "released", state)
	require.Empty(t, b.me.Get("/me/ticket-orders").Expect(200).Map()["orders"])
}

func TestRefundedOrderLosesItsTickets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	event := b.event(nil)
	m := b.me.Post("/store/purchase/gwb/card", cardB(event, 2, paymentstest.TokenApproved)).Expect(200).Map()
	b.settle()
	_, err := b.gateways.B.Refund(t.Context(), gateway.RefundTerms{
		RefundID: objectid.New(), Amount: 24100, RequestedAt: time.Now(),
		Payment: gateway.PaymentRef{PaymentID: order(m)["gateway_payment_id"].(string)},
	})
	require.NoError(t, err)
	b.settle()
	state, status := b.orderRow(order(m)["_id"].(string))
	require.Equal(t, "refunded", state)
	require.Equal(t, "refunded", status)
	require.Equal(t, 0, b.issued(event))
	require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
}
