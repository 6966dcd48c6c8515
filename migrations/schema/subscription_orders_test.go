package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestOrdersBesideSubscriptionsFromBeforeTheHistoryBeginIt: 01224 writes where they stood when 01223 came, also of those
// that have been moved between the two, and may be taken back and applied again.
func TestOrdersBesideSubscriptionsFromBeforeTheHistoryBeginIt(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	files := migrator(t, url, schema.FS)
	_, err := files.DownTo(t.Context(), 1222)
	require.NoError(t, err)
	conn := connect(t, url)
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`ALTER TABLE subscriptions.charge_moves DROP CONSTRAINT charge_moves_subscription_known; ALTER TABLE subscriptions.debit_retries DROP CONSTRAINT debit_retries_of_debit;
		ALTER TABLE subscriptions.pauses DROP CONSTRAINT pauses_subscription_known; ALTER TABLE subscriptions.plan_moves DROP CONSTRAINT plan_moves_subscription_known, DROP CONSTRAINT plan_moves_plan_known;
		ALTER TABLE subscriptions.renewal_charges DROP CONSTRAINT renewal_charges_subscription_known;
		INSERT INTO subscriptions.pauses (id, subscription_id, state, since, register_date) VALUES ('0000000000000000000000a1', '000000000000000000000001', 'paused', now(), now());
		INSERT INTO subscriptions.charge_moves (id, subscription_id, from_at, to_at, register_date) VALUES ('0000000000000000000000b1', '000000000000000000000001', now(), now() + interval '1 day', now());
		INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, register_date) VALUES ('0000000000000000000000b2', '000000000000000000000001', 'plus', now());
		INSERT INTO subscriptions.renewal_charges (id, subscription_id, customer_id, gateway, amount_cents, state, payable_until, intent_open, register_date, register_update_date)
			VALUES ('0000000000000000000000c1', '000000000000000000000001', '000000000000000000000091', 'gwa', 4990, 'gone', now(), false, now(), now());
		INSERT INTO subscriptions.debit_retries (subscription_id, cycle, retry_date, state, register_date) VALUES ('000000000000000000000001', '2026-12-10', '2026-12-11', 'planned', now())`)
	_, err = files.UpTo(t.Context(), 1223)
	require.NoError(t, err)
	exec(`UPDATE subscriptions.pauses SET state = 'resuming'; UPDATE subscriptions.pauses SET state = 'resumed', ended_at = now(); UPDATE subscriptions.plan_moves SET state = 'done', ended_at = now();
		INSERT INTO subscriptions.debit_retries (subscription_id, cycle, retry_date, state, register_date) VALUES ('000000000000000000000001', '2026-12-10', '2026-12-13', 'planned', now())`)
	moves := func() []string {
		return column(t, conn, `SELECT concat(kind, ' ', right(item, 2), ' ', from_state, '>', to_state, ' ', action, reason)
			FROM subscriptions.order_transitions ORDER BY kind, item, id`)
	}
	for range 2 {
		_, err = files.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{
			"charge_move b1 >open not_recorded",
			"debit_retry 11 >planned not_recorded", "debit_retry 13 >planned not_recorded",
			"pause a1 >paused not_recorded", "pause a1 paused>resuming not_recorded", "pause a1 resuming>resumed not_recorded",
			"plan_move b2 >open not_recorded", "plan_move b2 open>done not_recorded",
			"renewal_charge c1 >gone not_recorded",
		}, moves())
		_, err = files.DownTo(t.Context(), 1223)
		require.NoError(t, err)
	}
}
