package pgtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// An index that nobody reads costs each write and serves nobody: `make unread-indexes` has the whole suite say which it
// has read, and here each of the others has to say in docs/performance.md why it stays.
func TestIndexesThatNobodyReadsSayWhyTheyStay(t *testing.T) {
	if !countsScans() {
		t.Skip("make unread-indexes")
	}
	s, err := shared()
	require.NoError(t, err)
	s.sweep(t.Context()) // the last processes' databases
	page, err := os.ReadFile("../../docs/performance.md")
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), URL(t))
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	indexes, err := unread(t.Context(), conn, os.Getenv(scansEnv))
	require.NoError(t, err)
	for _, index := range indexes {
		name, _, _ := strings.Cut(index, ":")
		if strings.Contains(string(page), "`"+name+"`") {
			t.Log(index)
		} else {
			t.Error(index)
		}
	}
}

// Of a database is told what was read by an index, and no more.
func TestScansOfIndexesAreNoted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scans")
	t.Setenv(scansEnv, file)
	s, err := shared()
	require.NoError(t, err)
	d, err := s.clone(t.Context())
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), d.url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "SELECT FROM catalog.videos WHERE title = 'A'; SELECT pg_stat_force_next_flush()")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	require.NoError(t, s.writeScans(t.Context(), d.name))
	conn, err = pgx.Connect(t.Context(), d.url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	all, err := unread(t.Context(), conn, file)
	require.NoError(t, err)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(raw), "catalog.videos_title 1\n")
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(index string) bool { return strings.HasPrefix(index, name+": ") })
	}
	require.False(t, has("catalog.videos_title"))
	require.True(t, has("catalog.videos_duration"))
	require.True(t, has("payments.webhook_logs_by_type"), "of a table in parts, by the name of the whole")
	require.False(t, has("catalog.videos_pkey"), "of a constraint")
	s.finish(d.name)
}
