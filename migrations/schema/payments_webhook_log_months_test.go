package schema_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

const webhookLogMonths = "00440_payments_webhook_log_months.sql"

// downTo takes back everything down to that migration, with it.
func downTo(t *testing.T, url, file string) {
	t.Helper()
	for undone := ""; undone != file; {
		var err error
		undone, err = schema.Down(t.Context(), url)
		require.NoError(t, err)
	}
}

// TestWebhookLogInMonths: a filled log becomes one in months and a plain one
// again, and not a row, an event or a promise of the schema is lost.
func TestWebhookLogInMonths(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	downTo(t, url, webhookLogMonths)
	db, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	exec := func(sql string) {
		t.Helper()
		_, err := db.Exec(ctx, sql)
		require.NoError(t, err)
	}
	text := func(sql string) (s string) {
		t.Helper()
		require.NoError(t, db.QueryRow(ctx, sql).Scan(&s))
		return s
	}
	exec(`SET timezone = 'America/Sao_Paulo'`) // months are UTC's, whoever migrates
	exec(`INSERT INTO payments.webhook_logs (gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at)
		SELECT 'gwb', 'evt_' || n, 'invoice.paid', jsonb_build_object('id', 'evt_' || n), 't=1', true, true, '{"status": "processed"}', at, at
		FROM generate_series(1, 300) n, LATERAL (SELECT now() - n * interval '1 day' + interval '2 months' AS at) x`)
	exec(`INSERT INTO payments.processed_events (gateway, event_id, log_id, state, result, event_at, updated_at)
		SELECT gateway, event_id, id, CASE event_id WHEN 'evt_299' THEN 'queued' WHEN 'evt_300' THEN 'waiting' ELSE 'done' END, result, received_at, received_at FROM payments.webhook_logs`)
	const all = `SELECT count(*) || md5(string_agg(l::text, ',' ORDER BY id)) FROM (
		SELECT id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at FROM payments.webhook_logs) l`
	const events = `SELECT count(*) || md5(string_agg(e::text, ',' ORDER BY event_id)) FROM payments.processed_events e`
	logs, known := text(all), text(events)

	_, err = schema.Up(ctx, url)
	require.NoError(t, err)
	require.Equal(t, logs, text(all))
	require.Equal(t, known, text(events))
	require.Equal(t, "300", text(`SELECT count(*)::text FROM payments.webhook_logs_early`), "what was there is not copied")
	exec(`INSERT INTO payments.webhook_logs (gateway, payload, signature_valid, received_at) SELECT 'gwb', '{}', false, (SELECT ends_at FROM payments.webhook_log_months WHERE partition = 'webhook_logs_early')`)
	require.Equal(t, "0", text(`SELECT count(*)::text FROM payments.webhook_logs_rest`), "the months after it are there")
	require.Equal(t, "t", text(`SELECT bool_and(begins_at IS NULL OR begins_at = date_trunc('month', begins_at, 'UTC') AND ends_at = begins_at AT TIME ZONE 'UTC' + interval '1 month')::text::char(1) FROM (
		SELECT begins_at, ends_at AT TIME ZONE 'UTC' AS ends_at FROM payments.webhook_log_months) m`))
	require.Equal(t, "webhook_logs_early", text(`SELECT payments.drop_webhook_log_month(now() + interval '4 months')`))
	require.Equal(t, "evt_299,evt_300", text(`SELECT string_agg(event_id, ',' ORDER BY event_id) FROM payments.webhook_logs_rest`), "what is not applied stays")

	logs, known = text(all), text(events)
	downTo(t, url, webhookLogMonths)
	require.Equal(t, logs, text(all))
	require.Equal(t, known, text(events), "events whose logs are gone stay known")
	_, err = db.Exec(ctx, `INSERT INTO payments.processed_events SELECT gateway, 'another', '0123456789abcdef01234567', 'done', subjects, result, event_at, updated_at FROM payments.processed_events LIMIT 1`)
	require.ErrorContains(t, err, "processed_events_log_id_fkey")
	_, err = schema.Up(ctx, url)
	require.NoError(t, err)
	require.Equal(t, logs, text(all))
	require.Equal(t, known, text(events))
}
