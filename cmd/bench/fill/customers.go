package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// people adds customers who have nothing: for exports and lists of many.
func people(ctx context.Context, conn *pgx.Conn, n int) error {
	const statement = `INSERT INTO accounts.users (user_type, username, email, full_name, created_at, updated_at)
	SELECT 'customer', 'many' || k, 'many' || k || '@example.com', 'Many ' || k, at, at FROM generate_series(1, $1::int) k
	CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now()) - k * interval '20 seconds' AS at) t
	ON CONFLICT DO NOTHING`
	if _, err := conn.Exec(ctx, statement, n); err != nil {
		return fmt.Errorf("add customers: %w", err)
	}
	_, err := conn.Exec(ctx, "ANALYZE accounts.users")
	return err
}
