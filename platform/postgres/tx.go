package postgres

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lazily begins transactions of a connection with their first statement.
type lazily struct{ conn *pgx.Conn }

func (l lazily) Begin(context.Context) (pgx.Tx, error) { return &lazyTx{conn: l.conn}, nil }

// lazyTx is a transaction whose BEGIN travels with its first statement, which saves
// a round trip. Until then there is nothing to commit or to roll back. Large objects
// need a statement before them.
type lazyTx struct {
	pgx.Tx // nil before the first statement
	conn   *pgx.Conn
}

// Exec runs a statement, or several in one text without arguments.
func (t *lazyTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, sent := t.beginWith(ctx, len(args) > 0, sql, args)
	if !sent {
		return t.Tx.Exec(ctx, sql, args...)
	}
	tag, err := results.Exec()
	return tag, cmp.Or(err, results.Close())
}

// Query runs a query; the rows have to be closed before the next statement.
func (t *lazyTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, sent := t.beginWith(ctx, true, sql, args)
	if !sent {
		return t.Tx.Query(ctx, sql, args...)
	}
	rows, err := results.Query()
	return &firstRows{Rows: rows, results: results}, err
}

// QueryRow runs a query of at most one row.
func (t *lazyTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	results, sent := t.beginWith(ctx, true, sql, args)
	if !sent {
		return t.Tx.QueryRow(ctx, sql, args...)
	}
	return firstRow{results}
}

// SendBatch sends queries together.
func (t *lazyTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if t.Tx != nil {
		return t.Tx.SendBatch(ctx, b)
	}
	return t.send(ctx, b.QueuedQueries...)
}

// Begin makes a savepoint.
func (t *lazyTx) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	return t.Tx.Begin(ctx)
}

// CopyFrom copies rows into a table.
func (t *lazyTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	if err := t.begin(ctx); err != nil {
		return 0, err
	}
	return t.Tx.CopyFrom(ctx, table, columns, rows)
}

// Conn is the connection that the transaction is on.
func (t *lazyTx) Conn() *pgx.Conn { return t.conn }

// Commit ends the transaction.
func (t *lazyTx) Commit(ctx context.Context) error {
	if t.Tx == nil {
		return nil
	}
	return t.Tx.Commit(ctx)
}

// Rollback ends the transaction; pgx.ErrTxClosed when it has ended.
func (t *lazyTx) Rollback(ctx context.Context) error {
	if t.Tx == nil {
		return pgx.ErrTxClosed
	}
	return t.Tx.Rollback(ctx)
}

// begin begins the transaction by itself, unless it has begun.
func (t *lazyTx) begin(ctx context.Context) (err error) {
	if t.Tx == nil {
		t.Tx, err = t.conn.Begin(ctx)
	}
	return err
}

// beginWith begins the transaction with its first statement. Sent is false when that
// has still to be sent: the transaction has begun before, or the statement is none
// for a batch, which takes one statement a text and no mode of its own.
func (t *lazyTx) beginWith(ctx context.Context, single bool, sql string, args []any) (results pgx.BatchResults, sent bool) {
	if t.Tx != nil {
		return nil, false
	}
	if !single || hasMode(args) {
		err := t.begin(ctx)
		return pgx.FailedBatchResults(&pgx.Batch{}, err), err != nil
	}
	return t.send(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args}), true
}

func hasMode(args []any) bool {
	if len(args) == 0 {
		return false
	}
	_, is := args[0].(pgx.QueryExecMode)
	return is
}

// send sends BEGIN and the first queries. When it could not begin, their results
// tell why.
func (t *lazyTx) send(ctx context.Context, first ...*pgx.QueuedQuery) pgx.BatchResults {
	var b pgx.Batch
	b.BeginTx(pgx.TxOptions{})
	b.QueuedQueries = append(b.QueuedQueries, first...)
	results := t.conn.SendBatch(ctx, &b)
	t.Tx = results.Tx()
	_, _ = results.Exec() // of BEGIN
	return results
}

// firstRow is the row of a transaction's first statement.
type firstRow struct{ results pgx.BatchResults }

func (r firstRow) Scan(targets ...any) error {
	err := r.results.QueryRow().Scan(targets...)
	return cmp.Or(err, r.results.Close())
}

// firstRows are the rows of a transaction's first statement.
type firstRows struct {
	pgx.Rows
	results pgx.BatchResults
	closed  error
}

func (r *firstRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *firstRows) Close() {
	r.Rows.Close()
	r.closed = r.results.Close()
}

func (r *firstRows) Err() error { return cmp.Or(r.Rows.Err(), r.closed) }
