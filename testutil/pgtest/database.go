package pgtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/testutil/secrettest"
)

// database is one of a test's own.
type database struct {
	on        *server
	name, url string
}

// takeOver has a copy be the database to work on, as if it had been migrated itself: else it
// counts as a restored one.
const takeOver = "UPDATE payments.database_marks SET mark = payments.database_mark()"

// clone makes a database from the template. Who opens the first session on it takes it over.
func (s *server) clone(ctx context.Context) (*database, error) {
	d := &database{on: s, name: fmt.Sprintf("%s%s_%d", databasePrefix, s.run, s.made.Add(1))}
	var err error
	if d.url, err = s.databaseURL(d.name); err != nil {
		return nil, err
	}
	_, err = s.admin.Exec(ctx,
		"CREATE DATABASE "+pgx.Identifier{d.name}.Sanitize()+" TEMPLATE "+pgx.Identifier{s.template}.Sanitize()+s.copySQL)
	if err != nil {
		return nil, fmt.Errorf("copy the template: %w", err)
	}
	if countsScans() {
		return d, s.preferIndexes(ctx, d.name)
	}
	return d, nil
}

// sessions are a pool or a connection. One more costs the server more than what is asked in it.
type sessions interface {
	secrettest.Querier
	Ping(ctx context.Context) error
}

// searchSecrets fails the test when its database holds a secret that secrettest knows.
func (d *database) searchSecrets(t testing.TB, by sessions) {
	if _, ok := t.(*testing.B); ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if by.Ping(ctx) == nil {
		secrettest.Database(t, by)
		return
	}
	// The test has ended or kept them, or has ended the server.
	session, err := pgx.Connect(context.Background(), d.url)
	if err != nil {
		t.Errorf("pgtest: %v", err)
		return
	}
	secrettest.Database(t, session)
	_ = session.Close(context.Background())
}

// litter is how many databases of ended tests, at some 8 MB of memory each, a process lets lie.
const litter = 64

// finish notes that a test is done with its database. They are left to the next process's
// sweep; only a process of very many tests clears up after itself, beside the running ones.
func (s *server) finish(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = append(s.finished, name)
	if len(s.finished) < litter {
		return
	}
	names := s.finished
	s.finished = nil
	go s.drop(context.Background(), names)
}

func (s *server) drop(ctx context.Context, names []string) {
	for _, name := range names {
		s.writeScansOf(ctx, name)
		// One that still has sessions is not worth a wait; the next sweep gets it.
		_, _ = s.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize())
	}
}

// claim takes the lock that keeps others from sweeping our databases. The server gives it
// back when our session ends, which it does with this process, however that ends.
func (s *server) claim(ctx context.Context) error {
	_, err := s.session.Exec(ctx, "SELECT pg_advisory_lock($1)", lockKey(s.run))
	return err
}

// sweep drops what ended processes left: their databases, and templates of migrations that
// nobody tests any more. It runs beside the tests; what it does not get done, or fails at,
// the next process's does.
func (s *server) sweep(ctx context.Context) {
	conn, err := s.admin.Acquire(ctx)
	if err != nil {
		return
	}
	defer conn.Release()
	rows, _ := conn.Query(ctx,
		"SELECT datname FROM pg_database WHERE starts_with(datname, $1) OR starts_with(datname, $2)", databasePrefix,
		templatePrefix)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return
	}
	for _, name := range names {
		if err := s.dropUnclaimed(ctx, conn.Conn(), name); err != nil {
			return
		}
	}
}

// dropUnclaimed drops the database unless a living process holds the lock on it.
func (s *server) dropUnclaimed(ctx context.Context, conn *pgx.Conn, name string) error {
	key := lockKey(claimName(name))
	var free bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&free); err != nil || !free {
		return err
	}
	defer func() { _, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", key) }()
	quoted := pgx.Identifier{name}.Sanitize()
	if strings.HasPrefix(name, templatePrefix) {
		if _, err := conn.Exec(ctx, "ALTER DATABASE "+quoted+" WITH IS_TEMPLATE false"); err != nil {
			return nil //nolint:nilerr // another process was faster
		}
	} else {
		s.writeScansOf(ctx, name)
	}
	_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted+" WITH (FORCE)")
	return err
}

// claimName is what the lock of a database is named by: a template by itself, a test's
// database by the run of its process.
func claimName(database string) string {
	run, ok := strings.CutPrefix(database, databasePrefix)
	if !ok {
		return database
	}
	run, _, _ = strings.Cut(run, "_")
	return run
}
