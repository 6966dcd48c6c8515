package tickets_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/webhooks"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// forgedEvent is what somebody who has gateway A's token may send: its webhooks are not signed.
func forgedEvent(b *bundle, id objectid.ID, payment string, amount money.Cents) gateway.Event {
	at := b.clock.Now()
	return gateway.Event{
		Gateway:   gateway.GWA,
		ID:        "evt_" + payment,
		Type:      "PAYMENT_RECEIVED",
		Reference: id,
		CreatedAt: at,
		Payload: gateway.SettledPayment{Payment: gateway.Payment{
			ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "RECEIVED", Method: gateway.MethodPix,
			Amount: amount, SettledAt: &at,
		}},
	}
}

// confirmNow does the jobs that read live what was told, which have to be so many, and
// returns what is to be read later.
func confirmNow(b *bundle, n int) (later []webhooks.LiveMoneyArgs) {
	b.t.Helper()
	for i := 0; ; i++ {
		var a webhooks.LiveMoneyArgs
		err := b.db.QueryRow(b.t.Context(),
			"DELETE FROM jobs.river_job WHERE id = (SELECT min(id) FROM jobs.river_job WHERE kind = 'tickets_live_money') RETURNING args").Scan(&a)
		if err != nil {
			require.Equal(b.t, n, i)
			return later
		}
		if a.Misses > 0 {
			i--
			later = append(later, a)
			continue
		}
		require.NoError(b.t, b.service.Webhooks().ConfirmLiveMoney(b.t.Context(), a))
	}
}

// TestAnEventAloneOpensNoTickets: money that gateway A's webhook tells of an order and
// that is not the payment made for it, of its price, is read live, and gives tickets only
// when it is.
func TestAnEventAloneOpensNoTickets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	buy := func() (object, objectid.ID, string) {
		m := b.me.Post("/store/purchase/gwa/pix", pix(event, 1)).Expect(200).Map()
		paymentID, _ := order(m)["gateway_payment_id"].(string)
		return m, objectid.ID(order(m)["_id"].(string)), paymentID
	}
	booked := func(id objectid.ID) int {
		return b.count("SELECT count(*) FROM payments.payments WHERE local_id = $1", id)
	}
	foreign := func(payment string) int {
		return b.count("SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1 AND kind = 'foreign' AND state = 'open' AND NOT automatic", payment)
	}
	is := func(id objectid.ID, want string) {
		t.Helper()
		state, _ := b.orderRow(id.String())
		require.Equal(t, want, state)
	}

	m, id, paymentID := buy()
	b.apply(forgedEvent(b, id, "pay_nobody", 12050))
	b.apply(forgedEvent(b, id, paymentID, 1))
	b.apply(forgedEvent(b, id, "pay_else", 1))
	is(id, "reserved")
	later := confirmNow(b, 3)
	require.Len(t, later, 3, "gateway A's answers may lag")
	for _, a := range later {
		for range 3 {
			require.NoError(t, b.service.Webhooks().ConfirmLiveMoney(t.Context(), a))
			a.Misses++
		}
	}
	require.Len(t, confirmNow(b, 0), 6, "four checks, and no more")
	is(id, "reserved")
	require.Zero(t, booked(id), "nothing is booked")

	// A true payment that names the order and is not of its price.
	charge, err := b.gateways.A.CreatePix(t.Context(), gateway.PixTerms{
		Reference: id, Kind: gateway.KindTicketOrder, Amount: 500, DueDate: b.clock.Now(), ExpiresIn: time.Hour,
		Payer: gateway.Payer{
			CustomerID: b.customer.ID,
			GatewayID:  text(b, "SELECT gateway_customer_id FROM tickets.orders WHERE id = $1", id),
		},
	})
	require.NoError(t, err)
	_, err = b.gateways.Sandbox.GWA.Pay(charge.Payment.ID)
	require.NoError(t, err)
	b.apply(forgedEvent(b, id, charge.Payment.ID, 12050))
	confirmNow(b, 1)
	is(id, "reserved")
	require.Equal(t, 1, foreign(charge.Payment.ID))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.payments WHERE local_id = $1 AND amount_cents = 500",
		id), "booked as the gateway shows it")

	// The payment that was made, of its price, opens at once, and what stands beside it
	// keeps nobody from giving it back.
	_, err = b.gateways.Sandbox.GWA.Pay(paymentID)
	require.NoError(t, err)
	b.apply(forgedEvent(b, id, paymentID, 12050))
	confirmNow(b, 0)
	is(id, "paid")
	require.Equal(t, "available", b.ticketStatus(ticketsOf(m)[0]))
	_, err = b.gateways.Sandbox.GWA.TakeBack(paymentID, 0)
	require.NoError(t, err)
	e := forgedEvent(b, id, paymentID, 12050)
	e.Type = "PAYMENT_REFUNDED"
	e.Payload = gateway.RefundChange{
		Status:  gateway.RefundStatusDone,
		Payment: e.Payload.(gateway.SettledPayment).Payment,
		Report: gateway.RefundReport{
			PaymentID: paymentID, HasTotal: true, Total: 12050, At: b.clock.Now(), EventID: "evt_back", Type: e.Type,
		},
	}
	b.apply(e)
	is(id, "refunded")

	// The order's own charge, paid by another amount: it can be paid no more, and its
	// places are free again.
	m, id, paymentID = buy()
	_, err = b.gateways.Sandbox.GWA.Pay(paymentID)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(),
		"UPDATE tickets.orders SET total_cents = 13000, unit_price_cents = 13000 WHERE id = $1", id)
	require.NoError(t, err)
	b.apply(forgedEvent(b, id, paymentID, 13000-950))
	confirmNow(b, 1)
	is(id, "released")
	require.Equal(t, "expired", b.ticketStatus(ticketsOf(m)[0]))
	require.Equal(t, 1, foreign(paymentID))

	// While the answer to the purchase is lost the event teaches no id; the gateway does.
	faults := b.gateways.Sandbox.GWA.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v3/payments", Kind: stage.FaultResetAfter, Times: manyTimes,
	}))
	_, id, paymentID = buy()
	faults.Clear()
	require.Empty(t, paymentID)
	b.apply(forgedEvent(b, id, "pay_nobody", 12050))
	is(id, "reserved")
	require.Len(t, confirmNow(b, 1), 1)
	require.Zero(t, b.count("SELECT count(*) FROM tickets.orders WHERE gateway_payment_id = 'pay_nobody'"))
	made, ok, err := b.gateways.A.FindPix(t.Context(), gateway.PixTerms{Reference: id})
	require.NoError(t, err)
	require.True(t, ok)
	_, err = b.gateways.Sandbox.GWA.Pay(made.Payment.ID)
	require.NoError(t, err)
	b.apply(forgedEvent(b, id, made.Payment.ID, 12050))
	is(id, "reserved")
	confirmNow(b, 1)
	is(id, "paid")
	require.Equal(t, 1, booked(id))
}

func text(b *bundle, query string, args ...any) (text string) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), query, args...).Scan(&text))
	return text
}
