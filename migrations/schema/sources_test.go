package schema_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/golden"
	"marquee/testutil/pgtest"
)

// ours are the views and functions of the modules, with their schemas.
const ours = `WITH view AS (
		SELECT c.oid, n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('v', 'm') AND n.nspname !~ '^(pg_|information_schema|public|jobs)'
	), function AS (
		SELECT p.oid, n.nspname AS schema, p.proname AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname !~ '^(pg_|information_schema|public|jobs)'
	), col AS (
		SELECT v.oid, a.attnum, a.attname AS name FROM view v JOIN pg_attribute a ON a.attrelid = v.oid AND a.attnum > 0
	) `

// definitions are the views and functions of a database by the files of their sources: their text,
// and what is said of them and of their columns.
func definitions(t *testing.T, tx pgx.Tx) map[string]string {
	t.Helper()
	rows, err := tx.Query(t.Context(), ours+`
		SELECT format('%s/views/%s.sql', replace(schema, '_internal', ''), name), concat_ws(E'\n', schema, pg_get_viewdef(oid),
			obj_description(oid, 'pg_class'), (
				SELECT string_agg(concat(c.name, ': ', col_description(c.oid, c.attnum)), E'\n' ORDER BY attnum)
				FROM col c WHERE c.oid = v.oid))
		FROM view v
		UNION ALL
		SELECT format('%s/functions/%s.sql', schema, name),
			string_agg(concat_ws(E'\n', pg_get_functiondef(oid), obj_description(oid, 'pg_proc')), E'\n' ORDER BY oid)
		FROM function GROUP BY schema, name`)
	require.NoError(t, err)
	all := map[string]string{}
	var file, text string
	_, err = pgx.ForEachRow(rows, []any{&file, &text}, func() error {
		all[file] = text
		return nil
	})
	require.NoError(t, err)
	return all
}

// TestTheDatabaseHoldsTheSources: each view and each function has its text in sql/<module>/,
// and a migrated database has it to the letter.
func TestTheDatabaseHoldsTheSources(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	before := definitions(t, tx)
	require.NotEmpty(t, before)
	for _, silence := range column(t, tx, ours+`
		SELECT format('COMMENT ON VIEW %s IS NULL', oid::regclass) FROM view
		UNION ALL SELECT format('COMMENT ON COLUMN %s.%I IS NULL', oid::regclass, name) FROM col
		UNION ALL SELECT format('COMMENT ON FUNCTION %s IS NULL', oid::regprocedure) FROM function`) {
		_, err := tx.Exec(t.Context(), silence) // the source has to say it again
		require.NoError(t, err, silence)
	}
	require.NotEqual(t, before, definitions(t, tx))

	sql := os.DirFS("../../sql")
	for _, form := range []string{"*/views/*.sql", "*/functions/*.sql"} {
		files, err := fs.Glob(sql, form)
		require.NoError(t, err)
		for _, file := range files {
			require.Contains(t, before, file, "a source of which no migration has made anything")
			raw, err := fs.ReadFile(sql, file)
			require.NoError(t, err)
			name := `[a-z_]+\.` + strings.TrimSuffix(path.Base(file), ".sql")
			require.Regexp(t, `(?m)^CREATE OR REPLACE (VIEW|FUNCTION) `+name+`\b`, string(raw), file)
			require.Regexp(t, `(?m)^COMMENT ON (VIEW|FUNCTION) `, string(raw), "%s: what does it answer?", file)
			_, err = tx.Exec(t.Context(), string(raw))
			require.NoError(t, err, file)
		}
		for file := range before {
			if fits, _ := path.Match(form, file); fits {
				require.Contains(t, files, file, "a view or function without a source")
			}
		}
	}
	for file, text := range definitions(t, tx) {
		require.Equal(t, before[file], text, "sql/%s is not what the migrations make: one was changed alone", file)
	}
}

// TestSchemaFile: sql/schema.sql is what the migrations make, to be read; UPDATE_GOLDEN=1, as
// make generate sets it, writes it anew. The months of the webhook log come and go.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	const file, written = "../../sql/schema.sql", 15 // the version by which it is written
	database := pgtest.URL(t)
	if served := major(t, database); served != written {
		t.Skipf("sql/schema.sql is of Postgres %d, the tests' server of %d: it was not compared", written, served)
	}
	entries := dump(t, database, "--no-toast-compression", "--exclude-table=payments.webhook_logs_2*")
	top := fmt.Sprintf("-- What the migrations make, by pg_dump %d, to be read. make generate writes it.\n\n", written)
	golden.Equal(t, file, top+strings.Join(entries, "\n\n")+"\n")
}
