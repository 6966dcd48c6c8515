package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// TestAmountsAreBounded: an amount that no sum holds would make every figure fail for good.
func TestAmountsAreBounded(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	require.Empty(t, column(t, tx, "SELECT conname FROM pg_constraint WHERE NOT convalidated"), "not of every row")
	require.Empty(t, column(t, tx, `
		SELECT format('%s.%s', c.oid::regclass, a.attname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'finance' AND a.attname ~ '_cents$' AND NOT a.attisdropped
			AND NOT EXISTS (
				SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'
					AND pg_get_constraintdef(k.oid) ~ ('\m' || a.attname || ' <= '))
		ORDER BY 1`), "amounts of the ledgers without an upper bound; those of finance are sums of them")

	_, err := tx.Exec(t.Context(), `
		INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id,
			amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
		SELECT 'gwb', n, n, 'subscription', platform.new_object_id(), platform.new_object_id(),
			100000000000, 'open', 'needs_response', now(), now(), now(), now() FROM generate_series(1, 2) n`)
	require.NoError(t, err)
	var taken int64
	const figure = "SELECT coalesce(sum(chargebacks_cents), 0)::bigint FROM finance.daily"
	require.NoError(t, tx.QueryRow(t.Context(), figure).Scan(&taken))
	require.EqualValues(t, 200_000_000_000, taken, "the largest are summed")
	_, err = tx.Exec(t.Context(), "UPDATE payments.disputes SET amount_cents = 100000000001")
	require.ErrorContains(t, err, "disputes_amount_bounded")
}
