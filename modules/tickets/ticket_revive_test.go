package tickets_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// moveEvent gives an event another start, with changes.
func moveEvent(b *bundle, event objectid.ID, to time.Time, changes object) object {
	b.t.Helper()
	body := object{"_id": event, "event_date": to.Format(time.RFC3339)}
	for k, v := range changes {
		body[k] = v
	}
	return docs(b.admin.Put("/events", []object{body}).Expect(200))[0]
}

// A date typed wrong costs nobody their ticket: once it is put right, what expired
// because of it is what it was before.
func TestTicketsComeBackWhenTheirEventIsNotOverAfterAll(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	event := b.event(nil)
	buy := func() (order string, ticket objectid.ID, payment string) {
		m := b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200).Map()
		return m["order"].(object)["_id"].(string), ticketsOf(m)[0], m["order"].(object)["gateway_payment_id"].(string)
	}
	_, bought, _ := buy()
	returned, void, money := buy()
	given, waiting, used, withdrawn, deleted := b.give(b.customer.ID, event), b.give(b.customer.ID, event),
		b.give(b.customer.ID, event), b.give(b.customer.ID, event), b.give(b.customer.ID, event)
	b.admin.Put("/tickets", []object{
		{"_id": waiting, "status": "pending"},
		{"_id": withdrawn, "status": "expired"},
	}).Expect(200)
	b.admin.Put("/tickets/"+used.String()+"/consume", nil).Expect(200)
	code := b.code(given)

	moveEvent(b, event, b.clock.Now().AddDate(-1, 0, 0), nil)
	b.sweep()
	for _, ticket := range []objectid.ID{bought, void, given, waiting, deleted} {
		require.Equal(t, "expired", b.ticketStatus(ticket))
	}
	_, err := b.gateways.B.Refund(t.Context(), gateway.RefundTerms{
		RefundID: objectid.New(), Amount: 12050, RequestedAt: time.Now(), Payment: gateway.PaymentRef{PaymentID: money},
	})
	require.NoError(t, err)
	b.settle()
	state, _ := b.orderRow(returned)
	require.Equal(t, "refunded", state)
	b.admin.Delete("/tickets?_id="+deleted.String(), nil).Expect(200)
	moveEvent(b, event, b.clock.Now().AddDate(-1, 1, 0), object{"title": "Still over"})
	require.Equal(t, "expired", b.ticketStatus(given))

	doc := moveEvent(b, event, b.clock.Now().AddDate(0, 1, 0), nil)
	for ticket, status := range map[objectid.ID]string{
		bought: "available", given: "available", waiting: "pending", used: "consumed", withdrawn: "expired",
		void: "expired",
	} {
		require.Equal(t, status, b.ticketStatus(ticket))
	}
	require.Equal(t, 5, b.issued(event), "the place of the refunded order is free")
	require.InDelta(t, 5, doc["tickets_issued"], 0)
	rows, err := b.db.Query(t.Context(),
		"SELECT concat(from_status, '>', to_status, ' ', reason, ' ', actor_id IS NOT NULL) FROM tickets.transitions WHERE ticket_id = $1 ORDER BY id", waiting)
	require.NoError(t, err)
	moves, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{
		">available admin t", "available>pending edited t", "pending>expired event_ended f",
		"expired>pending event_moved t",
	}, moves)
	require.Equal(t, code, b.code(given), "the code that was shown before opens the door")
	b.admin.Post("/tickets/consume-qr", object{"qr_payload": code}).Expect(200)
}

// Tickets that gave their places back return as far as there are places.
func TestTicketsComeBackWithinTheCapacity(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(object{"capacity": 4})
	given, first := b.give(b.customer.ID, event), b.give(b.customer.ID, event)
	b.clock.Advance(time.Minute)
	second := b.give(b.customer.ID, event)
	b.admin.Put("/tickets", []object{
		{"_id": first, "status": "pending"},
		{"_id": second, "status": "pending"},
	}).Expect(200)
	moveEvent(b, event, b.clock.Now().AddDate(-1, 0, 0), nil)
	b.sweep()
	require.Equal(t, 1, b.issued(event))
	moveEvent(b, event, b.clock.Now().AddDate(0, 1, 0), object{"capacity": 2})
	require.Equal(t, "available", b.ticketStatus(given))
	require.Equal(t, "pending", b.ticketStatus(first))
	require.Equal(t, "expired", b.ticketStatus(second))
	require.Equal(t, 2, b.issued(event))
}
