package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Result is what a statement answers that is sent together with others.
type Result[T any] struct {
	queued
	value T
}

// queued is the part of an answer that is the same whatever it is.
type queued struct {
	flush func(ctx context.Context) error // sends it, with all before it; nil where it was asked at once
	read  bool
	err   error
}

// errNotSent is of an answer that was asked for, and whose statement was never sent.
var errNotSent = errors.New("postgres: the statement was not sent")

// Queue has one statement of a transaction of InTx sent with the next one that is waited for, or by Get, at the latest
// with COMMIT. The argument do makes it, and reads its answer when that is there: it is called twice, and may do
// nothing else. In any other transaction it is asked at once.
func Queue[T any](within pgx.Tx, do func(db DB) (T, error)) *Result[T] {
	a := &Result[T]{}
	t, ok := within.(*tx)
	if !ok {
		a.value, a.err = do(within)
		a.read = true
		return a
	}
	a.flush = t.flush
	at := t.pending.Len()
	if a.queue(t.pending, do) {
		t.awaited = append(t.awaited, awaited{place: at, read: a.reader(do)})
	}
	return a
}

// queue adds the statement of an answer to a batch; false, with the answer's error, where there is none.
func (a *Result[T]) queue(b *pgx.Batch, do func(db DB) (T, error)) bool {
	r := &recorder{}
	if _, err := do(r); r.sql == "" {
		a.read, a.err = true, errors.Join(err, errNotSent)
		return false
	}
	b.Queue(r.sql, r.args...)
	return true
}

// reader reads the answer from the results of what it was sent with.
func (a *Result[T]) reader(do func(db DB) (T, error)) func(results pgx.BatchResults) error {
	return func(results pgx.BatchResults) error {
		a.value, a.err = do(reply{results})
		a.read = true
		return a.err
	}
}

// Get is the answer, for which the statement is sent where it was not yet. Errors are the statement's, and those of
// what it is sent with.
func (a *Result[T]) Get(ctx context.Context) (T, error) {
	if !a.read && a.flush != nil {
		if err := a.flush(ctx); err != nil {
			return a.value, err
		}
	}
	if !a.read {
		return a.value, errNotSent
	}
	return a.value, a.err
}

// Batch are statements that are sent together, outside of any transaction of the caller's.
type Batch struct {
	batch   pgx.Batch
	readers []func(results pgx.BatchResults) error
}

// Add adds a statement as Queue does. Its answer is there once Run has been called.
func Add[T any](q *Batch, do func(db DB) (T, error)) *Result[T] {
	a := &Result[T]{}
	if a.queue(&q.batch, do) {
		q.readers = append(q.readers, a.reader(do))
	}
	return a
}

// Run sends them in one round trip. An error is that of the first that failed, which Get tells as well.
func (q *Batch) Run(ctx context.Context, db DB) error {
	if len(q.readers) == 0 {
		return nil
	}
	results := db.SendBatch(ctx, &q.batch)
	for _, read := range q.readers {
		_ = read(results) // Get tells it
	}
	return results.Close()
}

// recorder hears which statement is made.
type recorder struct {
	sql  string
	args []any
}

func (r *recorder) hear(sql string, args []any) error {
	r.sql, r.args = sql, args
	return errNotSent
}

// Exec implements DB.
func (r *recorder) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, r.hear(sql, args)
}

// Query implements DB.
func (r *recorder) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	return failed(r.hear(sql, args)).Query()
}

// QueryRow implements DB.
func (r *recorder) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	return failed(r.hear(sql, args)).QueryRow()
}

// SendBatch implements DB. A batch is not one statement.
func (*recorder) SendBatch(context.Context, *pgx.Batch) pgx.BatchResults { return failed(errNotSent) }

// CopyFrom implements DB. A copy is no statement.
func (*recorder) CopyFrom(context.Context, pgx.Identifier, []string, pgx.CopyFromSource) (int64, error) {
	return 0, errNotSent
}

// reply answers with the next of the results.
type reply struct{ results pgx.BatchResults }

// Exec implements DB.
func (r reply) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return r.results.Exec()
}

// Query implements DB.
func (r reply) Query(context.Context, string, ...any) (pgx.Rows, error) { return r.results.Query() }

// QueryRow implements DB.
func (r reply) QueryRow(context.Context, string, ...any) pgx.Row { return r.results.QueryRow() }

// SendBatch implements DB.
func (reply) SendBatch(context.Context, *pgx.Batch) pgx.BatchResults { return failed(errNotSent) }

// CopyFrom implements DB.
func (reply) CopyFrom(context.Context, pgx.Identifier, []string, pgx.CopyFromSource) (int64, error) {
	return 0, errNotSent
}
