package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// TestWebhookLogInMonths: each call has its month (UTC) or the rest, and a month goes without
// what is not applied yet, and without a known event being forgotten.
func TestWebhookLogInMonths(t *testing.T) {
	t.Parallel()
	db := connect(t, pgtest.URL(t))
	exec := func(sql string) {
		t.Helper()
		_, err := db.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	text := func(sql string) (s string) {
		t.Helper()
		require.NoError(t, db.QueryRow(t.Context(), sql).Scan(&s))
		return s
	}
	exec(`SET timezone = 'America/Sao_Paulo'`) // months are UTC's, whoever asks
	exec(`CREATE TEMP VIEW months AS SELECT * FROM payments.webhook_log_months WHERE begins_at IS NOT NULL`)
	require.Equal(t, "4", text(`SELECT count(*)::text FROM months`), "made by the migration")
	require.Equal(t, "9", text(`SELECT payments.add_webhook_log_months(now() - interval '9 months', 13)::text`))
	require.Equal(t, "0", text(`SELECT payments.add_webhook_log_months(now() - interval '9 months', 13)::text`))
	require.Equal(t, "true", text(`SELECT bool_and(begins_at = date_trunc('month', begins_at, 'UTC')
		AND ends_at AT TIME ZONE 'UTC' = begins_at AT TIME ZONE 'UTC' + interval '1 month')::text FROM months`))

	exec(`INSERT INTO payments.webhook_logs (gateway, event_id, event_type, payload, signature, signature_valid,
			processed, result, received_at, processed_at)
		SELECT 'gwb', 'evt_' || n, 'invoice.paid', jsonb_build_object('id', 'evt_' || n), 't=1', true, true,
			'{"status": "processed"}', at, at
		FROM generate_series(1, 200) n,
			LATERAL (SELECT (min(begins_at) AT TIME ZONE 'UTC' + n * interval '1 day') AT TIME ZONE 'UTC' AS at FROM months) x`)
	exec(`INSERT INTO payments.processed_events (gateway, event_id, log_id, state, result, event_at, updated_at)
		SELECT gateway, event_id, id,
			CASE event_id WHEN 'evt_1' THEN 'queued' WHEN 'evt_2' THEN 'waiting' ELSE 'done' END,
			result, received_at, received_at FROM payments.webhook_logs`)
	const events = `SELECT count(*) || md5(string_agg(e::text, ',' ORDER BY event_id)) FROM payments.processed_events e`
	const rest = `SELECT coalesce(string_agg(coalesce(event_id, 'ahead'), ',' ORDER BY event_id), '')
		FROM payments.webhook_logs_rest`
	known := text(events)
	require.Empty(t, text(rest))
	exec(`INSERT INTO payments.webhook_logs (gateway, payload, signature_valid, received_at)
		SELECT 'gwb', '{}', false, max(ends_at) FROM months`)
	require.Equal(t, "ahead", text(rest), "a call of a month that is not there yet is taken")

	oldest := text(`SELECT partition FROM months ORDER BY begins_at LIMIT 1`)
	ended := text(`SELECT min(ends_at)::text FROM months`)
	require.Equal(t, oldest, text(`SELECT payments.drop_webhook_log_month('`+ended+`')`))
	require.Equal(t, "evt_1,evt_2,ahead", text(rest), "what is not applied stays")
	require.Equal(t, "0", text(`SELECT count(*)::text FROM months WHERE partition = '`+oldest+`'`))
	require.Equal(t, "12", text(`SELECT count(*)::text FROM months`))
	require.Equal(t, known, text(events), "events whose logs are gone stay known")
	require.Empty(t, text(`SELECT coalesce(payments.drop_webhook_log_month('`+ended+`'), '')`))
}
