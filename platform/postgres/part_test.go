package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// answers are three parts: one with parameters of its own, one without a row, one after it.
func answers() (postgres.Parts, func() (first, third string, second *string, done int)) {
	var a, c string
	var b *string
	done := 0
	parts := postgres.Parts{
		{SQL: "SELECT $1::text || $2::text", Args: []any{"a", "b"}, Targets: []any{&a}, Done: func() { done++ }},
		{SQL: "SELECT 'x' WHERE $1::bool", Args: []any{false}, Targets: []any{&b}, Done: func() { done++ }},
		{SQL: "SELECT $2::text || $1::text", Args: []any{"c", "d"}, Targets: []any{&c}, Done: func() { done++ }},
	}
	return parts, func() (string, string, *string, int) { return a, c, b, done }
}

func TestPartsShareAStatement(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	for name, ask := range map[string]func(postgres.Parts) error{
		"alone": func(p postgres.Parts) error { return p.Ask(t.Context(), db) },
		"in a batch": func(p postgres.Parts) error {
			var b pgx.Batch
			p.Queue(&b)
			require.Equal(t, 1, b.Len())
			return db.SendBatch(t.Context(), &b).Close()
		},
	} {
		parts, got := answers()
		require.NoError(t, ask(parts), name)
		first, third, second, done := got()
		require.Equal(t, "ab", first, name)
		require.Equal(t, "dc", third, name)
		require.Nil(t, second, name)
		require.Equal(t, 3, done, name)
	}
}

func TestPartsReportTheDatabasesError(t *testing.T) {
	t.Parallel()
	parts, got := answers()
	parts[2].SQL = "SELECT 1/0"
	parts[2].Args = nil
	require.Error(t, parts.Ask(t.Context(), pgtest.DB(t)))
	_, _, _, done := got()
	require.Zero(t, done)
}
