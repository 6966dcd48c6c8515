package main_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// dump reads every row of every table, River's jobs and their arguments among
// them, as text; with schemas named, of those alone.
func dump(t *testing.T, databaseURL string, schemas ...string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, databaseURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
		WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND (schemaname = ANY($1) OR cardinality($1) = 0)`, append([]string{}, schemas...))
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	var out strings.Builder
	for _, table := range tables {
		rows, err := conn.Query(ctx, fmt.Sprintf("SELECT t::text FROM %s t", table))
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		out.WriteString(table + "\n" + strings.Join(lines, "\n") + "\n")
	}
	return out.String()
}

// requireNoTrace fails when one of the secrets stands in the text. Short ones,
// such as codes, count only as a number of their own, not inside another one.
func requireNoTrace(t *testing.T, where, text string, secrets map[string]string) {
	t.Helper()
	for name, value := range secrets {
		require.NotEmpty(t, value, name)
		pattern := regexp.QuoteMeta(value)
		if len(value) < 10 {
			pattern = `(^|[^0-9A-Za-z._-])` + pattern + `([^0-9A-Za-z._-]|$)`
		}
		if at := regexp.MustCompile(pattern).FindStringIndex(text); at != nil {
			from, to := max(0, at[0]-120), min(len(text), at[1]+60)
			t.Errorf("%s holds the %s: …%s…", where, name, text[from:to])
		}
	}
}

func TestRequireNoTraceFindsSecrets(t *testing.T) {
	t.Parallel()
	for text, found := range map[string]bool{
		`{"code": "123456"}`: true, `(a,123456,b)`: true, `12:00:01.123456`: false, `9123456`: false, `pay 4242424242424242 now`: true,
	} {
		probe := &testing.T{}
		requireNoTrace(probe, "text", text, map[string]string{"code": "123456"})
		requireNoTrace(probe, "text", text, map[string]string{"card": "4242424242424242"})
		require.Equal(t, found, probe.Failed(), text)
	}
}
