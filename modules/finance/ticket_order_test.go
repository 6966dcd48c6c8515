package finance_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

// TestATicketOrderIsToldWhole: one answer has the order's buyer, tickets, payments, refunds and disputes, and what
// happened to it in order; those of another order are not among them.
func TestATicketOrderIsToldWhole(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-06-15T12:00:00Z"))
	event, order, other := objectid.New(), objectid.New(), objectid.New()
	b.exec(`INSERT INTO tickets.events (id, title, event_date, location) VALUES ($1, 'Limite', '2026-07-01T20:00:00Z', 'Cine Ipiranga')`, event)
	for id, payment := range map[objectid.ID]string{order: "pay_one", other: "pay_other"} {
		b.exec(`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method,
				gateway_payment_id, payment_status, state, intent_open, paid_at, created_at, updated_at)
			VALUES ($1, $2, $3, 2, 4000, 8000, 'gwa', 'pix', $4, 'RECEIVED', 'paid', false, '2026-06-02T12:00:00Z', '2026-06-01T12:00:00Z', '2026-06-01T12:00:00Z')`,
			id, customerID, event, payment)
		b.exec(`INSERT INTO tickets.order_transitions (order_id, at, from_state, to_state, reason) VALUES ($1, now(), 'paid', 'refunded', 'refunded')`, id)
		b.exec(`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
			VALUES ('gwa', $1, 'order', $2, $3, 8000, 'pix', 'RECEIVED', '2026-06-02T12:00:00Z', now(), now())`, payment, id, customerID)
		b.exec(`INSERT INTO payments.refunds (gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, reason, admin,
				failure, requested_at, refunded_at, created_at, updated_at)
			VALUES ('gwa', $1, 'order', $2, $3, 4000, 'failed', 'admin', $1 || '-1', 'refund', 'The buyer is ill', 'ana', 'No balance', '2026-06-03T12:00:00Z', NULL, now(), '2026-06-03T13:00:00Z'),
				('gwa', $1, 'order', $2, $3, 4000, 'done', 'admin', $1 || '-2', 'refund', 'The buyer is ill', 'ana', NULL, '2026-06-04T12:00:00Z', '2026-06-04T13:00:00Z', now(), now())`,
			payment, id, customerID)
		b.exec(`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, reason, state, native_status, opened_at, closed_at,
				reported_at, created_at, updated_at, evidence_due_at)
			VALUES ('gwa', $1, $1, 'order', $2, $3, 4000, 'Not theirs', 'won', 'DONE', '2026-06-05T12:00:00Z', '2026-06-06T12:00:00Z', now(), now(), now(), '2026-06-20T12:00:00Z')`,
			payment, id, customerID)
	}
	b.exec(`INSERT INTO tickets.customers (id, name, email) VALUES ($1, 'Ana', 'old@example.com')`, customerID)
	b.exec(`INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason)
		SELECT $1, $2, $3, 'Poltrona', 'available', 'payment_confirmed' FROM generate_series(1, 2)`, event, customerID, order)

	got := b.get("/admin/ticket-orders/" + order.String())
	require.Equal(t, doc{
		"_id": event.String(), "title": "Limite", "event_date": "2026-07-01T20:00:00.000Z", "location": "Cine Ipiranga", "cancelled_at": nil,
	}, got["event"])
	require.Equal(t, customerID.String(), got["customer_id"])
	require.Equal(t, doc{"full_name": "Ana Souza", "email": "ana@example.com", "phone": nil}, got["buyer"])
	require.Equal(t, []any{"paid", "RECEIVED", 2.0, 40.0, 80.0, 40.0, "gwa", "pix", "pay_one"}, []any{
		got["state"], got["payment_status"], got["quantity"], got["unit_price"], got["total"], got["refunded"],
		got["gateway"], got["payment_method"], got["gateway_payment_id"],
	})
	tickets := got["tickets"].([]any)
	require.Len(t, tickets, 2)
	require.Equal(t, []any{"Poltrona", "available", order.String()}, []any{
		tickets[0].(doc)["title"], tickets[0].(doc)["status"], tickets[0].(doc)["ticket_order_id"],
	})
	require.Equal(t, []any{doc{"of": "pay_one", "amount": 80.0}}, named(got["payments"], "gateway_payment_id"))
	require.Equal(t, []any{doc{"of": "done", "amount": 40.0}, doc{"of": "failed", "amount": 40.0}}, named(got["refunds"], "status"))
	require.Equal(t, "No balance", got["refunds"].([]any)[1].(doc)["failure"])
	require.Equal(t, []any{doc{"of": "won", "amount": 40.0}}, named(got["disputes"], "state"))
	require.Equal(t, "2026-06-20T12:00:00.000Z", got["disputes"].([]any)[0].(doc)["evidence_due_at"])

	moves := got["history"].([]any)
	require.Len(t, moves, 2)
	require.Equal(t, []any{"paid", "refunded", "refunded"}, []any{
		moves[0].(doc)["from_state"], moves[0].(doc)["to_state"], moves[0].(doc)["reason"],
	}, "the newest first")
	require.Equal(t, doc{"at": "2026-06-01T12:00:00.000Z", "from_state": nil, "to_state": "paid", "reason": "not_recorded"}, moves[1])

	said := []string{}
	for _, moment := range got["timeline"].([]any) {
		said = append(said, moment.(doc)["summary"].(string))
	}
	require.Equal(t, []string{
		"2 tickets began as available (payment confirmed).", // now
		"A dispute of R$ 40.00 was won.", "A dispute of R$ 40.00 was opened.",
		"A refund of R$ 40.00 was given back.", "A refund of R$ 40.00 was asked for.",
		"A refund of R$ 40.00 failed.", "A refund of R$ 40.00 was asked for.",
		"Paid R$ 80.00 by pix at gwa.", "Ordered 2.",
	}, said)
}

func named(rows any, field string) []any {
	found := []any{}
	for _, row := range rows.([]any) {
		found = append(found, doc{"of": row.(doc)[field], "amount": row.(doc)["amount"]})
	}
	return found
}

// TestATicketOrderOfTheBoxOffice: its buyer needs no account; what it was paid and handed back by stands in it.
func TestATicketOrderOfTheBoxOffice(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-06-15T12:00:00Z"))
	event, order, buyer := objectid.New(), objectid.New(), objectid.New()
	b.exec(`INSERT INTO tickets.events (id, title, event_date, cancelled_at, is_active) VALUES ($1, 'Limite', '2026-07-01T20:00:00Z', '2026-06-10T12:00:00Z', false)`, event)
	b.exec(`INSERT INTO tickets.customers (id, name, email) VALUES ($1, 'Rui at the counter', '')`, buyer)
	b.exec(`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, payment_method, payment_status, state, intent_open,
			sold_by_id, sold_by, note, buyer_phone, paid_at, created_at, updated_at)
		VALUES ($1, $2, $3, 1, 4000, 4000, 'cash', 'RECEIVED', 'paid', false, $4, 'admin', 'At the door', '+5511987654321', '2026-06-01T12:00:00Z', '2026-06-01T12:00:00Z', now())`,
		order, buyer, event, adminID)
	b.exec(`INSERT INTO payments.refunds (payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, reason, admin, admin_id, kind,
			requested_at, refunded_at, created_at, updated_at)
		VALUES ($1::text, 'order', $1::text, $2, 4000, 'done', 'admin', 'HAND-1', 'refund', 'Called off', 'admin', $3, 'by_hand', '2026-06-11T12:00:00Z', '2026-06-11T12:00:00Z', now(), now())`,
		order, buyer, adminID)
	got := b.get("/admin/ticket-orders/" + order.String())
	require.Nil(t, got["customer_id"])
	require.Equal(t, doc{"full_name": "Rui at the counter", "email": "", "phone": "+5511987654321"}, got["buyer"])
	require.Equal(t, []any{nil, "cash", "admin", "At the door", 40.0}, []any{
		got["gateway"], got["payment_method"], got["sold_by"], got["note"], got["refunded"],
	})
	said := []string{}
	for _, moment := range got["timeline"].([]any) {
		said = append(said, moment.(doc)["summary"].(string))
	}
	require.Equal(t, []string{
		"A refund of R$ 40.00 was given back.", "The event was called off.", "Paid R$ 40.00 at the box office.", "Ordered 1.",
	}, said)

	require.Equal(t, "Order not found.", b.admin.Get("/admin/ticket-orders/"+unknown).Expect(http.StatusNotFound).Detail())
}
