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
	var taken int64
	const figure = "SELECT coalesce(sum(chargebacks_cents), 0)::bigint FROM finance.daily"
	require.Error(t, db.QueryRow(ctx, figure).Scan(&taken), "as it was")

	_, err = schema.Up(ctx, url)
	require.NoError(t, err)
	require.NoError(t, db.QueryRow(ctx, figure).Scan(&taken))
	require.EqualValues(t, 200_000_000, taken)
	var bounded, unbounded bool
	require.NoError(t, db.QueryRow(ctx, `SELECT bool_or(convalidated) FILTER (WHERE conname = 'disputes_amount_bounded'), bool_or(convalidated) FILTER (WHERE conname = 'payments_amount_bounded')
		FROM pg_constraint`).Scan(&bounded, &unbounded))
	require.True(t, bounded)
	require.False(t, unbounded, "a row beyond the bound stays, and no other comes")
	_, err = db.Exec(ctx, "UPDATE payments.disputes SET amount_cents = 100000000001")
	require.ErrorContains(t, err, "disputes_amount_bounded")
}
