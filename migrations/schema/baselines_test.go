package schema_test

import (
	"archive/zip"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/soak"
)

// The files that the baselines replaced, River's among them. Only these tests run them, to
// be removed with the release after the baselines'.
const replaced = "testdata/replaced.zip"

const lastReplaced, lastBaseline = 921, 1011

// migrator runs the files against the database, up to a version and down.
func migrator(t *testing.T, database string, files fs.FS) *goose.Provider {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	require.NoError(t, err)
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = db.Close() })
	p, err := goose.NewProvider(goose.DialectPostgres, db, files)
	require.NoError(t, err)
	return p
}

// migratedBefore is a database to which the replaced files up to a version have been applied.
func migratedBefore(t *testing.T, name string, to int64) string {
	t.Helper()
	files, err := zip.OpenReader(replaced)
	require.NoError(t, err)
	t.Cleanup(func() { _ = files.Close() })
	database := newDatabase(t, name)
	_, err = migrator(t, database, files).UpTo(t.Context(), to)
	require.NoError(t, err)
	return database
}

// appliedVersions are goose's versions, in the order in which it noted them.
func appliedVersions(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return column(t, conn, "SELECT version_id::text FROM goose_db_version ORDER BY id")
}

// data are the rows of every table, without their instants, and where the sequences stand.
func data(t *testing.T, conn *pgx.Conn) map[string][]string {
	t.Helper()
	all := map[string][]string{
		"mark": column(t, conn, "SELECT (mark = payments.database_mark())::text FROM payments.database_marks"),
		"sequences": column(t, conn, `
			SELECT format('%s.%s %s', schemaname, sequencename, last_value) FROM pg_sequences
			WHERE sequencename !~ '^goose' AND NOT schemaname || '.' || substring(sequencename from '(.*)_id_seq$') = ANY ($1)
			ORDER BY 1`, newerTables),
	}
	for _, table := range column(t, conn, `
		SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p')
			AND relnamespace::regnamespace::text !~ '^(pg_|information_schema)' AND relname <> 'goose_db_version'`) {
		all[table] = column(t, conn, `
			SELECT (to_jsonb(x) - (
				SELECT coalesce(array_agg(attname::text), '{}') FROM pg_attribute
				WHERE attrelid = $1::text::regclass
					AND (atttypid IN ('timestamptz'::regtype, 'timestamp'::regtype) OR attname = 'mark')
			))::text FROM `+table+` x ORDER BY 1`, table)
	}
	return all
}

// newerTables are those that a migration after the baselines made.
var newerTables = []string{
	"accounts.customer_notes", "accounts.last_writes", "accounts.parental_tries", "accounts.passkey_challenges",
	"accounts.passkeys", "accounts.recovery_codes", "accounts.sessions", "accounts.totp", "accounts.views",
	"catalog.import_rows", "catalog.imports", "catalog.plays", "finance.mrr_deltas", "finance.mrr_rollup",
	"finance.price_changes", "payments.dispute_transitions", "payments.reconcile_findings", "payments.reconcile_runs",
	"payments.refund_transitions", "platform.bulk_acts",
	"platform.bulk_rows", "settings.branding", "settings.branding_logo",
	"subscriptions.order_transitions", "tickets.order_transitions", "tickets.readmissions",
}

// olderData are the rows of the tables that the baselines made; the newer ones are there and empty, but for one whose
// migration makes its only row.
func olderData(t *testing.T, conn *pgx.Conn) map[string][]string {
	t.Helper()
	all := data(t, conn)
	for _, table := range newerTables {
		require.Contains(t, all, table)
		if table == "settings.branding" {
			require.Len(t, all[table], 1)
		} else {
			require.Empty(t, all[table], table)
		}
		delete(all, table)
	}
	return all
}

// TestBaselinesMakeWhatTheirFilesMadeLong: the schema and the rows, so that a database which has
// the one may be noted as having the other.
func TestBaselinesMakeWhatTheirFilesMadeLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	old, now := migratedBefore(t, "old", lastReplaced), newDatabase(t, "new")
	made, err := migrator(t, now, schema.FS).UpTo(t.Context(), lastBaseline)
	require.NoError(t, err)
	require.NotEmpty(t, made)
	rows := data(t, connect(t, now))
	require.Equal(t, data(t, connect(t, old)), rows)
	require.Equal(t, []string{"true"}, rows["mark"])
	require.Len(t, rows["accounts.users_type"], 1)
	require.Equal(t, slices.Sorted(slices.Values(dump(t, old))), slices.Sorted(slices.Values(dump(t, now))))
}

// TestADatabaseAtTheLastReplacedFileIsStampedLong: once, whoever else migrates, with what is in it.
func TestADatabaseAtTheLastReplacedFileIsStampedLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	database := migratedBefore(t, "old", lastReplaced)
	conn := connect(t, database)
	_, err := conn.Exec(t.Context(), "INSERT INTO tickets.customers VALUES (repeat('a', 24), 'Ana', 'ana@example.com')")
	require.NoError(t, err)
	rows := data(t, conn)
	behind, err := schema.Compare(t.Context(), database)
	require.NoError(t, err)
	require.ErrorContains(t, behind.Err(), "the first is 01000_platform_baseline.sql. Run: marquee migrate up")

	var all sync.WaitGroup
	var mu sync.Mutex
	var said []string
	var later int // migrations after the baselines
	for range 4 {
		all.Go(func() {
			n, err := schema.Up(context.WithoutCancel(t.Context()), database, func(sentence string) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, sentence)
			})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			later += n
		})
	}
	all.Wait()
	require.Equal(t, []string{
		"The database stood at migration 00921: it is as the baselines make it, and noted so.",
	}, said)
	require.Equal(t, rows, olderData(t, conn))
	standing, err := schema.Compare(t.Context(), database)
	require.NoError(t, err)
	require.Equal(t, schema.Standing{}, standing)
	fresh := newDatabase(t, "new")
	_, err = schema.Up(t.Context(), fresh)
	require.NoError(t, err)
	require.Equal(t, appliedVersions(t, connect(t, fresh)), appliedVersions(t, conn))

	back, err := migrator(t, database, schema.FS).DownTo(t.Context(), lastBaseline)
	require.NoError(t, err)
	require.Len(t, back, later)
	file, err := schema.Down(t.Context(), database)
	require.NoError(t, err)
	require.Equal(t, "01011_finance_baseline.sql", file)
	n, err := schema.Up(t.Context(), database)
	require.NoError(t, err)
	require.Equal(t, later+1, n)
	require.Equal(t, rows, olderData(t, conn))
}

// TestWhoeverWaitsToMigrateIsWaitedForByNoIndex: with a statement that waits for the lock, an index built concurrently by
// whoever has it would be a deadlock.
func TestWhoeverWaitsToMigrateIsWaitedForByNoIndex(t *testing.T) {
	t.Parallel()
	database := newDatabase(t, "waited")
	holder := connect(t, database)
	_, err := holder.Exec(t.Context(), "CREATE TABLE filled (x int)")
	require.NoError(t, err)
	_, err = holder.Exec(t.Context(), "SELECT pg_advisory_lock($1)", lock.DefaultLockID)
	require.NoError(t, err)
	migrated := make(chan error, 1)
	go func() {
		_, err := schema.Up(t.Context(), database)
		migrated <- err
	}()
	require.Eventually(t, func() bool {
		return len(column(t, holder, `
			SELECT query FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%advisory%'`)) == 1
	}, time.Minute, 10*time.Millisecond)
	_, err = holder.Exec(t.Context(), "CREATE INDEX CONCURRENTLY filled_x ON filled (x)")
	require.NoError(t, err)
	require.NoError(t, holder.Close(t.Context()))
	require.NoError(t, <-migrated)
}

// TestOtherStatesOfBeforeTheBaselinesAreRefused: with a sentence, and as they are.
func TestOtherStatesOfBeforeTheBaselinesAreRefused(t *testing.T) {
	t.Parallel()
	database := migratedBefore(t, "old", 31)
	conn := connect(t, database)
	refused := func(version int64) {
		t.Helper()
		before := appliedVersions(t, conn)
		n, err := schema.Up(t.Context(), database)
		require.Zero(t, n)
		var at *schema.ReplacedError
		require.ErrorAs(t, err, &at)
		require.Equal(t, version, at.Version)
		require.EqualError(t, err, fmt.Sprintf("the database stands at migration %05d, "+
			"and the files that lead on from there are gone: baselines took their place, "+
			"for databases that are empty or at 00921. "+
			"Bring it there with an older program, or begin afresh with an empty database", version))
		require.Equal(t, before, appliedVersions(t, conn))
		require.Len(t, column(t, conn, "SELECT tablename FROM pg_tables WHERE schemaname = 'accounts'"), 3)
	}
	refused(31)
	for _, version := range []int64{lastReplaced, 930} { // files between are missing; a file that never was
		const insert = "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)"
		_, err := conn.Exec(t.Context(), insert, version)
		require.NoError(t, err)
		refused(version)
	}
}
