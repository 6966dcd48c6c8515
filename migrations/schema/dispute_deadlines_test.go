package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestWaitingDisputesGetTheirDeadline: 01160 reads it from the logged call that a dispute's row shows, where that is
// genuine and tells one. What is decided, or of gateway A, and what an unauthenticated body says, gets none. Taken back
// and applied again it is the same.
func TestWaitingDisputesGetTheirDeadline(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files := migrator(t, url, schema.FS)
	_, err := files.DownTo(t.Context(), 1159)
	require.NoError(t, err)
	conn := connect(t, url)
	_, err = conn.Exec(t.Context(), `
		WITH dispute (name, gateway, state, event_id) AS (VALUES
			('open', 'gwb', 'open', 'evt_open'), ('inquiry', 'gwb', 'inquiry', 'evt_inquiry'), ('told twice', 'gwb', 'open', 'evt_twice'),
			('won', 'gwb', 'won', 'evt_won'), ('of gateway A', 'gwa', 'open', 'evt_a'), ('forged', 'gwb', 'open', 'evt_forged'),
			('without one', 'gwb', 'open', 'evt_none'), ('odd', 'gwb', 'open', 'evt_odd'), ('huge', 'gwb', 'open', 'evt_huge'),
			('not logged', 'gwb', 'open', 'evt_gone'), ('by hand', 'gwb', 'open', NULL))
		INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, event_id,
			opened_at, closed_at, reported_at, created_at, updated_at)
		SELECT gateway, name, name, 'subscription', platform.new_object_id(), platform.new_object_id(), 100, state, 'needs_response', event_id,
			now(), CASE WHEN state = 'won' THEN now() END, now(), now(), now() FROM dispute;
		WITH log (gateway, event_id, valid, due) AS (VALUES
			('gwb', 'evt_open', true, '1790000000'::jsonb), ('gwb', 'evt_inquiry', true, '1790000001'), ('gwb', 'evt_twice', true, '1790000002'),
			('gwb', 'evt_twice', true, '1790000002'), ('gwb', 'evt_won', true, '1790000003'), ('gwa', 'evt_a', true, '1790000004'),
			('gwb', 'evt_forged', false, '1790000005'), ('gwb', 'evt_none', true, 'null'), ('gwb', 'evt_odd', true, '"tomorrow"'),
			('gwb', 'evt_huge', true, '99999999999999999999'))
		INSERT INTO payments.webhook_logs (gateway, event_id, event_type, payload, signature_valid, received_at)
		SELECT gateway, event_id, 'charge.dispute.created', jsonb_build_object('data', jsonb_build_object('object', jsonb_build_object(
			'evidence_details', jsonb_build_object('due_by', due)))), valid, now() FROM log;
		INSERT INTO payments.webhook_logs (gateway, event_id, event_type, payload, signature_valid, received_at)
		VALUES ('gwb', 'evt_none', 'charge.dispute.created', '"no object"', true, now())`)
	require.NoError(t, err)
	for range 2 {
		_, err = files.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"inquiry 1790000001", "open 1790000000", "told twice 1790000002"}, column(t, conn, `
			SELECT gateway_dispute_id || ' ' || extract(epoch FROM evidence_due_at)::bigint FROM payments.disputes WHERE evidence_due_at IS NOT NULL ORDER BY 1`))
		require.Equal(t, []string{"11"}, column(t, conn, "SELECT count(*)::text FROM payments.disputes WHERE NOT evidence_sent"))
		_, err = files.DownTo(t.Context(), 1159)
		require.NoError(t, err)
	}
}
