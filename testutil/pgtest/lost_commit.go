package pgtest

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
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
		return &losing{Conn: conn, armed: armed}, err
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
	armed    *atomic.Bool
	prepared string // the name of COMMIT, once it is
}

// Write implements net.Conn.
func (l *losing) Write(p []byte) (int, error) {
	commits := l.commits(p) && l.armed.CompareAndSwap(true, false)
	n, err := l.Conn.Write(p)
	if commits && err == nil {
		_, _ = l.Conn.Read(make([]byte, 1024)) // the server's answer: it has committed
		_ = l.Conn.Close()
		err = errors.New("the connection broke")
	}
	return n, err
}

// commits reports whether COMMIT is among the messages, each of which has a type, a length and a body
// (https://www.postgresql.org/docs/current/protocol-message-formats.html). They are told whole.
func (l *losing) commits(p []byte) bool {
	for len(p) >= 5 && p[0] != 0 { // what a connection begins with has no type
		length := int(binary.BigEndian.Uint32(p[1:]))
		texts := strings.SplitN(string(p[5:1+length]), "\x00", 3)
		switch {
		case p[0] == 'Q' && texts[0] == "commit", p[0] == 'B' && l.prepared != "" && texts[1] == l.prepared:
			return true
		case p[0] == 'P' && texts[1] == "commit":
			l.prepared = texts[0]
		}
		p = p[1+length:]
	}
	return false
}
