package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pool is what the modules ask: statements by themselves, and transactions, each within the limits of its pool.
type Pool interface {
	DB
	Begin(ctx context.Context) (pgx.Tx, error)
	BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error)
}

// Limited is the pool within the limits of its options. Without a pooler that is the pool itself, whose sessions begin
// with them. Behind one a session belongs to a transaction alone: each says them anew, in the round trip of its first
// statement.
func Limited(pool *pgxpool.Pool, o Options) Pool {
	if o.Pooler == NoPooler {
		return pool
	}
	return &limited{pool: pool, options: o}
}

type limited struct {
	pool    *pgxpool.Pool
	options Options
}

// limits is a statement that sets them for the transaction in which it stands, and its arguments.
func (l *limited) limits(ctx context.Context) (sql string, args []any) {
	set := []string{"set_config('jit', 'off', true)"}
	if l.options.StatementTimeout > 0 {
		set = append(set, "set_config('statement_timeout', $1, true)")
		args = append(args, milliseconds(l.options.StatementTimeout))
	}
	if g := l.options.Gate; g != nil {
		set = append(set, "set_config('lock_timeout', $"+strconv.Itoa(len(args)+1)+", true)")
		args = append(args, milliseconds(g.lockWait(ctx)))
	}
	return "SELECT " + strings.Join(set, ", "), args
}

// batch sends one behind the limits: a batch is a transaction of its own. Its results are the next, and have to be
// closed.
func (l *limited) batch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	sql, args := l.limits(ctx)
	all := &pgx.Batch{}
	all.Queue(sql, args...)
	all.QueuedQueries = append(all.QueuedQueries, b.QueuedQueries...)
	results := l.pool.SendBatch(ctx, all)
	_, _ = results.Exec() // an error of it is that of the next as well
	return results
}

func (l *limited) batchOne(ctx context.Context, sql string, args []any) pgx.BatchResults {
	b := &pgx.Batch{}
	b.Queue(sql, args...)
	return l.batch(ctx, b)
}

// SendBatch implements DB.
func (l *limited) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if b.Len() == 0 {
		return l.pool.SendBatch(ctx, b)
	}
	return l.batch(ctx, b)
}

// Exec implements DB.
func (l *limited) Exec(ctx context.Context, sql string, args ...any) (tag pgconn.CommandTag, err error) {
	if len(args) == 0 || isOption(args[0]) { // without arguments it may be many statements
		err = InTx(ctx, l, func(tx pgx.Tx) error {
			tag, err = tx.Exec(ctx, sql, args...)
			return err
		})
		return tag, err
	}
	results := l.batchOne(ctx, sql, args)
	tag, err = results.Exec()
	return tag, firstOf(err, results.Close())
}

// QueryRow implements DB.
func (l *limited) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return limitedRow{l, ctx, sql, args}
}

// limitedRow is asked for when it is scanned.
type limitedRow struct {
	*limited
	ctx  context.Context //nolint:containedctx // of the statement, as the driver's rows hold it
	sql  string
	args []any
}

// Scan implements pgx.Row.
func (r limitedRow) Scan(dest ...any) error {
	if len(r.args) > 0 && isOption(r.args[0]) {
		return InTx(r.ctx, r.limited, func(tx pgx.Tx) error {
			return tx.QueryRow(r.ctx, r.sql, r.args...).Scan(dest...)
		})
	}
	results := r.batchOne(r.ctx, r.sql, r.args)
	return firstOf(results.QueryRow().Scan(dest...), results.Close())
}

// Query implements DB.
func (l *limited) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if len(args) > 0 && isOption(args[0]) {
		tx, err := l.Begin(ctx)
		if err != nil {
			return failed(err).Query()
		}
		all, err := tx.Query(ctx, sql, args...)
		return &limitedRows{Rows: all, end: func() error { return endTx(ctx, tx, all.Err()) }}, err
	}
	results := l.batchOne(ctx, sql, args)
	all, err := results.Query()
	if err != nil {
		return all, firstOf(err, results.Close())
	}
	return &limitedRows{Rows: all, end: results.Close}, nil
}

// endTx commits what ended without an error.
func endTx(ctx context.Context, tx pgx.Tx, err error) error {
	if err == nil {
		return tx.Commit(ctx)
	}
	_ = tx.Rollback(ctx)
	return err
}

// limitedRows are those of a statement with whose end something else ends.
type limitedRows struct {
	pgx.Rows
	end func() error // nil once it has been called
	err error
}

// Next implements pgx.Rows, which are closed behind the last.
func (r *limitedRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Close implements pgx.Rows.
func (r *limitedRows) Close() {
	r.Rows.Close()
	if r.end != nil {
		r.err = r.end()
		r.end = nil
	}
}

// Err implements pgx.Rows.
func (r *limitedRows) Err() error { return firstOf(r.Rows.Err(), r.err) }

// CopyFrom implements DB.
func (l *limited) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource,
) (n int64, err error) {
	err = InTx(ctx, l, func(tx pgx.Tx) error {
		n, err = tx.CopyFrom(ctx, table, columns, rows)
		return err
	})
	return n, err
}

// Begin implements Pool.
func (l *limited) Begin(ctx context.Context) (pgx.Tx, error) { return l.BeginTx(ctx, pgx.TxOptions{}) }

// BeginTx implements Pool.
func (l *limited) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	b := &pgx.Batch{}
	b.BeginTx(o)
	sql, args := l.limits(ctx)
	b.Queue(sql, args...)
	results := l.pool.SendBatch(ctx, b)
	tx := results.Tx()
	if err := results.Close(); err != nil {
		_ = tx.Rollback(ctx)
		return nil, err
	}
	return tx, nil
}

func firstOf(err, then error) error {
	if err != nil {
		return err
	}
	return then
}
