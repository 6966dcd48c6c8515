package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

func TestAttack01110OnFilledTablesTwice(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files := migrator(t, url, schema.FS)
	_, err := files.DownTo(t.Context(), 1109)
	require.NoError(t, err)
	conn := connect(t, url)
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`SET session_replication_role = replica;
		INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, intent_open, register_date, register_update_date)
		SELECT lpad(n::text, 24, '0'), lpad('9' || n::text, 24, '0'), 'plus', 'gwb', 'credit_card', 'active', 4990, 1, false, now(), now() FROM generate_series(1, 7) n;
		INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, tries, next_try_at, register_date, state, ended_at)
		SELECT lpad('b' || n, 24, '0'), lpad(n::text, 24, '0'), 'plus', CASE WHEN n = 7 THEN 0 ELSE 1 END, NULL, now(), 'open', NULL FROM generate_series(1, 7) n;
		INSERT INTO payments.intents (id, kind, subject_id, customer_id, gateway, reference, calls, looks, leased_until, call_ends_at, next_look_at, created_at, state, ended_at)
		VALUES
		('0000000000000000000000f2', 'plan_move', lpad('b2', 24, '0'), NULL, 'gwb', 'x', 0, 0, NULL, now(), now(), now(), 'open', NULL),
		('0000000000000000000000f3', 'plan_move', lpad('b3', 24, '0'), NULL, 'gwb', 'x', 1, 0, now() + interval '1 minute', now(), now(), now(), 'open', NULL),
		('0000000000000000000000f4', 'plan_move', lpad('b4', 24, '0'), NULL, 'gwb', 'x', 0, 3, NULL, now(), now(), now(), 'open', NULL),
		('0000000000000000000000f5', 'plan_move', lpad('b5', 24, '0'), NULL, 'gwb', 'x', 0, 1, now() + interval '1 minute', now(), now(), now(), 'open', NULL),
		('0000000000000000000000f6', 'plan_move', lpad('b6', 24, '0'), NULL, 'gwb', 'x', 0, 0, NULL, now(), NULL, now(), 'void', now())`)
	state := func() []string {
		return column(t, conn, "SELECT concat_ws(' ', subject_id, calls, looks, state, (SELECT count(*) FROM payments.intent_steps s WHERE s.intent_id = i.id)) FROM payments.intents i ORDER BY 1")
	}
	_, err = files.Up(t.Context())
	require.NoError(t, err)
	first := state()
	t.Log(first)
	for range 2 {
		_, err = files.DownTo(t.Context(), 1109)
		require.NoError(t, err)
		_, err = files.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, first, state())
	}
}
