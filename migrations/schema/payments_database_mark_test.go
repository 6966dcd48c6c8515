package schema_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestTheMarkOfADatabaseInUse: an installation that never noted itself is noted by the
// migration; one that was loaded from a dump counts as restored; a mark that stands stays.
func TestTheMarkOfADatabaseInUse(t *testing.T) {
	t.Parallel()
	const copied = `CREATE TEMP TABLE g AS TABLE goose_db_version; DELETE FROM goose_db_version;
		INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) OVERRIDING SYSTEM VALUE SELECT id, version_id, is_applied, tstamp FROM g`
	for name, c := range map[string]struct{ before, mark string }{
		"in use":   {"DELETE FROM payments.database_marks", "own"},
		"loaded":   {"DELETE FROM payments.database_marks; " + copied, "restored"},
		"noted":    {copied, "own"},
		"restored": {"UPDATE payments.database_marks SET mark = 'of the backup'", "of the backup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, url := t.Context(), pgtest.URL(t)
			downTo(t, url, "00900_payments_database_mark.sql")
			db, err := pgx.Connect(ctx, url)
			require.NoError(t, err)
			defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
			_, err = db.Exec(ctx, c.before)
			require.NoError(t, err)
			_, err = schema.Up(ctx, url)
			require.NoError(t, err)
			var mark string
			require.NoError(t, db.QueryRow(ctx, "SELECT CASE WHEN mark = payments.database_mark() THEN 'own' ELSE mark END FROM payments.database_marks").Scan(&mark))
			require.Equal(t, c.mark, mark)
		})
	}
}
