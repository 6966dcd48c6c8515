package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
	"marquee/testutil/pgbouncer"
	"marquee/testutil/pgtest"
)

// behind is a pool behind a PgBouncer that lends one session of the server to all, with a table for numbers below 100.
func behind(t *testing.T, program pgbouncer.Program, o postgres.Options) (*pgxpool.Pool, postgres.Pool) {
	t.Helper()
	database := pgtest.URL(t)
	url := program.Start(t, database, "default_pool_size = 1")
	var err error
	o.Pooler, err = postgres.FindPooler(t.Context(), url)
	require.NoError(t, err)
	pool, err := postgres.NewPool(t.Context(), url, o)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(),
		"CREATE TABLE platform.numbers (n int PRIMARY KEY CONSTRAINT small CHECK (n < 100))")
	require.NoError(t, err)
	return pool, postgres.Limited(pool, o)
}

func TestAPoolerIsFoundByWhatItDoes(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	found, err := postgres.FindPooler(t.Context(), database)
	require.NoError(t, err)
	require.Equal(t, postgres.NoPooler, found)
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		want := postgres.Unprepared
		if program.Prepares() {
			want = postgres.Prepared
			found, err := postgres.FindPooler(t.Context(), program.Start(t, database, "max_prepared_statements = 0"))
			require.NoError(t, err)
			require.Equal(t, postgres.Unprepared, found)
		}
		url := program.Start(t, database)
		for range 3 { // what was prepared is gone again
			found, err := postgres.FindPooler(t.Context(), url)
			require.NoError(t, err)
			require.Equal(t, want, found)
		}
	})
	_, err = postgres.FindPooler(t.Context(), "postgres://user:hunter2@:::bad")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}

const settings = `SELECT
	current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') || ' ' || current_setting('jit')
	WHERE $1::int = 1`

// ways reads the limits in each way in which something may be asked.
var ways = map[string]func(ctx context.Context, db postgres.Pool) (string, error){
	"a row": func(ctx context.Context, db postgres.Pool) (is string, err error) {
		return is, db.QueryRow(ctx, settings, 1).Scan(&is)
	},
	"a row of a mode": func(ctx context.Context, db postgres.Pool) (is string, err error) {
		return is, db.QueryRow(ctx, settings, pgx.QueryExecModeExec, 1).Scan(&is)
	},
	"rows": func(ctx context.Context, db postgres.Pool) (string, error) {
		rows, err := db.Query(ctx, settings, 1)
		if err != nil {
			return "", err
		}
		return pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
	},
	"rows of a mode": func(ctx context.Context, db postgres.Pool) (string, error) {
		rows, err := db.Query(ctx, settings, pgx.QueryExecModeExec, 1)
		if err != nil {
			return "", err
		}
		return pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
	},
	"a batch": func(ctx context.Context, db postgres.Pool) (is string, err error) {
		b := &pgx.Batch{}
		b.Queue("SELECT 1")
		b.Queue(settings, 1).QueryRow(func(row pgx.Row) error { return row.Scan(&is) })
		return is, db.SendBatch(ctx, b).Close()
	},
	"a transaction": func(ctx context.Context, db postgres.Pool) (is string, err error) {
		return is, postgres.InTx(ctx, db, func(tx pgx.Tx) error { return tx.QueryRow(ctx, settings, 1).Scan(&is) })
	},
	"a transaction of one's own": func(ctx context.Context, db postgres.Pool) (is string, err error) {
		options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return is, pgx.BeginTxFunc(ctx, db, options, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, settings, 1).Scan(&is)
		})
	},
}

// TestLimitsHoldBehindAPoolerAndForNobodyElse: a session of the server is lent to one transaction after the other.
func TestLimitsHoldBehindAPoolerAndForNobodyElse(t *testing.T) {
	t.Parallel()
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		pool, db := behind(t, program, postgres.Options{
			MaxConns: 5, StatementTimeout: 7 * time.Second, ApplicationName: "limited",
			Gate: &postgres.Gate{Wait: time.Minute, LockWait: 3 * time.Second},
		})
		var before, name, zone string
		require.NoError(t, pool.QueryRow(t.Context(), settings, 1).Scan(&before))
		const session = "SELECT current_setting('application_name'), current_setting('timezone')"
		require.NoError(t, db.QueryRow(t.Context(), session).Scan(&name, &zone))
		require.Equal(t, "limited UTC", name+" "+zone)
		request := postgres.As(t.Context(), postgres.Request, "a route")
		patient := postgres.As(t.Context(), postgres.Request, "a route")
		postgres.BePatient(patient)
		for how, ask := range ways {
			for range 2 { // what is prepared is prepared once
				for ctx, want := range map[context.Context]string{request: "7s 3s off", patient: "7s 0 off"} {
					is, err := ask(ctx, db)
					require.NoError(t, err, how)
					require.Equal(t, want, is, how)
				}
				var after string
				require.NoError(t, pool.QueryRow(t.Context(), settings, 1).Scan(&after), how)
				require.Equal(t, before, after, how)
			}
		}
	})
}

// TestStatementsBehindAPoolerStandOrFall as they do without one, and give their connection back.
func TestStatementsBehindAPoolerStandOrFall(t *testing.T) {
	t.Parallel()
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		pool, db := behind(t, program, postgres.Options{
			MaxConns: 1, StatementTimeout: 50 * time.Millisecond, Gate: &postgres.Gate{LockWait: time.Minute},
		})
		ctx := t.Context()
		tag, err := db.Exec(ctx, insert, 1)
		require.NoError(t, err)
		require.EqualValues(t, 1, tag.RowsAffected())
		tag, err = db.Exec(ctx, "INSERT INTO platform.numbers VALUES (2); INSERT INTO platform.numbers VALUES (3), (4)")
		require.NoError(t, err)
		require.EqualValues(t, 2, tag.RowsAffected())
		n, err := db.CopyFrom(ctx, pgx.Identifier{"platform", "numbers"}, []string{"n"},
			pgx.CopyFromRows([][]any{{5}, {6}}))
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		rows, err := db.Query(ctx, insert+" RETURNING n", pgx.QueryExecModeExec, 7)
		require.NoError(t, err)
		_, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		require.NoError(t, err)

		_, err = db.Exec(ctx, insert, 100)
		require.Equal(t, "small", postgres.Constraint(err))
		_, err = db.Exec(ctx, "INSERT INTO platform.numbers VALUES (8); INSERT INTO platform.numbers VALUES (100)")
		require.Equal(t, "small", postgres.Constraint(err))
		rows, err = db.Query(ctx, insert+" RETURNING n", pgx.QueryExecModeExec, 100)
		if err == nil {
			_, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		}
		require.Equal(t, "small", postgres.Constraint(err))
		rows, err = db.Query(ctx, insert+" RETURNING n", 100)
		if err == nil {
			_, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		}
		require.Equal(t, "small", postgres.Constraint(err))
		require.True(t, postgres.IsNoRows(db.QueryRow(ctx, "SELECT n FROM platform.numbers WHERE n = $1", 99).Scan(&n)))
		_, err = db.Exec(ctx, "SELECT pg_sleep($1)", 60)
		require.True(t, postgres.IsTimeout(err), "%v", err)
		stop := errors.New("stop")
		require.ErrorIs(t, postgres.InTx(ctx, db, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, insert, 9)
			require.NoError(t, err)
			return stop
		}), stop)
		require.NoError(t, postgres.InTx(ctx, db, func(tx pgx.Tx) error {
			if _, err := postgres.Later(tx).Exec(ctx, insert, 10); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, insert, 11)
			return err
		}))
		require.NoError(t, postgres.InTx(ctx, db, func(pgx.Tx) error { return nil }))
		requireNumbers(t, pool, 1, 2, 3, 4, 5, 6, 7, 10, 11)
	})
}

// TestAPoolerWithoutAFreeConnectionIsBusy: whoever waited there for too long may come again, as at a pool of ours.
func TestAPoolerWithoutAFreeConnectionIsBusy(t *testing.T) {
	t.Parallel()
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		url := program.Start(t, pgtest.URL(t), "default_pool_size = 1", "query_wait_timeout = 1", "max_client_conn = 2")
		connect := func() (*pgx.Conn, error) { return pgx.Connect(t.Context(), url) }
		var conns []*pgx.Conn
		for range 2 {
			conn, err := connect()
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
			conns = append(conns, conn)
		}
		_, err := connect()
		require.True(t, postgres.IsBusy(err), "%v", err)
		_, err = conns[0].Exec(t.Context(), "BEGIN") // and has the only connection
		require.NoError(t, err)
		_, err = conns[1].Exec(t.Context(), "SELECT 1")
		require.True(t, postgres.IsBusy(err), "%v", err)
	})
}

// TestAPoolerThatWasForgottenIsNamed: an operator who set the pooler's address alone is told what else to set.
func TestAPoolerThatWasForgottenIsNamed(t *testing.T) {
	t.Parallel()
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		url := program.Start(t, pgtest.URL(t))
		_, err := postgres.NewPool(t.Context(), url, postgres.Options{StatementTimeout: time.Second})
		require.ErrorContains(t, err, "DATABASE_POOLER=transaction")
	})
}
