package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestRefundsFromBeforeTheHistoryBeginIt: 01239 writes where they stood when 01238 came, also of one that has been moved
// between the two, and may be taken back and applied again.
func TestRefundsFromBeforeTheHistoryBeginIt(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files := migrator(t, url, schema.FS)
	_, err := files.DownTo(t.Context(), 1237)
	require.NoError(t, err)
	conn := connect(t, url)
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	insert := func(id string) {
		t.Helper()
		exec(`INSERT INTO payments.refunds (id, gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, created_at, updated_at)
			VALUES ('` + id + `', 'gwb', 'pi', 'order', '000000000000000000000001', '000000000000000000000091', 100, 'requested', 'admin', 'e', 'x', now(), now(), now())`)
	}
	insert("0000000000000000000000e1")
	insert("0000000000000000000000e2")
	_, err = files.UpTo(t.Context(), 1238)
	require.NoError(t, err)
	insert("0000000000000000000000e3")
	exec(`UPDATE payments.refunds SET status = 'failed' WHERE id <> '0000000000000000000000e1'; UPDATE payments.refunds SET reason = 'x'`)
	for range 2 {
		_, err = files.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{
			"e1 >requested not_recorded", "e2 >requested not_recorded", "e2 requested>failed not_recorded",
			"e3 >requested not_recorded", "e3 requested>failed not_recorded",
		}, column(t, conn, `SELECT concat(right(refund_id, 2), ' ', from_state, '>', to_state, ' ', action, reason)
			FROM payments.refund_transitions ORDER BY refund_id, id`))
		_, err = files.DownTo(t.Context(), 1238)
		require.NoError(t, err)
	}
}
