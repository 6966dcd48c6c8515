package pgtest

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/testutil/cleanup"
)

// Rewritten is a further pool on the database of a pool that DB made, whose
// connections send some texts otherwise: the first of each pair becomes the second,
// filled up with spaces to its length. So a test takes out a guard that stands in
// the product's own queries, such as a row lock, and shows what it keeps from
// happening.
func Rewritten(t testing.TB, db *pgxpool.Pool, pairs ...[2]string) *pgxpool.Pool {
	t.Helper()
	texts := make([][2][]byte, len(pairs))
	for i, p := range pairs {
		if len(p[1]) > len(p[0]) {
			t.Fatalf("pgtest: %q is longer than %q", p[1], p[0])
		}
		texts[i] = [2][]byte{[]byte(p[0]), []byte(p[1] + strings.Repeat(" ", len(p[0])-len(p[1])))}
	}
	cfg := db.Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return rewriter{Conn: conn, texts: texts}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	cleanup.Add(t, func() { closePool(t, pool) })
	return pool
}

// rewriter relies on pgx sending a statement in one piece.
type rewriter struct {
	net.Conn
	texts [][2][]byte
}

func (r rewriter) Write(p []byte) (int, error) {
	out := p
	for _, text := range r.texts {
		out = bytes.ReplaceAll(out, text[0], text[1])
	}
	return r.Conn.Write(out)
}
