package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// onePool is a pool of one connection, so that one that is not given back is missed, with a table for
// numbers below 100.
func onePool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.NewPool(t.Context(), pgtest.URL(t), postgres.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), "CREATE TABLE platform.numbers (n int PRIMARY KEY CONSTRAINT small CHECK (n < 100))")
	require.NoError(t, err)
	return pool
}

func requireNumbers(t *testing.T, pool *pgxpool.Pool, want ...int) {
	t.Helper()
	rows, err := pool.Query(t.Context(), "SELECT n FROM platform.numbers ORDER BY n")
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[int])
	require.NoError(t, err)
	require.Equal(t, append([]int{}, want...), found)
}

const insert = "INSERT INTO platform.numbers VALUES ($1)"

// firsts are the ways to begin, each of which writes a number.
var firsts = []func(ctx context.Context, tx pgx.Tx, n int) error{
	func(ctx context.Context, tx pgx.Tx, n int) error {
		_, err := tx.Exec(ctx, insert, n)
		return err
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		_, err := tx.Exec(ctx, insert, pgx.QueryExecModeExec, n)
		return err
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		if _, err := tx.Exec(ctx, "SELECT 1; SELECT 2"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, insert+" RETURNING n", n).Scan(&n)
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		return tx.QueryRow(ctx, insert+" RETURNING n", n).Scan(&n)
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		return tx.QueryRow(ctx, insert+" RETURNING n", pgx.QueryResultFormats{pgx.TextFormatCode}, n).Scan(&n)
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		rows, err := tx.Query(ctx, insert+" RETURNING n", n)
		if err != nil {
			return err
		}
		_, err = pgx.CollectRows(rows, pgx.RowTo[int])
		return err
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		b := &pgx.Batch{}
		b.Queue(insert, n)
		return tx.SendBatch(ctx, b).Close()
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"platform", "numbers"}, []string{"n"}, pgx.CopyFromRows([][]any{{n}}))
		return err
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, insert, n)
			return err
		})
	},
	func(ctx context.Context, tx pgx.Tx, n int) error {
		if _, err := tx.Prepare(ctx, "insert", insert); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "insert", n)
		return err
	},
}

// TestATransactionIsOneHoweverItBegins: all of it stands, or nothing, and its connection is given back.
func TestATransactionIsOneHoweverItBegins(t *testing.T) {
	t.Parallel()
	pool := onePool(t)
	stop := errors.New("stop")
	var want []int
	for i, first := range firsts {
		write := func(n int, end error) error {
			return postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
				if err := first(t.Context(), tx, n); err != nil {
					return err
				}
				require.Equal(t, byte('T'), tx.Conn().PgConn().TxStatus())
				_, err := tx.Exec(t.Context(), insert, n+1)
				require.NoError(t, err)
				return end
			})
		}
		require.NoError(t, write(2*i, nil), i)
		require.ErrorIs(t, write(50+2*i, stop), stop, i)
		require.Equal(t, "small", postgres.Constraint(write(100, nil)), i)
		require.PanicsWithValue(t, "boom", func() {
			_ = postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
				require.NoError(t, first(t.Context(), tx, 99))
				panic("boom")
			})
		})
		want = append(want, 2*i, 2*i+1)
		requireNumbers(t, pool, want...)
	}
	require.NoError(t, postgres.InTx(t.Context(), pool, func(pgx.Tx) error { return nil }))
	require.ErrorIs(t, postgres.InTx(t.Context(), pool, func(pgx.Tx) error { return stop }), stop)
	requireNumbers(t, pool, want...)
}

// TestAFirstStatementMayFindNoRow: the transaction goes on.
func TestAFirstStatementMayFindNoRow(t *testing.T) {
	t.Parallel()
	pool := onePool(t)
	require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		var n int
		err := tx.QueryRow(t.Context(), "SELECT n FROM platform.numbers WHERE n = $1", 1).Scan(&n)
		require.True(t, postgres.IsNoRows(err))
		_, err = tx.Exec(t.Context(), insert, 1)
		return err
	}))
	requireNumbers(t, pool, 1)
}

// TestATransactionWhoseFirstStatementFailedIsOver, also when whoever runs it takes no notice.
func TestATransactionWhoseFirstStatementFailedIsOver(t *testing.T) {
	t.Parallel()
	pool := onePool(t)
	ended, end := context.WithCancel(t.Context())
	end()
	for name, first := range map[string]func(tx pgx.Tx) error{
		"a violation": func(tx pgx.Tx) error { return firsts[0](t.Context(), tx, 100) },
		"no SQL": func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "SELEKT $1", 1)
			return err
		},
		"a wrong argument": func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), insert, "one")
			return err
		},
		"an end of the context":   func(tx pgx.Tx) error { return firsts[0](ended, tx, 1) },
		"an end before a query":   func(tx pgx.Tx) error { return firsts[5](ended, tx, 1) },
		"an end before a batch":   func(tx pgx.Tx) error { return firsts[6](ended, tx, 1) },
		"an end before a row":     func(tx pgx.Tx) error { return firsts[4](ended, tx, 1) },
		"an end before many rows": func(tx pgx.Tx) error { return firsts[7](ended, tx, 1) },
	} {
		var told error
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			told = first(tx)
			require.Error(t, told, name)
			_, err := tx.Exec(t.Context(), insert, 2)
			require.Error(t, err, name)
			return nil
		})
		require.Error(t, err, name)
		if postgres.IsServers(told) {
			continue
		}
		require.True(t, errors.Is(told, context.Canceled) || name == "a wrong argument", "%s: %v", name, told)
	}
	requireNumbers(t, pool)
}

// trips counts what is sent to the database and waited for.
type trips struct{ n int }

func (s *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	s.n++
	return ctx
}
func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	s.n++
	return ctx
}
func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func TestATransactionBeginsWithItsFirstStatement(t *testing.T) {
	t.Parallel()
	cfg := onePool(t).Config()
	var sent trips
	cfg.ConnConfig.Tracer = &sent
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, pool.Ping(t.Context())) // which opens its connection
	for _, first := range []int{0, 3, 5} {
		sent.n = 0
		require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			return firsts[first](t.Context(), tx, first)
		}))
		require.Equal(t, 2, sent.n) // and COMMIT
	}
	sent.n = 0
	require.NoError(t, postgres.InTx(t.Context(), pool, func(pgx.Tx) error { return nil }))
	require.Zero(t, sent.n)
}

// TestWhatIsLeftForLaterIsSentInItsOrder, with what is waited for next, or with COMMIT.
func TestWhatIsLeftForLaterIsSentInItsOrder(t *testing.T) {
	t.Parallel()
	cfg := onePool(t).Config()
	var sent trips
	cfg.ConnConfig.Tracer = &sent
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, pool.Ping(t.Context())) // which opens its connection
	add := func(tx pgx.Tx, n int) {
		_, err := postgres.Later(tx).Exec(t.Context(), insert, n)
		require.NoError(t, err)
	}
	n := 0
	for i, read := range []func(tx pgx.Tx, sum *int) error{
		func(tx pgx.Tx, sum *int) error {
			return tx.QueryRow(t.Context(), "SELECT sum(n) FROM platform.numbers WHERE n >= $1", 0).Scan(sum)
		},
		func(tx pgx.Tx, sum *int) error {
			rows, err := tx.Query(t.Context(), "SELECT sum(n) FROM platform.numbers")
			require.NoError(t, err)
			*sum, err = pgx.CollectOneRow(rows, pgx.RowTo[int])
			require.Equal(t, 1, sent.n)
			return err
		},
		func(tx pgx.Tx, sum *int) error {
			return pgx.BeginFunc(t.Context(), tx, func(inner pgx.Tx) error {
				add(inner, n)
				n++
				return inner.QueryRow(t.Context(), "SELECT sum(n) FROM platform.numbers").Scan(sum)
			})
		},
		func(tx pgx.Tx, sum *int) error {
			_, err := tx.Exec(t.Context(), "DELETE FROM platform.numbers WHERE n = $1", 0)
			require.NoError(t, err)
			return tx.QueryRow(t.Context(), "SELECT sum(n) FROM platform.numbers").Scan(sum)
		},
	} {
		sent.n = 0
		require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			add(tx, n)
			add(tx, n+1)
			n += 2
			require.Zero(t, sent.n, i)
			var sum int
			require.NoError(t, read(tx, &sum))
			require.Equal(t, n*(n-1)/2, sum, i)
			sent.n = 0
			add(tx, n)
			n++
			return nil
		}))
		require.Equal(t, 1, sent.n, i)
	}
	want := []int{}
	for i := 1; i < n; i++ {
		want = append(want, i)
	}
	requireNumbers(t, pool, want...)
	sent.n = 0
	require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error { add(tx, 90); add(tx, 91); return nil }))
	require.Equal(t, 1, sent.n)
	requireNumbers(t, pool, append(want, 90, 91)...)
}

// TestAChangeThatIsSentLaterHasToChangeARow, whatever it is sent with: nothing of its transaction stands else.
func TestAChangeThatIsSentLaterHasToChangeARow(t *testing.T) {
	t.Parallel()
	const raise = "UPDATE platform.numbers SET n = $2 WHERE n = $1"
	requireChange(t, raise)
	requireChange(t, "WITH raised AS ("+raise+" RETURNING n)\nINSERT INTO platform.raised (n) SELECT n FROM raised")
}

// requireChange requires it of a statement that raises one number to another.
func requireChange(t *testing.T, change string) {
	t.Helper()
	pool := onePool(t)
	_, err := pool.Exec(t.Context(), insert, 1)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "CREATE TABLE platform.raised (n int)")
	require.NoError(t, err)
	missed := errors.New("there is no such number")
	raise := func(tx pgx.Tx, from, to int) error {
		return postgres.ChangeLater(t.Context(), tx, missed, change, from, to)
	}
	require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error { return raise(tx, 1, 2) }))
	requireNumbers(t, pool, 2)
	for i, with := range []func(tx pgx.Tx) error{
		func(pgx.Tx) error { return nil }, // COMMIT
		func(tx pgx.Tx) error { _, err := tx.Exec(t.Context(), insert, 7); return err },
		func(tx pgx.Tx) error {
			var n int
			err := tx.QueryRow(t.Context(), "SELECT n FROM platform.numbers WHERE n = $1", 1000).Scan(&n)
			require.NotErrorIs(t, err, pgx.ErrNoRows)
			return err
		},
		func(tx pgx.Tx) error {
			rows, err := tx.Query(t.Context(), "SELECT n FROM platform.numbers")
			require.NoError(t, err)
			rows.Close()
			return rows.Err()
		},
		func(tx pgx.Tx) error { _, err := tx.Begin(t.Context()); return err },
		func(tx pgx.Tx) error { _, err := tx.Exec(t.Context(), "SELECT"); return err },
		func(tx pgx.Tx) error { // who does not heed the error
			_, _ = tx.Exec(t.Context(), insert, 7)
			return nil
		},
	} {
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := postgres.Later(tx).Exec(t.Context(), insert, 5)
			require.NoError(t, err)
			require.NoError(t, raise(tx, 2, 3))
			require.NoError(t, raise(tx, 100, 4))
			return with(tx)
		})
		if i < 6 {
			require.ErrorIs(t, err, missed, i)
		}
		require.Error(t, err, i)
		requireNumbers(t, pool, 2)
	}
	require.ErrorIs(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return raise(tx, 100, 4) }), missed)
}

// TestNothingStandsWhereWhatWasLeftForLaterFails: COMMIT is not executed behind an error.
func TestNothingStandsWhereWhatWasLeftForLaterFails(t *testing.T) {
	t.Parallel()
	pool := onePool(t)
	_, err := pool.Exec(t.Context(),
		"CREATE TABLE platform.pairs (n int REFERENCES platform.numbers DEFERRABLE INITIALLY DEFERRED)")
	require.NoError(t, err)
	add := func(tx pgx.Tx, n int) {
		_, err := postgres.Later(tx).Exec(t.Context(), insert, n)
		require.NoError(t, err)
	}
	for range 2 { // what is prepared is prepared once
		err = postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error { add(tx, 1); add(tx, 100); add(tx, 2); return nil })
		require.Equal(t, "small", postgres.Constraint(err))
		err = postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			if err := firsts[0](t.Context(), tx, 3); err != nil {
				return err
			}
			add(tx, 100)
			return nil
		})
		require.Equal(t, "small", postgres.Constraint(err))
		err = postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			add(tx, 100)
			return firsts[3](t.Context(), tx, 4)
		})
		require.Equal(t, "small", postgres.Constraint(err))
		err = postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error { // refused by COMMIT itself
			add(tx, 5)
			_, err := postgres.Later(tx).Exec(t.Context(), "INSERT INTO platform.pairs VALUES ($1)", 6)
			return err
		})
		require.Equal(t, "pairs_n_fkey", postgres.Constraint(err))
		stop := errors.New("stop")
		err = postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error { add(tx, 7); return stop })
		require.ErrorIs(t, err, stop)
		ended, end := context.WithCancel(t.Context())
		err = postgres.InTx(ended, pool, func(tx pgx.Tx) error { add(tx, 8); end(); return nil })
		require.ErrorIs(t, err, context.Canceled)
		requireNumbers(t, pool)
	}
}

// TestATransactionThatLostWhatWasLeftForLaterIsOver, also when whoever runs it takes no notice: the driver tells of no
// error to the server where it has sent nothing.
func TestATransactionThatLostWhatWasLeftForLaterIsOver(t *testing.T) {
	t.Parallel()
	pool := onePool(t)
	ended, end := context.WithCancel(t.Context())
	end()
	add := func(tx pgx.Tx, n int) {
		_, err := postgres.Later(tx).Exec(t.Context(), insert, n)
		require.NoError(t, err)
	}
	for name, lose := range map[string]func(tx pgx.Tx) error{
		"a wrong argument": func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), insert, "one")
			return err
		},
		"a wrong argument before a row": func(tx pgx.Tx) error {
			return tx.QueryRow(t.Context(), insert+" RETURNING n", "one").Scan(nil)
		},
		"an end of the context":     func(tx pgx.Tx) error { return firsts[0](ended, tx, 1) },
		"an end before a row":       func(tx pgx.Tx) error { return firsts[3](ended, tx, 1) },
		"an end before a query":     func(tx pgx.Tx) error { return firsts[5](ended, tx, 1) },
		"an end before a savepoint": func(tx pgx.Tx) error { return firsts[8](ended, tx, 1) },
	} {
		for _, begun := range []bool{true, false} {
			err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
				if begun {
					require.NoError(t, firsts[0](t.Context(), tx, 2))
				}
				add(tx, 3)
				require.Error(t, lose(tx), name)
				add(tx, 4)
				return nil
			})
			require.Error(t, err, name)
			requireNumbers(t, pool)
		}
	}
}

// TestTransactionsOfEachModeOfTheDriver: behind PgBouncer nothing is prepared.
func TestTransactionsOfEachModeOfTheDriver(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			cfg := onePool(t).Config()
			cfg.ConnConfig.DefaultQueryExecMode = mode
			pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			write := func(first, last int) error {
				return postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
					if err := firsts[3](t.Context(), tx, first); err != nil {
						return err
					}
					if _, err := postgres.Later(tx).Exec(t.Context(), insert, first+1); err != nil {
						return err
					}
					if err := firsts[5](t.Context(), tx, first+2); err != nil {
						return err
					}
					_, err := postgres.Later(tx).Exec(t.Context(), insert, last)
					return err
				})
			}
			require.NoError(t, write(0, 3))
			require.Equal(t, "small", postgres.Constraint(write(100, 14)))
			require.Equal(t, "small", postgres.Constraint(write(99, 15)))
			require.Equal(t, "small", postgres.Constraint(write(10, 100)))
			require.NoError(t, write(4, 7))
			requireNumbers(t, pool, 0, 1, 2, 3, 4, 5, 6, 7)
		})
	}
}
