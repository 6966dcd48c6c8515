package schema_test

import (
	"context"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// entries of a dump begin each with such a header.
var (
	header = regexp.MustCompile(`(?m)^--\n(?:-- .*\n)+--\n`)
	noise  = regexp.MustCompile(`(?m)^(?:SET .*|SELECT pg_catalog\.set_config.*|\\.*|-- Dumped .*)\n`)
)

// dump is the schema of a database, as pg_dump's entries of it in pg_dump's order.
func dump(t *testing.T, database string, options ...string) (entries []string) {
	t.Helper()
	path, err := exec.LookPath("pg_dump")
	if err != nil {
		t.Skip("pg_dump is not installed: schemas were not compared")
	}
	ours, err := exec.Command(path, "--version").Output()
	require.NoError(t, err)
	of, err := strconv.Atoi(regexp.MustCompile(`[0-9]+`).FindString(string(ours)))
	require.NoError(t, err)
	if served := major(t, database); served > of {
		t.Skipf("pg_dump is of %d, the tests' server of %d: schemas were not compared", of, served)
	}
	options = append(options, "--schema-only", "--no-owner", "--exclude-table=goose_db_version", "--dbname="+database)
	out, err := exec.Command(path, options...).Output()
	require.NoError(t, err, "%s", out)
	for _, entry := range header.Split(string(out), -1) {
		if entry = strings.TrimSpace(noise.ReplaceAllString(entry, "")); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// major is the server's version.
func major(t *testing.T, database string) (version int) {
	t.Helper()
	const query = "SELECT current_setting('server_version_num')::int / 10000"
	require.NoError(t, connect(t, database).QueryRow(t.Context(), query).Scan(&version))
	return version
}

// column are the texts that a query answers.
func column(t *testing.T, conn interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, query string, args ...any,
) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

func connect(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// newDatabase is an empty one, beside the test's own.
func newDatabase(t *testing.T, name string) string {
	t.Helper()
	address, err := url.Parse(pgtest.URL(t))
	require.NoError(t, err)
	conn := connect(t, address.String())
	name = strings.TrimPrefix(address.Path, "/") + "_" + name
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
	})
	address.Path = "/" + name
	return address.String()
}
