package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Pooler is what stands between a pool and Postgres: a program such as PgBouncer that lends a session of the server to
// each transaction (pool_mode = transaction). What a session holds, such as a SET, is another's after COMMIT.
type Pooler int

// The poolers, by what becomes of prepared statements.
const (
	NoPooler   Pooler = iota // each connection is a session of the server
	Unprepared               // they are prepared on one session and looked for on another: none may be made
	Prepared                 // the pooler prepares them again on each session that it lends
)

// String is the pooler as logs tell of it.
func (p Pooler) String() string {
	return [...]string{"none", "without prepared statements", "with prepared statements"}[p]
}

// errNoURL says that a connection string is none. The cause may hold the password.
var errNoURL = errors.New("DATABASE_URL is not a Postgres connection string")

// FindPooler asks which pooler stands behind an address, by what it does: its version is told to its administrators
// alone, and says nothing about its settings. Without one the key for cancelling that a client is given names the
// server's own process. One that keeps prepared statements gives them names of its own.
func FindPooler(ctx context.Context, url string) (Pooler, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return NoPooler, errNoURL
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return NoPooler, fmt.Errorf("the database does not answer: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.Begin(ctx) // one session for what follows
	if err != nil {
		return NoPooler, fmt.Errorf("find the pooler: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	name := "marquee_" + rand.Text()
	if _, err := conn.Prepare(ctx, name, "SELECT 1"); err != nil {
		return NoPooler, fmt.Errorf("find the pooler: %w", err)
	}
	var pid uint32
	var asIs bool
	const session = "SELECT pg_backend_pid()::bigint, EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1)"
	err = tx.QueryRow(ctx, session, name).Scan(&pid, &asIs)
	if err == nil {
		err = conn.Deallocate(ctx, name)
	}
	switch {
	case err != nil:
		return NoPooler, fmt.Errorf("find the pooler: %w", err)
	case pid == conn.PgConn().PID():
		return NoPooler, nil
	case asIs:
		return Unprepared, nil
	}
	return Prepared, nil
}
