package schema_test

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

func TestAProgramKnowsWhetherItRunsOnADatabase(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	stands := func() schema.Standing {
		t.Helper()
		s, err := schema.Compare(ctx, url)
		require.NoError(t, err)
		return s
	}
	require.Equal(t, schema.Standing{}, stands())
	all, err := schema.List(ctx, url)
	require.NoError(t, err)

	db, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	exec := func(sql string) {
		t.Helper()
		_, err := db.Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99998, true), (99999, true)")
	require.Equal(t, []int64{99998, 99999}, sorted(stands().Unknown))
	require.NoError(t, stands().Err(), "newer, and nothing says that older programs do not run")
	exec("INSERT INTO platform.breaking_migrations VALUES (99998, 1)")
	require.NoError(t, stands().Err(), "it breaks programs that are older still")
	exec("INSERT INTO platform.breaking_migrations VALUES (99999, 99998)")
	require.ErrorContains(t, stands().Err(), "migration 99999")
	require.ErrorContains(t, stands().Err(), "knows 99998")

	exec("DELETE FROM goose_db_version WHERE version_id IN (99998, 99999)")
	file, err := schema.Down(ctx, url)
	require.NoError(t, err)
	require.Equal(t, []string{file}, stands().Missing)
	require.ErrorContains(t, stands().Err(), "marquee migrate up")
	exec("DROP TABLE goose_db_version")
	require.Len(t, stands().Missing, len(all), "a database that nobody has migrated")
}

func sorted(list []int64) []int64 {
	if len(list) == 2 && list[0] > list[1] {
		list[0], list[1] = list[1], list[0]
	}
	return list
}

// A line `-- breaks: <version>` alone is not read by programs that do not have the
// file, so the migration notes it in the database too, whoever runs it.
func TestMarksOfBreakingMigrationsAreNotedInTheDatabase(t *testing.T) {
	t.Parallel()
	mark := regexp.MustCompile(`(?m)^-- breaks:(.*)$`)
	files, err := fs.Glob(schema.FS, "*.sql")
	require.NoError(t, err)
	for _, file := range files {
		raw, err := fs.ReadFile(schema.FS, file)
		require.NoError(t, err)
		text, version := string(raw), strings.TrimLeft(file[:5], "0")
		m := mark.FindStringSubmatch(text)
		if m == nil {
			require.NotContains(t, text, "INSERT INTO platform.breaking_migrations",
				"%s has no line `-- breaks: <version>`", file)
			continue
		}
		require.Regexp(t, `^ \d{5}$`, m[1], "%s: the line is `-- breaks: NNNNN`", file)
		up, down, _ := strings.Cut(text, "-- +goose Down")
		needs := strings.TrimLeft(strings.TrimSpace(m[1]), "0")
		require.Contains(t, up,
			fmt.Sprintf("INSERT INTO platform.breaking_migrations (version, needs) VALUES (%s, %s);", version, needs),
			file)
		require.Contains(t, down, fmt.Sprintf("DELETE FROM platform.breaking_migrations WHERE version = %s;", version),
			file)
	}
}
