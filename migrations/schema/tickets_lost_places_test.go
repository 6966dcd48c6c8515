package schema_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestPlacesOfLostOrdersAreFreed: those that expired tickets hold; a used one was there, and
// one of a paid order may be made good again.
func TestPlacesOfLostOrdersAreFreed(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	for undone := ""; undone != "00912_tickets_lost_places.sql"; {
		var err error
		undone, err = schema.Down(ctx, url)
		require.NoError(t, err)
	}
	db, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { _ = db.Close(ctx) }()
	_, err = db.Exec(ctx, `
		INSERT INTO tickets.customers (id, name, email) VALUES (repeat('a', 24), 'Ana', 'ana@example.com');
		INSERT INTO tickets.events (id, title, event_date, capacity) VALUES (repeat('e', 24), 'Premiere', now(), 4);
		INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, payment_status, state, intent_open, created_at, updated_at)
			VALUES (repeat('1', 24), repeat('a', 24), repeat('e', 24), 2, 1000, 2000, 'gwb', 'credit_card', 'CHARGEBACK_LOST', 'lost', false, now(), now()),
				(repeat('2', 24), repeat('a', 24), repeat('e', 24), 2, 1000, 2000, 'gwb', 'credit_card', 'succeeded', 'paid', false, now(), now());
		INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason, consumed_at)
			SELECT repeat('e', 24), repeat('a', 24), repeat(o, 24), 'Premiere', s, 'edited', CASE s WHEN 'consumed' THEN now() END
			FROM (VALUES ('1', 'expired'), ('1', 'consumed'), ('2', 'expired'), ('2', 'available')) v(o, s)`)
	require.NoError(t, err)
	_, err = schema.Up(ctx, url)
	require.NoError(t, err)
	rows, err := db.Query(ctx, "SELECT concat(left(order_id, 1), ' ', status) FROM tickets.tickets WHERE NOT holds_place")
	require.NoError(t, err)
	freed, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"1 expired"}, freed)
	var issued int
	require.NoError(t, db.QueryRow(ctx, "SELECT tickets_issued FROM tickets.events").Scan(&issued))
	require.Equal(t, 3, issued)
}
