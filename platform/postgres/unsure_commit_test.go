package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// TestAnUnsureCommitIsToldApart: what surely does not stand is no unsure one.
func TestAnUnsureCommitIsToldApart(t *testing.T) {
	t.Parallel()
	pool := onePool(t)
	ctx := t.Context()
	unreadable := func(tx pgx.Tx) {
		_ = postgres.Queue(tx, func(db postgres.DB) (n int, err error) {
			return n, db.QueryRow(ctx, "SELECT $1::text", "no number").Scan(&n)
		})
	}
	err := postgres.InTx(ctx, pool, func(tx pgx.Tx) error {
		_, err := postgres.Later(tx).Exec(ctx, insert, 1)
		unreadable(tx)
		return err
	})
	require.True(t, postgres.IsUnsure(err), "%v", err)
	requireNumbers(t, pool, 1)

	losing, armed := pgtest.LosingCommits(t, pool)
	for _, later := range []bool{true, false} {
		armed.Store(true)
		err = postgres.InTx(ctx, losing, func(tx pgx.Tx) error {
			n := 2
			if later {
				_, err := postgres.Later(tx).Exec(ctx, insert, n)
				return err
			}
			_, err := tx.Exec(ctx, insert, n+1)
			return err
		})
		require.True(t, postgres.IsUnsure(err), "%v", err)
	}
	requireNumbers(t, pool, 1, 2, 3)

	for name, with := range map[string]func(tx pgx.Tx) error{
		"the server fails": func(tx pgx.Tx) error {
			_, err := postgres.Later(tx).Exec(ctx, insert, 100)
			return err
		},
		"nothing is sent": func(tx pgx.Tx) error {
			_, err := postgres.Later(tx).Exec(ctx, insert, "no number")
			return err
		},
		"begun, and nothing is sent": func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, insert, 7); err != nil {
				return err
			}
			_, err := postgres.Later(tx).Exec(ctx, insert, "no number")
			return err
		},
	} {
		err := postgres.InTx(ctx, pool, with)
		require.Error(t, err, name)
		require.False(t, postgres.IsUnsure(err), "%s: %v", name, err)
		requireNumbers(t, pool, 1, 2, 3)
	}
}
