package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// takeSpare is a database as a test gets it.
func takeSpare(t *testing.T, s *server) *spare {
	t.Helper()
	sp, err := s.spareDatabase(t)
	require.NoError(t, err)
	return sp
}

func (sp *spare) exec(t *testing.T, sql string) {
	t.Helper()
	_, err := sp.pool.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
}

// rows are those of every table that has some, as text.
func (sp *spare) rows(t *testing.T) map[string]string {
	t.Helper()
	tables, err := sp.pool.Query(t.Context(), tablesSQL)
	require.NoError(t, err)
	sized, err := numbers(tables)
	require.NoError(t, err)
	all := map[string]string{}
	for table := range sized {
		var rows *string
		require.NoError(t, sp.pool.QueryRow(t.Context(),
			"SELECT string_agg(r::text, E'\n' ORDER BY r::text) FROM "+table+" AS r").Scan(&rows))
		if rows != nil {
			all[table] = *rows
		}
	}
	return all
}

// writtenByATest is a row of its own, one of the migrations that is changed, and one that is gone.
const writtenByATest = `
	INSERT INTO catalog.categories (name, slug) VALUES ('Drama', 'drama');
	UPDATE settings.platform SET client_version = '9.9.9';
	DELETE FROM payments.gateway_state WHERE gateway = 'gwa'`

func TestTheNextTestFindsWhatTheMigrationsLeft(t *testing.T) {
	t.Parallel()
	s := process(t)
	sp := takeSpare(t, s)
	before := sp.rows(t)
	for range 3 { // what was put back is put back again
		sp.exec(t, writtenByATest)
		require.NotEqual(t, before, sp.rows(t))
		s.giveBack(t, sp)
		require.Same(t, sp, takeSpare(t, s))
		require.Equal(t, before, sp.rows(t))
	}
}

func TestTheNextTestFindsItsSessionsAsTheyBegan(t *testing.T) {
	t.Parallel()
	s := process(t)
	sp := takeSpare(t, s)
	sp.exec(t, "SET timezone = 'Asia/Tokyo'; LISTEN news; SELECT pg_advisory_lock(7)")
	s.giveBack(t, sp)
	require.Same(t, sp, takeSpare(t, s))
	for _, conn := range sp.pool.AcquireAllIdle(t.Context()) {
		var zone string
		var listens, locks int
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT current_setting('timezone'), (SELECT count(*) FROM pg_listening_channels()),
			(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())`).Scan(&zone, &listens, &locks))
		require.Equal(t, "UTC", zone)
		require.Zero(t, listens+locks)
		conn.Release()
	}
}

func TestADatabaseThatIsNotAsItWasIsDropped(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]string{
		"a table":           "CREATE TABLE mine ()",
		"no trigger":        "DROP TRIGGER users_keep_logins ON accounts.users",
		"a trigger stopped": "ALTER TABLE accounts.users DISABLE TRIGGER ALL",
		"no constraint":     "ALTER TABLE catalog.categories DROP CONSTRAINT categories_slug_unique",
		"no column":         "ALTER TABLE catalog.categories DROP COLUMN slug CASCADE",
		"a default":         "ALTER TABLE catalog.categories ALTER slug SET DEFAULT 'x'",
		"a function":        "CREATE OR REPLACE FUNCTION payments.database_mark() RETURNS text LANGUAGE sql AS $$SELECT 'x'$$",
		"statistics":        "INSERT INTO catalog.categories (name, slug) VALUES ('Drama', 'drama'); ANALYZE catalog.categories",
		"a setting":         "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 64', current_database()); END$$",
		"much":              "INSERT INTO catalog.categories (name, slug) SELECT repeat('x', 90) || i, i FROM generate_series(1, 30000) AS i",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := process(t)
			sp := takeSpare(t, s)
			sp.exec(t, changed)
			s.giveBack(t, sp)
			require.NotEqual(t, sp.name, takeSpare(t, s).name)
		})
	}
}

func TestADatabaseWithSessionsOfOthersIsDropped(t *testing.T) {
	t.Parallel()
	s := process(t)
	sp := takeSpare(t, s)
	other, err := pgx.Connect(t.Context(), sp.url)
	require.NoError(t, err)
	defer func() { _ = other.Close(t.Context()) }()
	s.giveBack(t, sp)
	require.NotEqual(t, sp.name, takeSpare(t, s).name)
}
