package secrettest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Database fails t when its database holds one of its secrets.
func Database(t testing.TB, databaseURL string) {
	t.Helper()
	text, err := Dump(databaseURL)
	if err != nil {
		t.Errorf("secrettest: read the database: %v", err)
		return
	}
	Text(t, "the database", text)
}

// rowsOfTable bounds what is read of one table: larger ones are filled by SQL, for plans.
const rowsOfTable = "20000"

// Dump is every row of every table as text, those of the named schemas alone when any are
// named.
func Dump(databaseURL string, schemas ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, _ := conn.Query(ctx, `SELECT format('(SELECT ''%1$I.%2$I '' || r::text FROM %1$I.%2$I r LIMIT `+rowsOfTable+
		`)', n.nspname, c.relname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind = 'r' AND pg_relation_size(c.oid) > 0 AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
		  AND (n.nspname = ANY($1) OR cardinality($1) = 0)`, append([]string{}, schemas...))
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) == 0 {
		return "", err
	}
	rows, _ = conn.Query(ctx, strings.Join(tables, " UNION ALL "))
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// Logger writes as the product does, down to debug, and fails t when what was written holds
// one of its secrets. A test that reads its log gives writers of its own beside.
func Logger(t testing.TB, beside ...io.Writer) *slog.Logger {
	if _, ok := t.(*testing.B); ok {
		return slog.New(slog.DiscardHandler)
	}
	out := &Log{}
	t.Cleanup(func() { Text(t, "the log", out.String()) })
	return slog.New(slog.NewJSONHandler(io.MultiWriter(append(beside, out)...),
		&slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Log may be read while many write it.
type Log struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

// String is what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}
