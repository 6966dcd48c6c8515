package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const namedGuests = `INSERT INTO tickets.customers (id, name, email)
	SELECT lpad(to_hex(k), 24, 'a'), 'Guest ' || k, 'guest' || k || '@example.com' FROM generate_series(1, $1::int) k ON CONFLICT DO NOTHING`

// guests gives tickets of an event to people who have nothing else, as an admin would: for its list of guests.
func guests(ctx context.Context, conn *pgx.Conn, event string, n int) error {
	if _, err := conn.Exec(ctx, namedGuests, n); err != nil {
		return fmt.Errorf("name guests: %w", err)
	}
	const tickets = `INSERT INTO tickets.tickets (event_id, customer_id, title, status, reason)
	SELECT $1, lpad(to_hex(k), 24, 'a'), 'Ticket ' || k, 'available', 'admin' FROM generate_series(1, $2::int) k`
	if _, err := conn.Exec(ctx, tickets, event, n); err != nil {
		return fmt.Errorf("give tickets: %w", err)
	}
	_, err := conn.Exec(ctx, "ANALYZE tickets.tickets; ANALYZE tickets.customers")
	return err
}

// sales sells tickets of an event by orders of two, over the last sixty days and by both methods: for its sale, its
// orders and its list of guests.
func sales(ctx context.Context, conn *pgx.Conn, event string, n int) error {
	const perOrder = 2
	if _, err := conn.Exec(ctx, namedGuests, n/perOrder); err != nil {
		return fmt.Errorf("name buyers: %w", err)
	}
	const orders = `WITH sold AS (
		INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, gateway_payment_id,
			payment_status, state, paid_at, intent_open, created_at, updated_at)
		SELECT platform.new_object_id(), lpad(to_hex(k), 24, 'a'), $1::text, $3::int, 4000, 4000 * $3::int, 'gwa', CASE k % 3 WHEN 0 THEN 'pix' ELSE 'credit_card' END,
			'pay_fill_' || $1::text || '_' || k, 'CONFIRMED', 'paid', at, false, at, at
		FROM generate_series(1, $2::int / $3::int) k
		CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now()) - k * interval '60 days' / ($2::int / $3::int) AS at) t
		RETURNING id, customer_id, total_cents, gateway_payment_id, payment_method, created_at
	), noted AS (
		INSERT INTO tickets.order_transitions (order_id, at, to_state, reason) SELECT id, created_at, 'paid', 'not_recorded' FROM sold
	), paid AS (
		INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status,
			settled_at, created_at, updated_at)
		SELECT 'gwa', gateway_payment_id, 'order', id, customer_id, total_cents, payment_method, 'CONFIRMED', created_at, created_at, created_at FROM sold
	)
	INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason)
	SELECT $1::text, s.customer_id, s.id, 'Ticket ' || k, 'available', 'order_paid' FROM sold s CROSS JOIN generate_series(1, $3::int) k`
	if _, err := conn.Exec(ctx, orders, event, n, perOrder); err != nil {
		return fmt.Errorf("sell tickets: %w", err)
	}
	_, err := conn.Exec(ctx, "ANALYZE tickets.tickets; ANALYZE tickets.orders; ANALYZE tickets.customers")
	return err
}
