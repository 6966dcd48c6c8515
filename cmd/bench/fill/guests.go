package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// guests gives tickets of an event to people who have nothing else, as an admin would: for its list of guests.
func guests(ctx context.Context, conn *pgx.Conn, event string, n int) error {
	const names = `INSERT INTO tickets.customers (id, name, email)
	SELECT lpad(to_hex(k), 24, 'a'), 'Guest ' || k, 'guest' || k || '@example.com' FROM generate_series(1, $1::int) k ON CONFLICT DO NOTHING`
	if _, err := conn.Exec(ctx, names, n); err != nil {
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
