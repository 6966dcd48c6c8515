package pgtest

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/testutil/cleanup"
)

// LosingCommits is a pool on the database of another. While armed is true, the next connection
// that commits breaks once the server has done so, which makes it false.
func LosingCommits(t testing.TB, db *pgxpool.Pool) (pool *pgxpool.Pool, armed *atomic.Bool) {
	t.Helper()
	armed = new(atomic.Bool)
	cfg := db.Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return losing{Conn: conn, armed: armed}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	cleanup.Add(t, func() { closePool(t, pool) })
	return pool, armed
}

type losing struct {
	net.Conn
	armed *atomic.Bool
}

// Write implements net.Conn.
func (l losing) Write(p []byte) (int, error) {
	commits := bytes.Contains(p, []byte("commit")) && l.armed.CompareAndSwap(true, false)
	n, err := l.Conn.Write(p)
	if commits && err == nil {
		_, _ = l.Conn.Read(make([]byte, 1024)) // the server's answer: it has committed
		_ = l.Conn.Close()
		err = errors.New("the connection broke")
	}
	return n, err
}
