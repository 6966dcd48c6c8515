package tickets_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	gwastage "marquee/testutil/sandbox/gwa/account"
)

// refusedAs is what a scan is answered whose ticket was void or blocked.
func refusedAs(reason string, since time.Time) []any {
	return []any{"refused", reason, since.UTC().Format("2006-01-02T15:04:05.000Z")}
}

func reported(scan object) []any { return []any{scan["result"], scan["reason"], scan["at"]} }

// disputer opens and decides disputes of payments at a gateway.
type disputer struct {
	buy   func(b *bundle, event objectid.ID) object
	open  func(b *bundle, payment string)
	close func(b *bundle, payment string, won bool)
}

var disputers = map[string]disputer{
	"gwa": {
		buy: func(b *bundle, event objectid.ID) object {
			return b.me.Post("/store/purchase/gwa/card", cardA(event, 2, paymentstest.CardApproved)).Expect(200).Map()
		},
		open: func(b *bundle, payment string) {
			_, err := b.gateways.Sandbox.GWA.Chargeback(payment, gwastage.ChargebackRequested, "")
			require.NoError(b.t, err)
		},
		close: func(b *bundle, payment string, won bool) {
			step := map[bool]gwastage.ChargebackStep{true: gwastage.ChargebackWon, false: gwastage.ChargebackLost}[won]
			_, err := b.gateways.Sandbox.GWA.Chargeback(payment, step, "")
			require.NoError(b.t, err)
		},
	},
	"gwb": {
		buy: func(b *bundle, event objectid.ID) object {
			return b.me.Post("/store/purchase/gwb/card", cardB(event, 2, paymentstest.TokenApproved)).Expect(200).Map()
		},
		open: func(b *bundle, payment string) {
			_, err := b.gateways.Sandbox.GWB.OpenDispute(payment, "fraudulent", false)
			require.NoError(b.t, err)
		},
		close: func(b *bundle, payment string, won bool) {
			var id string
			require.NoError(b.t,
				b.db.QueryRow(b.t.Context(), "SELECT gateway_dispute_id FROM payments.disputes WHERE payment_ref = $1",
					payment).Scan(&id))
			require.NoError(b.t, b.gateways.Sandbox.GWB.CloseDispute(id, won))
		},
	},
}

// paidPixGWB buys two tickets by a PIX of gateway B, and pays it.
func paidPixGWB(b *bundle) (res object, id, payment string) {
	b.t.Helper()
	res = b.me.Post("/store/purchase/gwb/pix", pix(b.event(nil), 2)).Expect(200).Map()
	id, payment = order(res)["_id"].(string), order(res)["gateway_payment_id"].(string)
	require.NoError(b.t, b.gateways.Sandbox.GWB.PayPIX(payment))
	return res, id, payment
}

func revokedCodes(b *bundle, event objectid.ID) []any {
	b.t.Helper()
	return b.admin.Get("/events/" + event.String() + "/checkin-bundle").Expect(200).Map()["revoked"].([]any)
}

// TestDisputedOrdersOpenNoDoor: while a dispute is open the tickets are blocked and keep
// status and place; a won one gives them back; a lost one voids what is not used, frees
// the places, and takes the order out of the paid ones.
func TestDisputedOrdersOpenNoDoor(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		d := disputers[gateway]
		b.listen()
		event := b.event(nil)
		m := d.buy(b, event)
		id, payment := order(m)["_id"].(string), order(m)["gateway_payment_id"].(string)
		used, unused := ticketsOf(m)[0], ticketsOf(m)[1]
		code := b.code(unused)
		paidWord := order(m)["payment_status"]
		b.admin.Put("/tickets/"+used.String()+"/consume", nil).Expect(200)
		require.Nil(t, docs(b.me.Get("/me/tickets?_id=" + unused.String()).Expect(200))[0]["blocked"])
		b.clock.Advance(time.Minute)

		opened := b.clock.Now()
		d.open(b, payment)
		b.settle()
		doc := docs(b.me.Get("/me/tickets?_id=" + unused.String()).Expect(200))[0]
		require.Equal(t, "available", doc["status"])
		require.Equal(t, "payment_disputed", doc["blocked"])
		require.Nil(t, docs(b.admin.Get("/tickets?_id=" + used.String()).Expect(200))[0]["blocked"],
			"it was used before")
		require.Len(t,
			docs(b.admin.Get("/tickets?query="+url.QueryEscape(`{"blocked":"payment_disputed"}`)).Expect(200)), 1)
		for _, a := range []*apitest.Response{
			b.me.Get("/me/tickets/" + unused.String() + "/qr"),
			b.me.Put("/tickets/"+unused.String()+"/consume", nil),
			b.admin.Put("/tickets/"+unused.String()+"/consume", nil),
			b.admin.Post("/tickets/consume-qr", object{"qr_payload": code}),
		} {
			require.Contains(t, a.Expect(409).Detail(), "payment_disputed")
			require.Equal(t, "blocked", a.Field())
		}
		scan := b.scanned(code, b.clock.Now())
		require.Equal(t, refusedAs("payment_disputed", opened), reported(scan))
		require.Equal(t, true, scan["conflict"])
		require.Equal(t, []any{unused.String()}, revokedCodes(b, event))
		require.Equal(t, 2, b.issued(event), "places stay held")
		state, status := b.orderRow(id)
		require.Equal(t, "paid", state)
		require.Equal(t, paidWord, status)

		b.clock.Advance(30 * time.Second)
		won := b.clock.Now()
		d.close(b, payment, true)
		b.settle()
		require.Nil(t, docs(b.me.Get("/me/tickets?_id=" + unused.String()).Expect(200))[0]["blocked"])
		require.Equal(t, code, b.code(unused))
		require.Empty(t, revokedCodes(b, event))
		state, status = b.orderRow(id)
		require.Equal(t, "paid", state)
		require.Equal(t, paidWord, status)
		b.clock.Advance(30 * time.Second)
		refunded := b.clock.Now()
		b.admin.Post("/admin/ticket-orders/"+id+"/refund", object{
			"reason":     "they cannot come",
			"ticket_ids": []objectid.ID{unused},
		}).Expect(200)
		b.settle()
		require.Equal(t, "expired", b.ticketStatus(unused))
		require.Equal(t, refusedAs("payment_disputed", opened), reported(b.scanned(code, opened)),
			"a dispute that was won later")
		require.Equal(t, refusedAs("payment_disputed", opened),
			reported(b.scanned(code, won.Add(-time.Millisecond))))
		require.Equal(t, "expired", b.scanned(code, won)["result"], "it was good then")
		require.Equal(t, "expired", b.scanned(code, opened.Add(-time.Millisecond))["result"])
		require.Equal(t, refusedAs("refunded", refunded), reported(b.scanned(code, b.clock.Now())))

		second := d.buy(b, event)
		id, payment = order(second)["_id"].(string), order(second)["gateway_payment_id"].(string)
		used, unused = ticketsOf(second)[0], ticketsOf(second)[1]
		code = b.code(unused)
		early := b.code(used)
		b.clock.Advance(time.Minute)
		opened = b.clock.Now()
		before := opened.Add(-30 * time.Second)
		d.open(b, payment)
		b.settle()
		require.Equal(t, "consumed", b.scanned(early, before)["result"], "they came in before anybody disputed")
		b.clock.Advance(30 * time.Second)
		lost := b.clock.Now()
		d.close(b, payment, false)
		b.settle()
		state, status = b.orderRow(id)
		require.Equal(t, "lost", state)
		require.Equal(t, "CHARGEBACK_LOST", status)
		require.Equal(t, "consumed", b.ticketStatus(used))
		require.Equal(t, "expired", b.ticketStatus(unused))
		require.Equal(t, 2, b.issued(event), "the places of the unused ones are free")
		require.Len(t, revokedCodes(b, event), 2)
		require.Equal(t, 1, b.count("SELECT count(*) FROM payments.refunds"), "a lost dispute is no refund")
		require.Equal(t, 1, b.count("SELECT count(*) FROM finance.orders WHERE is_paid"))
		require.Equal(t, 12050, b.count("SELECT revenue_cents FROM finance.events WHERE event_id = $1", event))
		require.Equal(t, refusedAs("payment_disputed", opened), reported(b.scanned(code, opened.Add(time.Second))),
			"a dispute that was lost later")
		require.Equal(t, refusedAs("payment_disputed", lost), reported(b.scanned(code, lost)))
		require.Equal(t, "CHARGEBACK_LOST",
			b.me.Get("/me/ticket-orders/" + id).Expect(200).Map()["order"].(object)["payment_status"])
	})
}

// TestALostDisputeFreesThePlacesOfExpiredTickets: whether an admin expired them before the
// dispute, during it, or, being used, after it.
func TestALostDisputeFreesThePlacesOfExpiredTickets(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		d := disputers[gateway]
		b.listen()
		event := b.event(object{"capacity": 2})
		set := func(ticket objectid.ID, status string) {
			t.Helper()
			b.admin.Put("/tickets", []object{{"_id": ticket, "status": status}}).Expect(200)
		}
		m := d.buy(b, event)
		payment, all := order(m)["gateway_payment_id"].(string), ticketsOf(m)
		code := b.code(all[1])
		set(all[0], "expired")
		require.Equal(t, 2, b.issued(event), "it is paid, and may be made good again")
		opened := b.clock.Now()
		d.open(b, payment)
		b.settle()
		b.clock.Advance(time.Minute)
		set(all[1], "expired")
		require.Equal(t, 2, b.issued(event), "and the dispute may be won")
		require.Equal(t, refusedAs("payment_disputed", opened), reported(b.scanned(code, opened)),
			"it was blocked before it was edited")
		d.close(b, payment, false)
		b.settle()
		require.Zero(t, b.issued(event))

		m = d.buy(b, event)
		payment, all = order(m)["gateway_payment_id"].(string), ticketsOf(m)
		b.admin.Put("/tickets/"+all[0].String()+"/consume", nil).Expect(200)
		d.open(b, payment)
		b.settle()
		d.close(b, payment, false)
		b.settle()
		require.Equal(t, 1, b.issued(event), "who came in was there")
		set(all[0], "expired")
		require.Zero(t, b.issued(event))

		m = d.buy(b, event)
		payment, all = order(m)["gateway_payment_id"].(string), ticketsOf(m)
		edited, good := b.code(all[0]), b.code(all[1])
		opened = b.clock.Now()
		d.open(b, payment)
		b.settle()
		b.clock.Advance(time.Minute)
		set(all[0], "expired")
		d.close(b, payment, true)
		b.settle()
		require.Equal(t, refusedAs("payment_disputed", opened), reported(b.scanned(edited, opened)),
			"neither then nor now")
		require.Equal(t, "consumed", b.scanned(good, opened)["result"], "they are in, and it is good: once")
		require.Equal(t, 2, b.issued(event), "it may be made good again")
	})
}

// TestADisputeMayBeToldBeforeItsPayment: in any order of the events the same stands.
func TestADisputeMayBeToldBeforeItsPayment(t *testing.T) {
	t.Parallel()
	for _, inTurn := range paymentstest.Permutations("payment_intent.succeeded", "charge.dispute.created",
		"charge.dispute.closed") {
		t.Run(strings.Join(inTurn, " "), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			m, id, payment := paidPixGWB(b)
			dispute, err := b.gateways.Sandbox.GWB.OpenDispute(payment, "fraudulent", false)
			require.NoError(t, err)
			require.NoError(t, b.gateways.Sandbox.GWB.CloseDispute(dispute, false))
			for _, kind := range inTurn {
				b.gateways.DeliverGWB(t, b.nobody.URL(), kind, payment)
			}
			state, status := b.orderRow(id)
			require.Equal(t, "lost", state)
			require.Equal(t, "CHARGEBACK_LOST", status)
			for _, ticket := range ticketsOf(m) {
				require.Equal(t, "expired", b.ticketStatus(ticket))
			}
		})
	}
}

// TestScansAfterATicketWasVoidAreRefused: with the reason and since when, and so are
// those that no clock can have told.
func TestScansAfterATicketWasVoidAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	edited, waiting, good := b.give(b.customer.ID, event), b.give(b.customer.ID, event), b.give(b.customer.ID, event)
	editedCode, waitingCode, goodCode := b.code(edited), b.code(waiting), b.code(good)
	issued := b.clock.Now()
	b.clock.Advance(time.Hour)
	voided := b.clock.Now()
	b.admin.Put("/tickets", []object{
		{"_id": edited, "status": "expired"},
		{"_id": waiting, "status": "pending"},
	}).Expect(200)
	b.clock.Advance(time.Hour)
	for _, code := range []string{editedCode, waitingCode} {
		require.Equal(t, refusedAs("edited", voided), reported(b.scanned(code, voided.Add(time.Minute))))
	}
	require.Equal(t, "consumed", b.scanned(editedCode, voided.Add(-time.Minute))["result"],
		"before the edit it was good")

	require.Equal(t, refusedAs("before_issue", issued), reported(b.scanned(goodCode, issued.Add(-6*time.Minute))))
	require.Equal(t, refusedAs("clock_ahead", b.clock.Now()),
		reported(b.scanned(goodCode, b.clock.Now().Add(6*time.Minute))))
	require.Equal(t, "available", b.ticketStatus(good))
	require.Equal(t, "consumed", b.scanned(goodCode, issued.Add(-4*time.Minute))["result"], "clocks differ a little")
}
