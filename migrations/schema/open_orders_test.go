package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestOpenOrdersGetTheirIntents: rows that are open when it comes are carried on by the checks; what has an intent
// keeps it. Their calls are those of the release before, which are not known: what is looked for is proved to be missing
// before it is called again, and a pause or charge move is the same again. Of a move to another plan alone a refusal
// counts, unless it was tried before. Taken back, rows of the new form are those of the old.
func TestOpenOrdersGetTheirIntents(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files := migrator(t, url, schema.FS)
	_, err := files.DownTo(t.Context(), 1083)
	require.NoError(t, err)
	conn := connect(t, url)
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`SET session_replication_role = replica; -- no customers, plans and events
		INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, intent_open, recovery_at, register_date, register_update_date)
		SELECT lpad(n::text, 24, '0'), lpad('9' || n::text, 24, '0'), 'plus', 'gwb', 'credit_card', 'pending', 4990, 1, n < 3, CASE WHEN n < 3 THEN now() END, now(), now() FROM generate_series(1, 3) n;
		INSERT INTO subscriptions.pauses (id, subscription_id, state, since, next_try_at, ended_at, register_date)
		VALUES ('0000000000000000000000a1', '000000000000000000000001', 'pausing', now(), now(), NULL, now()), ('0000000000000000000000a2', '000000000000000000000002', 'resuming', now(), now(), NULL, now()),
			('0000000000000000000000a3', '000000000000000000000003', 'paused', now(), NULL, NULL, now());
		INSERT INTO subscriptions.charge_moves (id, subscription_id, from_at, to_at, next_try_at, register_date) VALUES ('0000000000000000000000b1', '000000000000000000000001', now(), now() + interval '1 day', now(), now());
		INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, tries, next_try_at, register_date) VALUES ('0000000000000000000000b2', '000000000000000000000002', 'plus', 0, now(), now()),
			('0000000000000000000000b3', '000000000000000000000003', 'plus', 1, now(), now());
		INSERT INTO subscriptions.renewal_charges (id, subscription_id, customer_id, gateway, amount_cents, state, payable_until, intent_open, look_at, register_date, register_update_date)
		VALUES ('0000000000000000000000c1', '000000000000000000000001', '000000000000000000000091', 'gwa', 4990, 'open', now(), true, now(), now(), now());
		INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, payment_status, state, hold_until, intent_open, recovery_at, created_at, updated_at)
		VALUES ('0000000000000000000000d1', '000000000000000000000091', '0000000000000000000000ee', 1, 1000, 1000, 'gwb', 'pix', 'x', 'reserved', now(), true, now(), now(), now());
		INSERT INTO payments.intents (id, kind, subject_id, customer_id, gateway, reference, calls, next_look_at, created_at)
		VALUES ('0000000000000000000000f1', 'subscription', '000000000000000000000002', '000000000000000000000092', 'gwb', 'x', 1, now() + interval '1 hour', now())`)
	_, err = files.Up(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{
		"charge_move 0000000000000000000000b1 gwb 0 000000000000000000000091", "order 0000000000000000000000d1 gwb 0 000000000000000000000091",
		"pause 0000000000000000000000a1 gwb 0 000000000000000000000091", "pause 0000000000000000000000a2 gwb 0 000000000000000000000092",
		"plan_move 0000000000000000000000b2 gwb 0 000000000000000000000092",
		"plan_move 0000000000000000000000b3 gwb 1 000000000000000000000093",
		"renewal_charge 0000000000000000000000c1 gwa 0 000000000000000000000091",
		"subscription 000000000000000000000001 gwb 0 000000000000000000000091", "subscription 000000000000000000000002 gwb 1 000000000000000000000092",
	}, column(t, conn, "SELECT concat_ws(' ', kind, subject_id, gateway, calls, customer_id) FROM payments.intents WHERE state = 'open' ORDER BY 1"))
	require.Equal(t, []string{"8"}, column(t, conn, "SELECT count(*)::text FROM payments.intent_steps WHERE outcome = 'seen'"))
	exec(`UPDATE subscriptions.pauses SET next_try_at = NULL; UPDATE subscriptions.charge_moves SET next_try_at = NULL; UPDATE subscriptions.plan_moves SET next_try_at = NULL;
		UPDATE subscriptions.subscriptions SET intent_open = NOT intent_open; UPDATE subscriptions.renewal_charges SET look_at = NULL; UPDATE tickets.orders SET recovery_at = NULL`)
	_, err = files.DownTo(t.Context(), 1083)
	require.NoError(t, err)
	_, err = files.Up(t.Context())
	require.NoError(t, err)
}

// TestUpdatesInPlaceRunAgain: 01085 has no transaction, and may be cut off between any two of its statements.
func TestUpdatesInPlaceRunAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files, conn := migrator(t, url, schema.FS), connect(t, url)
	const stops = "CREATE INDEX subscriptions_stops_open ON subscriptions.subscriptions (id) WHERE cancel_at_period_end"
	for _, left := range [][]string{
		{stops},
		{stops, "DROP INDEX subscriptions.subscriptions_open_stops"},
		{stops, "DROP INDEX subscriptions.subscriptions_open_stops", "DROP INDEX subscriptions.subscriptions_by_update"},
	} {
		_, err := files.DownTo(t.Context(), 1084)
		require.NoError(t, err)
		for _, sql := range left {
			_, err := conn.Exec(t.Context(), sql)
			require.NoError(t, err)
		}
		_, err = files.Up(t.Context())
		require.NoError(t, err)
	}
}
