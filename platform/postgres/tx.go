package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

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
	begin := &pgx.Batch{}
	begin.BeginTx(pgx.TxOptions{})
	var pool *pgxpool.Pool
	switch of := db.(type) {
	case *pgxpool.Pool:
		pool = of
	case *limited:
		pool = of.pool
		sql, args := of.limits(ctx)
		begin.Queue(sql, args...)
	default:
		return pgx.BeginFunc(ctx, db, f)
	}
	var wait localLockWait
	return pool.AcquireFunc(context.WithValue(ctx, localLockWait{}, &wait), func(c *pgxpool.Conn) error {
		if wait.sql != "" {
			begin.Queue(wait.sql, wait.value)
		}
		return pgx.BeginFunc(ctx, beginner{c.Conn(), begin}, f)
	})
}

// Later is a database for statements of a transaction of InTx of which nobody needs the results: they
// are sent in their order with the next one that is waited for, at the latest with COMMIT, and an error
// of theirs is told by that. For any other transaction it is the transaction.
func Later(within pgx.Tx) DB {
	if t, ok := within.(*tx); ok {
		return later{t}
	}
	return within
}

type later struct{ *tx }

// Exec implements DB. The command tag is empty.
func (l later) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	l.pending.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// CopyFrom implements DB, by an INSERT a row: a copy cannot be sent with others. It tells no number.
func (l later) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string,
	rows pgx.CopyFromSource,
) (int64, error) {
	if l.conn.Config().DefaultQueryExecMode > pgx.QueryExecModeDescribeExec { // the types of columns are not asked for
		return l.tx.CopyFrom(ctx, table, columns, rows)
	}
	names, places := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		names[i], places[i] = pgx.Identifier{column}.Sanitize(), "$"+strconv.Itoa(i+1)
	}
	sql := "INSERT INTO " + table.Sanitize() + " (" + strings.Join(names, ", ") + ") VALUES (" +
		strings.Join(places, ", ") + ")"
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return 0, err
		}
		l.pending.Queue(sql, values...)
	}
	return 0, rows.Err()
}

// ChangeLater has an UPDATE, INSERT or DELETE without RETURNING, in a transaction of InTx, sent as Later does. It has
// to change a row: where it changes none, unchanged is the error of what it is sent with, and the transaction is over.
// In any other transaction it is sent at once. One that begins WITH has all of that in its first line.
func ChangeLater(ctx context.Context, within pgx.Tx, unchanged error, sql string, args ...any) error {
	if t, ok := within.(*tx); ok {
		t.awaited = append(t.awaited, awaited{place: t.pending.Len(), unchanged: unchanged})
		t.pending.Queue(sql, args...)
		return nil
	}
	tag, err := within.Exec(ctx, sql, args...)
	if err == nil && tag.RowsAffected() == 0 {
		return unchanged
	}
	return err
}

// awaited is a pending statement of whose answer more is asked than that it is no error.
type awaited struct {
	place     int                                  // among those that are pending
	unchanged error                                // of a change: that it changed no row
	read      func(results pgx.BatchResults) error // of what was asked for
}

// orFail makes a change that is sent with COMMIT fail where it changes no row: its count is known too late.
func orFail(sql string) string {
	if with, last, ok := strings.Cut(sql, "\n"); ok && strings.HasPrefix(with, "WITH ") {
		return with + ", changed AS (" + last + " RETURNING 1) SELECT 1 / count(*) FROM changed"
	}
	return "WITH changed AS (" + sql + " RETURNING 1) SELECT 1 / count(*) FROM changed"
}

// errNoChange is Postgres's division_by_zero, what orFail fails with.
const errNoChange = "22012"

type beginner struct {
	conn  *pgx.Conn
	begin *pgx.Batch // BEGIN, and what else a transaction begins with
}

// Begin implements Beginner. Nothing is sent yet.
func (b beginner) Begin(context.Context) (pgx.Tx, error) {
	return &tx{conn: b.conn, pending: b.begin, begins: b.begin.Len()}, nil
}

// tx is a transaction that spares round trips: BEGIN, and what was left for later, are sent together with
// the next statement, and the answers to all of them are awaited together. All else is the driver's.
type tx struct {
	pgx.Tx  // nil until BEGIN is sent
	conn    *pgx.Conn
	pending *pgx.Batch // what is sent with the next statement
	awaited []awaited  // those of the pending whose answers are looked at
	missed  error      // that a change of those which were sent last changed nothing
	begins  int        // of how many statements it begins
	notSent bool       // what was to be sent last, which is why it was rolled back
}

// Exec implements pgx.Tx.
func (t *tx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if t.pending.Len() > 0 && len(args) > 0 && !isOption(args[0]) { // without arguments it may be many statements
		results := t.flushWith(ctx, sql, args...)
		tag, err := results.Exec()
		return tag, t.close(ctx, results, err)
	}
	if err := t.flush(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return t.Tx.Exec(ctx, sql, args...)
}

// QueryRow implements pgx.Tx.
func (t *tx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.pending.Len() > 0 && (len(args) == 0 || !isOption(args[0])) {
		return row{t, ctx, t.flushWith(ctx, sql, args...)}
	}
	if err := t.flush(ctx); err != nil {
		return failed(err).QueryRow()
	}
	return t.Tx.QueryRow(ctx, sql, args...)
}

// Query implements pgx.Tx.
func (t *tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if t.pending.Len() > 0 && (len(args) == 0 || !isOption(args[0])) {
		results := t.flushWith(ctx, sql, args...)
		all, err := results.Query()
		if err != nil {
			return all, t.close(ctx, results, err)
		}
		return &rows{Rows: all, tx: t, ctx: ctx, results: results}, nil
	}
	if err := t.flush(ctx); err != nil {
		return failed(err).Query()
	}
	return t.Tx.Query(ctx, sql, args...)
}

// isOption reports whether an argument is meant for the driver; batches take none.
func isOption(arg any) bool {
	switch arg.(type) {
	case pgx.QueryExecMode, pgx.QueryResultFormats, pgx.QueryResultFormatsByOID:
		return true
	}
	return false
}

// flushWith sends what is pending, and a statement, whose results are the next. They have to be closed.
func (t *tx) flushWith(ctx context.Context, sql string, args ...any) pgx.BatchResults {
	before := t.pending.Len()
	t.pending.Queue(sql, args...)
	awaited := t.awaited
	results := t.flushBatch(ctx)
	_ = t.readPending(results, before, awaited) // an error of it is that of the statement as well
	return results
}

// readPending reads the results of what was pending.
func (t *tx) readPending(results pgx.BatchResults, n int, awaited []awaited) (first error) {
	asked := true // the server has failed at nothing that was read before
	for i := range n {
		if len(awaited) == 0 || awaited[0].place != i {
			if _, err := results.Exec(); first == nil {
				first = err
			}
			continue
		}
		w := awaited[0]
		awaited = awaited[1:]
		if w.read != nil {
			if err := w.read(results); code(err) != "" { // an error of the server is that of all behind it as well
				asked = false
			}
			continue
		}
		tag, err := results.Exec()
		missed := err == nil && tag.RowsAffected() == 0 || asked && first == nil && code(err) == errNoChange
		if t.missed == nil && missed {
			t.missed = w.unchanged
			if err != nil {
				t.missed = errors.Join(w.unchanged, err)
			}
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// flush sends what is pending, if anything is.
func (t *tx) flush(ctx context.Context) error {
	if t.pending.Len() == 0 {
		return nil
	}
	n, awaited := t.pending.Len(), t.awaited
	results := t.flushBatch(ctx)
	return t.close(ctx, results, t.readPending(results, n, awaited))
}

func (t *tx) flushBatch(ctx context.Context) pgx.BatchResults {
	pending := t.pending
	t.pending, t.awaited, t.missed = &pgx.Batch{}, nil, nil
	if t.Tx != nil {
		return t.Tx.SendBatch(ctx, pending)
	}
	results := t.conn.SendBatch(ctx, pending)
	t.Tx = results.Tx()
	return results
}

// close closes the results of a statement that ended with err. Where the driver sent nothing (an argument of the
// wrong type, a context that had ended) the server knows of no error: what was pending is lost, and so the
// transaction is over.
func (t *tx) close(ctx context.Context, results pgx.BatchResults, err error) error {
	closing := results.Close()
	if t.missed != nil && (closing == nil || code(closing) == errNoChange) {
		closing, err = t.missed, nil
	}
	t.missed = nil
	if closing != nil && t.conn.PgConn().TxStatus() == 'T' {
		t.notSent = !t.conn.IsClosed()
		_ = t.Tx.Rollback(ctx) // there is an error already
	}
	if err == nil {
		return closing
	}
	return err
}

// failed are the results of statements that were not sent.
func failed(err error) pgx.BatchResults { return pgx.FailedBatchResults(&pgx.Batch{}, err) }

// row is that of a statement with which others were sent.
type row struct {
	tx      *tx
	ctx     context.Context //nolint:containedctx // of the statement, as the driver's rows hold it
	results pgx.BatchResults
}

// Scan implements pgx.Row.
func (r row) Scan(dest ...any) error {
	return r.tx.close(r.ctx, r.results, r.results.QueryRow().Scan(dest...))
}

// rows are those of a statement with which others were sent.
type rows struct {
	pgx.Rows
	tx      *tx
	ctx     context.Context //nolint:containedctx // as in row
	results pgx.BatchResults
	err     error
}

// Next implements pgx.Rows, which are closed behind the last.
func (r *rows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Close implements pgx.Rows.
func (r *rows) Close() {
	r.Rows.Close()
	if r.results != nil {
		r.err = r.tx.close(r.ctx, r.results, r.Rows.Err())
		r.results = nil
	}
}

// Err implements pgx.Rows.
func (r *rows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// SendBatch implements pgx.Tx.
func (t *tx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := t.flush(ctx); err != nil {
		return failed(err)
	}
	return t.Tx.SendBatch(ctx, b)
}

// CopyFrom implements pgx.Tx.
func (t *tx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string,
	rows pgx.CopyFromSource,
) (int64, error) {
	if err := t.flush(ctx); err != nil {
		return 0, err
	}
	return t.Tx.CopyFrom(ctx, table, columns, rows)
}

// Prepare implements pgx.Tx.
func (t *tx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	if err := t.flush(ctx); err != nil {
		return nil, err
	}
	return t.Tx.Prepare(ctx, name, sql)
}

// Begin implements pgx.Tx, with a savepoint.
func (t *tx) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := t.flush(ctx); err != nil {
		return nil, err
	}
	return t.Tx.Begin(ctx)
}

// Conn implements pgx.Tx.
func (t *tx) Conn() *pgx.Conn { return t.conn }

// errUnsure says that COMMIT was sent, and that its answer is not known.
var errUnsure = errors.New("postgres: it is not known whether the transaction stands")

// IsUnsure reports whether it is not known if a transaction stands: the connection broke at its COMMIT, or an answer
// that came with it cannot be read.
func IsUnsure(err error) bool { return errors.Is(err, errUnsure) }

// unsure wraps the error of a COMMIT that may stand all the same.
func unsure(err error) error {
	if err == nil || IsServers(err) || errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, pgx.ErrTxClosed) ||
		pgconn.SafeToRetry(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errUnsure, err)
}

// Commit implements pgx.Tx. See IsUnsure.
func (t *tx) Commit(ctx context.Context) error {
	switch {
	case t.Tx == nil && t.pending.Len() == t.begins:
		return nil // but for its begin, which was not sent, there was nothing
	case t.pending.Len() == 0:
		return unsure(t.Tx.Commit(ctx))
	}
	for _, w := range t.awaited {
		if change := t.pending.QueuedQueries[w.place]; w.unchanged != nil {
			change.SQL = orFail(change.SQL)
		}
	}
	results := t.flushWith(ctx, "commit")
	tag, err := results.Exec()
	err = t.close(ctx, results, err)
	if t.conn.PgConn().TxStatus() == 'I' {
		t.Tx = closedTx() // the driver does not know of COMMIT
	} else {
		_ = t.Tx.Rollback(ctx) // there is an error already
	}
	switch {
	case err == nil && tag.String() == "ROLLBACK":
		return pgx.ErrTxCommitRollback
	case t.notSent:
		return err
	}
	return unsure(err)
}

// closedTx is a transaction that has ended.
func closedTx() pgx.Tx {
	b := &pgx.Batch{}
	b.BeginTx(pgx.TxOptions{})
	return pgx.FailedBatchResults(b, pgx.ErrTxClosed).Tx()
}

// Rollback implements pgx.Tx. What is pending is never sent.
func (t *tx) Rollback(ctx context.Context) error {
	t.pending, t.awaited = &pgx.Batch{}, nil
	if t.Tx == nil {
		return nil
	}
	return t.Tx.Rollback(ctx)
}
