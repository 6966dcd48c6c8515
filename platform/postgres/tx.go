package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Beginner starts transactions: a pool, a connection, or a transaction (then a
// savepoint).
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// InTx runs f in a transaction, committed when f returns nil. That of a pool begins with its
// first statement, which saves a round trip.
func InTx(ctx context.Context, db Beginner, f func(tx pgx.Tx) error) error {
	pool, ok := db.(*pgxpool.Pool)
	if !ok {
		return pgx.BeginFunc(ctx, db, f)
	}
	return pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return pgx.BeginFunc(ctx, beginner{c.Conn()}, f) })
}

type beginner struct{ conn *pgx.Conn }

// Begin implements Beginner. Nothing is sent yet.
func (b beginner) Begin(context.Context) (pgx.Tx, error) { return &tx{conn: b.conn}, nil }

// tx is a transaction that begins with its first statement: BEGIN is sent before it, and the
// answers to both are awaited together. From then on all is the driver's.
type tx struct {
	pgx.Tx // nil until BEGIN is sent
	conn   *pgx.Conn
}

// Exec implements pgx.Tx.
func (t *tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if t.Tx == nil && len(args) > 0 && !isOption(args[0]) { // without arguments it may be many statements
		results := t.beginWith(ctx, sql, args)
		tag, err := results.Exec()
		return tag, closed(results, err)
	}
	if err := t.begin(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return t.Tx.Exec(ctx, sql, args...)
}

// QueryRow implements pgx.Tx.
func (t *tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.Tx == nil && (len(args) == 0 || !isOption(args[0])) {
		return firstRow{t.beginWith(ctx, sql, args)}
	}
	if err := t.begin(ctx); err != nil {
		return failed(err).QueryRow()
	}
	return t.Tx.QueryRow(ctx, sql, args...)
}

// isOption reports whether an argument is meant for the driver; batches take none.
func isOption(arg any) bool {
	switch arg.(type) {
	case pgx.QueryExecMode, pgx.QueryResultFormats, pgx.QueryResultFormatsByOID:
		return true
	}
	return false
}

// beginWith begins with a statement, whose results are the next. They have to be closed.
func (t *tx) beginWith(ctx context.Context, sql string, args []any) pgx.BatchResults {
	b := &pgx.Batch{}
	b.BeginTx(pgx.TxOptions{})
	b.Queue(sql, args...)
	results := t.conn.SendBatch(ctx, b)
	t.Tx = results.Tx()
	_, _ = results.Exec() // an error of BEGIN is that of the statement as well
	return results
}

// begin begins alone, unless the transaction has begun.
func (t *tx) begin(ctx context.Context) error {
	if t.Tx != nil {
		return nil
	}
	b := &pgx.Batch{}
	b.BeginTx(pgx.TxOptions{})
	results := t.conn.SendBatch(ctx, b)
	t.Tx = results.Tx()
	return results.Close()
}

// closed closes the results of a statement that ended with err.
func closed(results pgx.BatchResults, err error) error {
	if closing := results.Close(); err == nil {
		return closing
	}
	return err
}

// failed are the results of statements that were not sent.
func failed(err error) pgx.BatchResults { return pgx.FailedBatchResults(&pgx.Batch{}, err) }

// firstRow is the row of the statement with which the transaction began.
type firstRow struct{ results pgx.BatchResults }

// Scan implements pgx.Row.
func (r firstRow) Scan(dest ...any) error {
	return closed(r.results, r.results.QueryRow().Scan(dest...))
}

// Query implements pgx.Tx.
func (t *tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.begin(ctx); err != nil {
		return failed(err).Query()
	}
	return t.Tx.Query(ctx, sql, args...)
}

// SendBatch implements pgx.Tx.
func (t *tx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := t.begin(ctx); err != nil {
		return failed(err)
	}
	return t.Tx.SendBatch(ctx, b)
}

// CopyFrom implements pgx.Tx.
func (t *tx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string,
	rows pgx.CopyFromSource,
) (int64, error) {
	if err := t.begin(ctx); err != nil {
		return 0, err
	}
	return t.Tx.CopyFrom(ctx, table, columns, rows)
}

// Prepare implements pgx.Tx.
func (t *tx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	return t.Tx.Prepare(ctx, name, sql)
}

// Begin implements pgx.Tx, with a savepoint.
func (t *tx) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	return t.Tx.Begin(ctx)
}

// Conn implements pgx.Tx.
func (t *tx) Conn() *pgx.Conn { return t.conn }

// Commit implements pgx.Tx.
func (t *tx) Commit(ctx context.Context) error {
	if t.Tx == nil {
		return nil // nothing was done
	}
	return t.Tx.Commit(ctx)
}

// Rollback implements pgx.Tx.
func (t *tx) Rollback(ctx context.Context) error {
	if t.Tx == nil {
		return nil
	}
	return t.Tx.Rollback(ctx)
}
