package finance_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/finance/financetest"
	"marquee/testutil/pgtest"
)

// as runs f in a transaction of the role.
func as(t *testing.T, db *pgxpool.Pool, role string, f func(tx pgx.Tx)) {
	t.Helper()
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "SET LOCAL ROLE "+pgx.Identifier{role}.Sanitize())
	require.NoError(t, err)
	f(tx)
}

var queryBlock = regexp.MustCompile("(?s)```sql\n(.*?)```")

// TestAnalystsQuestions keeps docs/analysts.md true: the role answers each of its questions.
func TestAnalystsQuestions(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	financetest.Golden(t, db)
	page, err := os.ReadFile("../../docs/analysts.md")
	require.NoError(t, err)
	queries := queryBlock.FindAllStringSubmatch(string(page), -1)
	require.Len(t, queries, 13)
	for _, q := range queries {
		as(t, db, "marquee_analyst", func(tx pgx.Tx) {
			rows, err := tx.Query(t.Context(), q[1])
			require.NoError(t, err, q[1])
			found, err := pgx.CollectRows(rows, pgx.RowToMap)
			require.NoError(t, err, q[1])
			require.NotEmpty(t, found, q[1])
		})
	}
}

// internal views are the machinery of others, and lie in a schema of their own.
var internal = regexp.MustCompile(`_(scan|unfolded|parts)$`)

// TestAnalystsPageNamesJoinColumns: the page tells which columns lead from view to view, and each
// role reads every view that it is granted, whatever lies behind it.
func TestAnalystsPageNamesJoinColumns(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	page, err := os.ReadFile("../../docs/analysts.md")
	require.NoError(t, err)
	rows, err := db.Query(t.Context(), `SELECT a.attname, array_agg(c.relname::text ORDER BY c.relname)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = 'finance'::regnamespace AND c.relkind = 'v' AND a.attname ~ '_id$' AND a.attname <> 'tax_id'
		GROUP BY a.attname HAVING count(*) > 1 ORDER BY a.attname`)
	require.NoError(t, err)
	var column string
	var views []string
	_, err = pgx.ForEachRow(rows, []any{&column, &views}, func() error {
		line := "| `" + column + "` | `" + strings.Join(views, "`, `") + "` |"
		if !strings.Contains(string(page), line+"\n") {
			t.Errorf("docs/analysts.md has no line\n%s", line)
		}
		return nil
	})
	require.NoError(t, err)
	for _, role := range []string{"marquee_analyst", "marquee_analyst_personal"} {
		rows, err := db.Query(t.Context(),
			`SELECT relname::text FROM pg_class WHERE relnamespace = 'finance'::regnamespace AND relkind = 'v' AND has_table_privilege($1, oid, 'SELECT')`, role)
		require.NoError(t, err)
		granted, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Greater(t, len(granted), 30)
		as(t, db, role, func(tx pgx.Tx) {
			for _, view := range granted {
				_, err := tx.Exec(t.Context(), "SELECT * FROM finance."+view)
				require.NoError(t, err, "%s reads %s", role, view)
			}
		})
	}
}

// TestAnalystsReadNothingElse walks every table, view and sequence of the database: each role
// reads the views meant for it, and no role changes anything.
func TestAnalystsReadNothingElse(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	rows, err := db.Query(t.Context(), `SELECT n.nspname, c.relname, c.relkind::text,
			has_table_privilege('marquee_analyst', c.oid, 'SELECT') AND has_schema_privilege('marquee_analyst', n.oid, 'USAGE'),
			has_table_privilege('marquee_analyst_personal', c.oid, 'SELECT') AND has_schema_privilege('marquee_analyst_personal', n.oid, 'USAGE'),
			has_table_privilege('marquee_analyst_personal', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') OR has_table_privilege('marquee_analyst', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'`)
	require.NoError(t, err)
	var schema, name, kind string
	var plain, personal, writes bool
	views := 0
	_, err = pgx.ForEachRow(rows, []any{&schema, &name, &kind, &plain, &personal, &writes}, func() error {
		require.False(t, writes, "%s.%s may be written", schema, name)
		if schema != "finance" || kind != "v" {
			require.False(t, plain || personal, "%s.%s may be read", schema, name)
			return nil
		}
		require.NotRegexp(t, internal, name, "it belongs into schema finance_internal")
		views++
		require.True(t, personal, "%s", name)
		if strings.HasSuffix(name, "_personal") {
			require.False(t, plain, "%s.%s holds personal data", schema, name)
			require.True(t, personal, "%s.%s", schema, name)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, views, 30)
	as(t, db, "marquee_analyst", func(tx pgx.Tx) {
		_, err := tx.Exec(t.Context(), "SELECT password_hash FROM accounts.users")
		require.ErrorContains(t, err, "permission denied")
	})
	for _, role := range []string{"marquee_analyst", "marquee_analyst_personal"} {
		as(t, db, role, func(tx pgx.Tx) {
			_, err := tx.Exec(t.Context(), "SELECT * FROM finance_internal.daily_scan")
			require.ErrorContains(t, err, "permission denied for schema finance_internal")
		})
	}
}
