package finance_test

import (
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// TestEveryViewSaysWhatItIs: analysts find a comment on each view and on each of
// its columns.
func TestEveryViewSaysWhatItIs(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	rows, err := db.Query(t.Context(), `SELECT c.relname || coalesce('.' || a.attname, '')
		FROM pg_class c
		CROSS JOIN LATERAL (SELECT NULL::name AS attname, 0 AS attnum UNION ALL SELECT attname, attnum FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) a
		WHERE c.relnamespace IN ('finance'::regnamespace, 'finance_internal'::regnamespace) AND c.relkind = 'v'
			AND coalesce(length(CASE a.attnum WHEN 0 THEN obj_description(c.oid, 'pg_class') ELSE col_description(c.oid, a.attnum) END), 0) < 4`)
	require.NoError(t, err)
	silent, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Empty(t, silent)
}

// secrets are columns that hold credentials, codes, tokens, or what is left of a
// payment's means; guarded ones may be read in views for the second role alone.
var (
	secrets = regexp.MustCompile(`(^|_|\.)(password_hash|hash|token|tokens|secret|mac|sealed|payload|result|signature|headers|qr|card|cvv|image|nonce|cipher)($|_)|key_|_key$`)
	guarded = regexp.MustCompile(`^(accounts\.users\.(username|email|full_name|tax_id|phone|address|promo_code_used|gwb_customer_id)|accounts\.logins\.login|promos\.(promo_codes|redemptions)\.code|payments\.refunds\.(reason|admin|failure)|promos\.promo_codes\.target_customer_ids)$`)
)

// TestViewsAreBuiltOnNoSecret: no view reads a column that holds a secret, under
// whatever name it might show it, and what tells of people is read by the views of
// the second role alone.
func TestViewsAreBuiltOnNoSecret(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	rows, err := db.Query(t.Context(), `SELECT view_name, table_schema || '.' || table_name || '.' || column_name
		FROM information_schema.view_column_usage WHERE view_schema IN ('finance', 'finance_internal') AND table_schema NOT IN ('finance', 'finance_internal')`)
	require.NoError(t, err)
	var view, column string
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&view, &column}, func() error {
		n++
		require.NotRegexp(t, secrets, column, view)
		if guarded.MatchString(column) {
			require.Contains(t, view, "_personal", column)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, n, 150)
	for _, column := range []string{
		"accounts.users.password_hash", "accounts.codes.code_mac", "files.archive_tokens.token_hash",
		"payments.webhook_logs.payload", "tickets.orders.pix_payload",
	} {
		require.Regexp(t, secrets, column, "the expression knows secrets")
	}
}

// TestAnalystsCallNothing: no function lends its owner's rights to them, and those
// that write are of no use without such.
func TestAnalystsCallNothing(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	var lent int
	require.NoError(t,
		db.QueryRow(t.Context(), `SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE p.prosecdef AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'`).Scan(&lent))
	require.Zero(t, lent)
	for _, role := range []string{"marquee_analyst", "marquee_analyst_personal"} {
		for _, call := range []string{
			"SELECT finance.rebuild()", "SELECT finance.fold(1)", "SELECT finance.use_report_tz('UTC')",
			"SELECT finance.grant_analysts()", "UPDATE finance.settings SET report_tz = 'UTC'",
			"CREATE TABLE finance.mine ()", "CREATE VIEW finance.mine AS SELECT * FROM accounts.users",
			"COPY accounts.users TO PROGRAM 'cat'", "SELECT pg_read_file('postgresql.conf')",
		} {
			as(t, db, role, func(tx pgx.Tx) {
				_, err := tx.Exec(t.Context(), call)
				require.ErrorContains(t, err, "SQLSTATE 42501", "%s: %s", role, call) // insufficient privilege
			})
		}
	}
}
