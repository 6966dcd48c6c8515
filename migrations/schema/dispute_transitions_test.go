package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestDisputesFromBeforeTheHistoryBeginIt: 01226 writes where they stood when 01225 came, also of one that has been moved
// between the two, and may be taken back and applied again.
func TestDisputesFromBeforeTheHistoryBeginIt(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files := migrator(t, url, schema.FS)
	_, err := files.DownTo(t.Context(), 1224)
	require.NoError(t, err)
	conn := connect(t, url)
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	insert := func(id string) {
		t.Helper()
		exec(`INSERT INTO payments.disputes (id, gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
			VALUES ('` + id + `', 'gwb', '` + id + `', 'pi', 'order', '000000000000000000000001', '000000000000000000000091', 100, 'open', 'needs_response', now(), now(), now(), now())`)
	}
	insert("0000000000000000000000d1")
	insert("0000000000000000000000d2")
	_, err = files.UpTo(t.Context(), 1225)
	require.NoError(t, err)
	insert("0000000000000000000000d3")
	exec(`UPDATE payments.disputes SET state = 'lost', closed_at = now() WHERE id <> '0000000000000000000000d1'; UPDATE payments.disputes SET native_status = 'x'`)
	for range 2 {
		_, err = files.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{
			"d1 >open not_recorded", "d2 >open not_recorded", "d2 open>lost not_recorded",
			"d3 >open not_recorded", "d3 open>lost not_recorded",
		}, column(t, conn, `SELECT concat(right(dispute_id, 2), ' ', from_state, '>', to_state, ' ', action, reason)
			FROM payments.dispute_transitions ORDER BY dispute_id, id`))
		_, err = files.DownTo(t.Context(), 1225)
		require.NoError(t, err)
	}
}
