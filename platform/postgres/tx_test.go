package postgres_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// writes counts what is written to a connection: one write a round trip.
type writes struct {
	net.Conn
	n *atomic.Int64
}

func (w writes) Write(p []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(p)
}

// setupTx is a pool of one connection, so that one which is not given back is
// missed, over a table of two rows.
func setupTx(t *testing.T) (*pgxpool.Pool, *atomic.Int64) {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(pgtest.URL(t))
	require.NoError(t, err)
	cfg.MaxConns = 1
	var trips atomic.Int64
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return writes{conn, &trips}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), `CREATE TABLE platform.probe (id int PRIMARY KEY)`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO platform.probe VALUES (1), (2)`)
	require.NoError(t, err)
	return pool, &trips
}

const insertProbe = `INSERT INTO platform.probe SELECT 1 + max(id) FROM platform.probe RETURNING id`

// firsts are a transaction's first statement, each adding a row to the table.
var firsts = map[string]func(t *testing.T, tx pgx.Tx){
	"exec": func(t *testing.T, tx pgx.Tx) {
		tag, err := tx.Exec(t.Context(), `INSERT INTO platform.probe SELECT 1 + max(id) FROM platform.probe WHERE id > $1`, 0)
		require.NoError(t, err)
		require.EqualValues(t, 1, tag.RowsAffected())
	},
	"exec of two statements": func(t *testing.T, tx pgx.Tx) {
		_, err := tx.Exec(t.Context(), insertProbe+`; SELECT 1`)
		require.NoError(t, err)
	},
	"exec in a mode of its own": func(t *testing.T, tx pgx.Tx) {
		_, err := tx.Exec(t.Context(), insertProbe, pgx.QueryExecModeExec)
		require.NoError(t, err)
	},
	"query": func(t *testing.T, tx pgx.Tx) {
		rows, err := tx.Query(t.Context(), insertProbe)
		require.NoError(t, err)
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int])
		require.NoError(t, err)
		require.Len(t, ids, 1)
	},
	"query left early": func(t *testing.T, tx pgx.Tx) {
		rows, err := tx.Query(t.Context(), insertProbe)
		require.NoError(t, err)
		rows.Close()
		require.NoError(t, rows.Err())
	},
	"row": func(t *testing.T, tx pgx.Tx) {
		var id int
		require.NoError(t, tx.QueryRow(t.Context(), insertProbe).Scan(&id))
	},
	"no row": func(t *testing.T, tx pgx.Tx) {
		require.ErrorIs(t, tx.QueryRow(t.Context(), `SELECT 1 WHERE false`).Scan(), pgx.ErrNoRows)
		_, err := tx.Exec(t.Context(), insertProbe)
		require.NoError(t, err)
	},
	"batch": func(t *testing.T, tx pgx.Tx) {
		var b pgx.Batch
		id := 0
		b.Queue(insertProbe).QueryRow(func(row pgx.Row) error { return row.Scan(&id) })
		b.Queue(`SELECT 1`)
		require.NoError(t, tx.SendBatch(t.Context(), &b).Close())
		require.NotZero(t, id)
	},
	"savepoint": func(t *testing.T, tx pgx.Tx) {
		require.NoError(t, pgx.BeginFunc(t.Context(), tx, func(inner pgx.Tx) error {
			_, err := inner.Exec(t.Context(), insertProbe)
			return err
		}))
	},
	"copy": func(t *testing.T, tx pgx.Tx) {
		n, err := tx.CopyFrom(t.Context(), pgx.Identifier{"platform", "probe"}, []string{"id"}, pgx.CopyFromRows([][]any{{1000}}))
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
	},
}

func TestInTxBeginsWithAnyStatement(t *testing.T) {
	t.Parallel()
	pool, _ := setupTx(t)
	rows := func(db postgres.DB) (n int) {
		require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM platform.probe`).Scan(&n))
		return n
	}
	for name, first := range firsts {
		before := rows(pool)
		stop := errors.New("stop")
		require.ErrorIs(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			first(t, tx)
			require.Equal(t, before+1, rows(tx), name)
			return stop
		}), stop, name)
		require.Equal(t, before, rows(pool), name)
		require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			first(t, tx)
			return nil
		}), name)
		require.Equal(t, before+1, rows(pool), name)
	}
}

func TestInTxSavesTheTripOfBegin(t *testing.T) {
	t.Parallel()
	pool, trips := setupTx(t)
	run := func() int64 {
		before := trips.Load()
		require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			var id int
			return tx.QueryRow(t.Context(), insertProbe).Scan(&id)
		}))
		return trips.Load() - before
	}
	run() // prepares the statements
	require.EqualValues(t, 2, run(), "the statement and COMMIT")
	none := trips.Load()
	require.NoError(t, postgres.InTx(t.Context(), pool, func(pgx.Tx) error { return nil }))
	require.Equal(t, none, trips.Load())
}

func TestInTxTellsWhyTheFirstStatementFailed(t *testing.T) {
	t.Parallel()
	pool, _ := setupTx(t)
	const twice = `INSERT INTO platform.probe VALUES ($1)`
	for name, first := range map[string]func(tx pgx.Tx) error{
		"exec": func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), twice, 1)
			return err
		},
		"query": func(tx pgx.Tx) error {
			rows, err := tx.Query(t.Context(), twice+` RETURNING id`, 1)
			if err != nil {
				return err
			}
			_, err = pgx.CollectRows(rows, pgx.RowTo[int])
			return err
		},
		"row": func(tx pgx.Tx) error {
			var id int
			return tx.QueryRow(t.Context(), twice+` RETURNING id`, 1).Scan(&id)
		},
		"batch": func(tx pgx.Tx) error {
			var b pgx.Batch
			b.Queue(twice, 1)
			return tx.SendBatch(t.Context(), &b).Close()
		},
	} {
		err := postgres.InTx(t.Context(), pool, first)
		require.Equal(t, "probe_pkey", postgres.Constraint(err), name)
		require.NoError(t, pool.Ping(t.Context()), name) // the connection is back, and well
	}
}

func TestInTxWithoutADatabase(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.Error(t, postgres.InTx(t.Context(), pool, func(pgx.Tx) error { return nil }))
}

func TestInTxWhoseConnectionBreaks(t *testing.T) {
	t.Parallel()
	pool, _ := setupTx(t)
	for name, first := range map[string]func(tx pgx.Tx) error{
		"exec": func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `SELECT $1::int`, 1)
			return err
		},
		"alone": func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `SELECT 1`)
			return err
		},
		"row": func(tx pgx.Tx) error {
			var one int
			return tx.QueryRow(t.Context(), `SELECT 1`).Scan(&one)
		},
		"savepoint": func(tx pgx.Tx) error {
			_, err := tx.Begin(t.Context())
			return err
		},
	} {
		require.Error(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			require.NoError(t, tx.Conn().Close(t.Context()))
			return first(tx)
		}), name)
		require.NoError(t, pool.Ping(t.Context()), name)
	}
}
