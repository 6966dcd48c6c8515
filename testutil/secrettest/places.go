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

	"marquee/testutil/cleanup"
)

// Querier is a pool or a session.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Database fails t when its database holds one of its secrets.
func Database(t testing.TB, db Querier) {
	t.Helper()
	text, err := dump(db)
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
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return "", err
	}
	defer func() { _ = session.Close(ctx) }()
	return dump(session, schemas...)
}

func dump(db Querier, schemas ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, _ := db.Query(ctx, `SELECT format('(SELECT ''%1$I.%2$I '' || r::text FROM %1$I.%2$I r LIMIT `+rowsOfTable+
		`)', n.nspname, c.relname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind = 'r' AND pg_relation_size(c.oid) > 0 AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
		  AND (n.nspname = ANY($1) OR cardinality($1) = 0)`, append([]string{}, schemas...))
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) == 0 {
		return "", err
	}
	rows, _ = db.Query(ctx, strings.Join(tables, " UNION ALL "), pgx.QueryExecModeExec)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// mistake is in the lines by which the stores tell of a change that writes more than it names.
const mistake = "columns that it does not name"

// Logger writes as the product does, down to debug, and fails t when what was written holds
// one of its secrets, or tells of a change that writes columns that it does not name. A failed test shows its last
// warnings and errors. A test that reads its log gives writers of its own beside.
func Logger(t testing.TB, beside ...io.Writer) *slog.Logger {
	if _, ok := t.(*testing.B); ok {
		return slog.New(slog.DiscardHandler)
	}
	out := &Log{}
	cleanup.Add(t, func() {
		Text(t, "the log", out.String())
		if strings.Contains(out.String(), mistake) {
			t.Error("a change writes " + mistake)
		}
		if t.Failed() {
			t.Log(out.complaints())
		}
	})
	return slog.New(slog.NewJSONHandler(io.MultiWriter(append(beside, out)...),
		&slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Log may be read while many write it.
type Log struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// complaints are the last lines that warn of something or say what failed.
func (l *Log) complaints() string {
	var lines []string
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
			lines = append(lines, line)
		}
	}
	return "log:\n" + strings.Join(lines[max(0, len(lines)-20):], "")
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
