// Package postgres opens the pool, runs transactions, and turns the names of
// violated constraints into errors that services can tell apart.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DB is what a query needs: a pool, a connection or a transaction. It is also
// the interface that sqlc's generated code takes.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
}

// Options tune a pool; the zero value suits a server.
type Options struct {
	MaxConns         int32         // default 20
	StatementTimeout time.Duration // server side; default none
	ApplicationName  string
	Gate             *Gate           // of a process that serves requests; nil bounds no wait
	Pooler           Pooler          // what stands before the server: see Limited
	Lazy             bool            // a further pool on a database that answers: nothing is opened before it is needed
	Tracer           pgx.QueryTracer // hears of every statement; nil: nobody does
}

// NewPool opens a pool whose sessions speak UTC and know the arrays of object
// ids. It fails when the database does not answer, unless it is a lazy one.
func NewPool(ctx context.Context, url string, o Options) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errNoURL
	}
	cfg.MaxConns = 20
	if o.MaxConns > 0 {
		cfg.MaxConns = o.MaxConns
	}
	o.begin(cfg)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	if o.Lazy {
		return pool, nil
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		if isPoolers(err) {
			return nil, fmt.Errorf("a pooler answers in place of Postgres: set DATABASE_POOLER=transaction: %w", err)
		}
		return nil, fmt.Errorf("the database does not answer: %w", err)
	}
	return pool, nil
}

// isPoolers reports whether the error is that of a pooler which takes no settings of a session.
func isPoolers(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == errProtocol && strings.HasPrefix(e.Message, "unsupported startup parameter")
}

// begin sets what sessions begin with. A pooler takes the names alone for which it can tell clients apart.
func (o Options) begin(cfg *pgxpool.Config) {
	params := cfg.ConnConfig.RuntimeParams
	params["timezone"] = "UTC"
	if o.ApplicationName != "" {
		params["application_name"] = o.ApplicationName
	}
	if o.Pooler == Unprepared {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if o.Pooler == NoPooler {
		params["jit"] = "off" // long OR lists of client filters otherwise pay for compilation
		if o.StatementTimeout > 0 {
			params["statement_timeout"] = milliseconds(o.StatementTimeout)
		}
	}
	if o.Tracer != nil {
		cfg.ConnConfig.Tracer = o.Tracer
	}
	if o.Gate != nil {
		g := newGate(*o.Gate, int(cfg.MaxConns))
		cfg.ConnConfig.Tracer = g
		if o.Tracer != nil {
			cfg.ConnConfig.Tracer = multitracer.New(g, o.Tracer)
		}
		cfg.PrepareConn = g.alive
		if o.Pooler == NoPooler {
			params["lock_timeout"] = milliseconds(o.Gate.LockWait)
			cfg.PrepareConn = g.prepare
		}
	}
	cfg.AfterConnect = loadTypes
}

// loadTypes makes instants come back in UTC, whatever zone the machine is in,
// and registers platform.object_id and its array once the migrations have made
// them; a session opened before works without the array.
func loadTypes(ctx context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	// conn.LoadTypes finds the same, by a recursive query that costs each session some
	// milliseconds.
	var domain, array uint32
	const oids = "SELECT oid, typarray FROM pg_type WHERE oid = to_regtype('platform.object_id')"
	if err := conn.QueryRow(ctx, oids, pgx.QueryExecModeExec).Scan(&domain, &array); err != nil {
		return nil //nolint:nilerr // before the first migration the domain is not there yet
	}
	text, _ := conn.TypeMap().TypeForOID(pgtype.TextOID)
	id := &pgtype.Type{Name: "platform.object_id", OID: domain, Codec: text.Codec}
	conn.TypeMap().RegisterTypes([]*pgtype.Type{
		id, {Name: "platform._object_id", OID: array, Codec: &pgtype.ArrayCodec{ElementType: id, Delimiter: ','}},
	})
	return nil
}

// Constraint returns the name of the constraint that err violates, or "".
func Constraint(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code[:2] == "23" {
		return pgErr.ConstraintName
	}
	return ""
}

// IsNoRows reports whether err says that a row was not there.
func IsNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// IsTimeout reports whether a statement was cancelled because it ran too long itself:
// not because it, or who asked for it, had to wait.
func IsTimeout(err error) bool { return code(err) == "57014" }

// Now is the present instant by the database's clock. The error is the database's.
func Now(ctx context.Context, db DB) (now time.Time, err error) {
	if err := db.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
		return now, fmt.Errorf("ask for the time: %w", err)
	}
	return now, nil
}
