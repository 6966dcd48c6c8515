package schema_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestChargebacksThatNoSumHeldAreCut: what made every figure fail is mended where it
// was entered, and what a gateway reported stays as it is.
func TestChargebacksThatNoSumHeldAreCut(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	downTo(t, url, "00631_payments_amount_bounds.sql")
	db, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	_, err = db.Exec(ctx, `INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
		SELECT 'gwb', n, n, 'subscription', platform.new_object_id(), platform.new_object_id(), 9223372036854775807, 'open', 'reported_by_admin', now(), now(), now(), now() FROM generate_series(1, 2) n`)
	require.NoError(t, err)
	_, err = db.Exec(ctx, `INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
		VALUES ('gwb', 'in_1', 'subscription', platform.new_object_id(), platform.new_object_id(), 900000000000, 'credit_card', 'paid', now(), now(), now())`)
	require.NoError(t, err)
	_, err = db.Exec(ctx, `INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
		VALUES ('gwb', 'in_2', 1, 'subscription', platform.new_object_id(), 900000000000, now(), now())`)
	require.NoError(t, err)
	var taken int64
	const figure = "SELECT coalesce(sum(chargebacks_cents), 0)::bigint FROM finance.daily"
	require.Error(t, db.QueryRow(ctx, figure).Scan(&taken), "as it was")

	_, err = schema.Up(ctx, url)
	require.NoError(t, err)
	require.NoError(t, db.QueryRow(ctx, figure).Scan(&taken))
	require.EqualValues(t, 200_000_000, taken)
	var open []string
	require.NoError(t, db.QueryRow(ctx, "SELECT array_agg(conname::text ORDER BY conname) FROM pg_constraint WHERE NOT convalidated AND conname ~ '_bounded$'").Scan(&open))
	require.Equal(t, []string{
		"failed_attempts_amount_bounded", "payments_amount_bounded",
	}, open, "a row beyond the bound stays, and no other comes")
	_, err = db.Exec(ctx, "UPDATE payments.disputes SET amount_cents = 100000000001")
	require.ErrorContains(t, err, "disputes_amount_bounded")
	var unbounded []string
	require.NoError(t, db.QueryRow(ctx, `SELECT coalesce(array_agg(format('%s.%s', c.oid::regclass, a.attname) ORDER BY c.oid::regclass::text, a.attname), '{}')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'finance' AND a.attname ~ '_cents$' AND NOT a.attisdropped
			AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' AND pg_get_constraintdef(k.oid) ~ ('\m' || a.attname || ' <= '))`).Scan(&unbounded))
	require.Empty(t, unbounded, "amounts of the ledgers without an upper bound; those of finance are sums of them")
}
