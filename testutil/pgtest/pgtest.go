package pgtest

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/platform/postgres"
	"marquee/testutil/cleanup"
)

// poolSize bounds the connections of one test: many tests share one server.
const poolSize = 4

// DB is a pool of 4 connections on a migrated, otherwise empty database, which no other test has
// meanwhile. At the end of the test it may hold no secret that secrettest knows; then it is emptied
// for another test (see reuse.go), and the test fails when it kept a connection.
func DB(t testing.TB) *pgxpool.Pool {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	sp, err := s.spareDatabase(t)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	cleanup.Add(t, func() {
		sp.searchSecrets(t, sp.pool)
		s.giveBack(t, sp)
	})
	return sp.pool
}

// NewDB is DB on a new database, for a test that asks how Postgres keeps rows or plans.
func NewDB(t testing.TB) *pgxpool.Pool {
	t.Helper()
	d := newDatabase(t)
	pool, err := d.openPool(t.Context(), poolSize)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	cleanup.Add(t, func() {
		d.searchSecrets(t, pool)
		closePool(t, pool)
		d.on.finish(d.name)
	})
	return pool
}

// closePool does not let a leaked connection hang the test binary until its time is up.
func closePool(t testing.TB, pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Errorf("pgtest: %d connections were not given back to the pool (rows not closed, a transaction left open?)",
			pool.Stat().AcquiredConns())
	}
}

// URL is the connection URL of a new, migrated, otherwise empty database, with all rights. At
// the end of the test it may hold no secret that secrettest knows. Who opens a pool on it anyway
// takes the URL of DB's: a session less.
func URL(t testing.TB) string {
	t.Helper()
	d := newDatabase(t)
	session, err := pgx.Connect(t.Context(), d.url)
	if err == nil {
		_, err = session.Exec(t.Context(), takeOver)
	}
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	cleanup.Add(t, func() {
		d.searchSecrets(t, session)
		_ = session.Close(context.Background())
		d.on.finish(d.name)
	})
	return d.url
}

func newDatabase(t testing.TB) *database {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	d, err := s.clone(t.Context())
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return d
}

// openPool makes the first pool on the database and takes it over.
func (d *database) openPool(ctx context.Context, conns int32) (*pgxpool.Pool, error) {
	pool, err := postgres.NewPool(ctx, d.url, postgres.Options{MaxConns: conns, ApplicationName: "pgtest"})
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, takeOver); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// Tx is a transaction on a migrated database that is shared with the other transactions of
// the test process. It is rolled back at the end of the test: nothing in it is ever committed,
// and nobody else sees it. Where commits, locks or several sessions matter, use DB.
func Tx(t testing.TB) pgx.Tx {
	t.Helper()
	pool, err := sharedPool()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatalf("pgtest: begin: %v", err)
	}
	cleanup.Add(t, func() { _ = tx.Rollback(context.Background()) })
	return tx
}

// sharedPool lives as long as the test process. It is wide because a test holds its
// connection to the end, also while it waits for its turn among parallel ones.
var sharedPool = sync.OnceValues(func() (*pgxpool.Pool, error) {
	ctx := context.Background()
	s, err := shared()
	if err != nil {
		return nil, err
	}
	d, err := s.clone(ctx)
	if err != nil {
		return nil, err
	}
	return d.openPool(ctx, 32)
})

// DataDir is an empty directory in which a private Postgres can keep its data also when the
// tests run as root, who is not who Postgres runs as; t.TempDir is closed to others. It is
// for tests that start `marquee dev`. It is removed at the end of the test.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "marquee")
	if err == nil {
		cleanup.Add(t, func() { _ = os.RemoveAll(dir) })
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return dir
}
