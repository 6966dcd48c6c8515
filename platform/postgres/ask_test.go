package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
)

// countedPool is onePool, whose round trips are counted.
func countedPool(t *testing.T) (*pgxpool.Pool, *trips) {
	t.Helper()
	cfg := onePool(t).Config()
	sent := &trips{}
	cfg.ConnConfig.Tracer = sent
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, pool.Ping(t.Context()))
	sent.n = 0
	return pool, sent
}

func sum(ctx context.Context) func(db postgres.DB) (int, error) {
	return func(db postgres.DB) (n int, err error) {
		err = db.QueryRow(ctx, "SELECT coalesce(sum(n), 0) FROM platform.numbers WHERE n >= $1", 0).Scan(&n)
		return n, err
	}
}

func numbers(ctx context.Context) func(db postgres.DB) ([]int, error) {
	return func(db postgres.DB) ([]int, error) {
		rows, err := db.Query(ctx, "SELECT n FROM platform.numbers ORDER BY n")
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[int])
	}
}

func TestWhatIsAskedForIsSentWithTheNextStatement(t *testing.T) {
	t.Parallel()
	pool, sent := countedPool(t)
	ctx := t.Context()
	var last *postgres.Result[int]
	require.NoError(t, postgres.InTx(ctx, pool, func(tx pgx.Tx) error {
		before := postgres.Queue(tx, sum(ctx))
		_, err := postgres.Later(tx).Exec(ctx, insert, 7)
		require.NoError(t, err)
		all, after := postgres.Queue(tx, numbers(ctx)), postgres.Queue(tx, sum(ctx))
		none := postgres.Queue(tx, func(db postgres.DB) (n int, err error) {
			return n, db.QueryRow(ctx, "SELECT n FROM platform.numbers WHERE n = $1", 50).Scan(&n)
		})
		require.Zero(t, sent.n)
		n, err := after.Get(ctx)
		require.NoError(t, err)
		require.Equal(t, 7, n)
		n, err = before.Get(ctx)
		require.NoError(t, err)
		require.Zero(t, n, "in their order")
		found, err := all.Get(ctx)
		require.NoError(t, err)
		require.Equal(t, []int{7}, found)
		_, err = none.Get(ctx)
		require.ErrorIs(t, err, pgx.ErrNoRows, "which is an answer, and the transaction goes on")
		require.Equal(t, 1, sent.n)
		last = postgres.Queue(tx, sum(ctx))
		return postgres.ChangeLater(ctx, tx, errors.New("missed"), "UPDATE platform.numbers SET n = $2 WHERE n = $1", 7, 8)
	}))
	require.Equal(t, 2, sent.n, "what is left is sent with COMMIT, also a change")
	n, err := last.Get(ctx)
	require.NoError(t, err)
	require.Equal(t, 7, n)
	requireNumbers(t, pool, 8)
}

func TestAnAnswerThatFailsIsTheErrorOfItsTransaction(t *testing.T) {
	t.Parallel()
	pool := onePool(t)
	ctx := t.Context()
	fails := func(db postgres.DB) (int, error) {
		var n int
		return n, db.QueryRow(ctx, insert+" RETURNING n", 100).Scan(&n)
	}
	for _, heeded := range []bool{true, false} {
		var failed, behind *postgres.Result[int]
		err := postgres.InTx(ctx, pool, func(tx pgx.Tx) error {
			if _, err := postgres.Later(tx).Exec(ctx, insert, 1); err != nil {
				return err
			}
			failed, behind = postgres.Queue(tx, fails), postgres.Queue(tx, sum(ctx))
			if heeded {
				_, err := behind.Get(ctx)
				return err
			}
			return nil
		})
		require.Equal(t, "small", postgres.Constraint(err))
		_, err = failed.Get(ctx)
		require.Equal(t, "small", postgres.Constraint(err))
		_, err = behind.Get(ctx)
		require.Error(t, err)
		requireNumbers(t, pool)
	}
	unchanged := errors.New("unchanged")
	err := postgres.InTx(ctx, pool, func(tx pgx.Tx) error {
		_ = postgres.Queue(tx, func(db postgres.DB) (n int, err error) {
			return n, db.QueryRow(ctx, "SELECT 1 / $1::int", 0).Scan(&n)
		})
		return postgres.ChangeLater(ctx, tx, unchanged, insert, 1)
	})
	require.Error(t, err)
	require.NotErrorIs(t, err, unchanged, "what divides by zero is another")
	var never *postgres.Result[int]
	stop := errors.New("stop")
	require.ErrorIs(t, postgres.InTx(ctx, pool, func(tx pgx.Tx) error {
		never = postgres.Queue(tx, sum(ctx))
		_ = postgres.Queue(tx, func(postgres.DB) (int, error) { return 0, nil })
		return stop
	}), stop)
	_, err = never.Get(ctx)
	require.Error(t, err, "it was not sent")
}

func TestOutsideOfInTxItIsAskedAtOnce(t *testing.T) {
	t.Parallel()
	pool := onePool(t)
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		n, err := postgres.Queue(tx, sum(t.Context())).Get(t.Context())
		require.Zero(t, n)
		return err
	}))
}

func TestQuestionsAreOneRoundTrip(t *testing.T) {
	t.Parallel()
	pool, sent := countedPool(t)
	_, err := pool.Exec(t.Context(), insert, 3)
	require.NoError(t, err)
	sent.n = 0
	var q postgres.Batch
	total, all := postgres.Add(&q, sum(t.Context())), postgres.Add(&q, numbers(t.Context()))
	require.NoError(t, q.Run(t.Context(), pool))
	require.Equal(t, 1, sent.n)
	n, err := total.Get(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, n)
	found, err := all.Get(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{3}, found)

	var bad postgres.Batch
	wrong := postgres.Add(&bad, func(db postgres.DB) (n int, err error) {
		return n, db.QueryRow(t.Context(), "SELECT 1 / $1::int", 0).Scan(&n)
	})
	require.Error(t, bad.Run(t.Context(), pool))
	_, err = wrong.Get(t.Context())
	require.Error(t, err)
	require.NoError(t, new(postgres.Batch).Run(t.Context(), pool))
}

// TestACopyIsSentLaterAsWell, by inserts.
func TestACopyIsSentLaterAsWell(t *testing.T) {
	t.Parallel()
	pool, sent := countedPool(t)
	require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := postgres.Later(tx).CopyFrom(t.Context(), pgx.Identifier{"platform", "numbers"}, []string{"n"},
			pgx.CopyFromRows([][]any{{1}, {2}}))
		return err
	}))
	require.Equal(t, 1, sent.n)
	requireNumbers(t, pool, 1, 2)
}
