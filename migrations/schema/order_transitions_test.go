package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestOrdersFromBeforeTheHistoryBeginIt: 01221 writes where they stood when 01220 came, also of those that have been
// moved between the two. Taken back and applied again, the history begins where it then stands.
func TestOrdersFromBeforeTheHistoryBeginIt(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files := migrator(t, url, schema.FS)
	_, err := files.DownTo(t.Context(), 1219)
	require.NoError(t, err)
	conn := connect(t, url)
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	insert := func(id, state string) {
		t.Helper()
		exec(`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, payment_status, state, hold_until, intent_open, created_at, updated_at)
			VALUES ('` + id + `', '000000000000000000000091', '0000000000000000000000ee', 1, 1000, 1000, 'gwb', 'pix', 'x', '` + state + `', now(), false, now(), now())`)
	}
	exec(`INSERT INTO tickets.events (id, title, event_date) VALUES ('0000000000000000000000ee', 'Premiere', now())`)
	insert("0000000000000000000000d1", "paid")
	insert("0000000000000000000000d2", "reserved")
	_, err = files.UpTo(t.Context(), 1220)
	require.NoError(t, err)
	insert("0000000000000000000000d3", "reserved")
	exec(`UPDATE tickets.orders SET state = 'paid' WHERE state = 'reserved'; UPDATE tickets.orders SET payment_status = 'y';
		UPDATE tickets.orders SET state = 'refunded' WHERE id = '0000000000000000000000d2'`)
	moves := func() []string {
		return column(t, conn, `SELECT concat(right(order_id, 2), ' ', from_state, '>', to_state, ' ', reason)
			FROM tickets.order_transitions ORDER BY order_id, id`)
	}
	for range 2 {
		_, err = files.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{
			"d1 >paid not_recorded",
			"d2 >reserved not_recorded", "d2 reserved>paid not_recorded", "d2 paid>refunded not_recorded",
			"d3 >reserved not_recorded", "d3 reserved>paid not_recorded",
		}, moves())
		_, err = files.DownTo(t.Context(), 1220)
		require.NoError(t, err)
	}
	_, err = files.DownTo(t.Context(), 1219)
	require.NoError(t, err)
	_, err = files.Up(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"d1 >paid not_recorded", "d2 >refunded not_recorded", "d3 >paid not_recorded"}, moves())
}
