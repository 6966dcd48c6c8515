package intent_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// TestAnUnsureCommitIsNotKnown: where the answer to the commit that settles an outcome is lost, or one that came with it
// cannot be read, nobody says that it stands, or that it does not: the checks find out. The row is told as it was.
func TestAnUnsureCommitIsNotKnown(t *testing.T) {
	t.Parallel()
	unreadable := func(op *intent.Operation[objectid.ID, string]) {
		settle := op.SettleTx
		op.SettleTx = func(ctx context.Context, tx pgx.Tx, id *objectid.ID, o intent.Outcome[string], by intent.By) error {
			if err := settle(ctx, tx, id, o, by); err != nil {
				return err
			}
			_ = postgres.Queue(tx, func(db postgres.DB) (n int, err error) {
				return n, db.QueryRow(ctx, "SELECT $1::text", "no number").Scan(&n)
			})
			return nil
		}
	}
	t.Run("an answer cannot be read", func(t *testing.T) {
		t.Parallel()
		b, op := buy(t)
		unreadable(op)
		requireNotKnown(b, op, "done")
	})
	t.Run("the answer is lost", func(t *testing.T) {
		t.Parallel()
		var arm func()
		b, op := buy(t, func(d *intent.Deps) {
			pool, armed := pgtest.LosingCommits(t, d.Pool.(*pgxpool.Pool))
			d.Pool, arm = pool, func() { armed.Store(true) }
		})
		b.calls["second"] = func() (string, error) { arm(); return "second", nil }
		requireNotKnown(b, op, "done")
	})
	t.Run("nothing was committed", func(t *testing.T) {
		t.Parallel()
		b, op := buy(t)
		op.SettleTx = func(ctx context.Context, tx pgx.Tx, _ *objectid.ID, _ intent.Outcome[string], _ intent.By) error {
			_, err := postgres.Later(tx).Exec(ctx, "SELECT 1 / $1::int", 0)
			return err
		}
		id := objectid.New()
		require.NoError(t, op.Begin(t.Context(), &id, b.written(id)))
		_, outcome, err := op.Run(t.Context(), id)
		require.Error(t, err, "which is sure, and no matter of the gateway's")
		require.Equal(t, intent.Succeeded[string]{Result: "second"}, outcome)
		require.Equal(t, "open", b.ended(id))
	})
}

// requireNotKnown runs an order whose commit stands, and is not known.
func requireNotKnown(b *buying, op *intent.Operation[objectid.ID, string], is string) {
	b.t.Helper()
	settle := op.SettleTx
	op.SettleTx = func(ctx context.Context, tx pgx.Tx, id *objectid.ID, o intent.Outcome[string], by intent.By) error {
		err := settle(ctx, tx, id, o, by)
		*id = "changed"
		return err
	}
	id := objectid.New()
	require.NoError(b.t, op.Begin(b.t.Context(), &id, b.written(id)))
	row, outcome, err := op.Run(b.t.Context(), id)
	require.NoError(b.t, err)
	require.Equal(b.t, id, row, "as it was")
	unknown, ok := outcome.(intent.NotKnown[string])
	require.True(b.t, ok, "%T", outcome)
	require.True(b.t, postgres.IsUnsure(unknown.Cause), "%v", unknown.Cause)
	require.Equal(b.t, "second", b.state(id), "it stood")
	require.Equal(b.t, is, b.ended(id))
}

// written writes the row of an order.
func (b *buying) written(id objectid.ID) func(tx pgx.Tx) error {
	return func(tx pgx.Tx) error {
		_, err := tx.Exec(b.t.Context(), "INSERT INTO public.toys VALUES ($1, 'open')", id)
		return err
	}
}
