package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

func TestPoolSpeaksUTCAndKnowsIDs(t *testing.T) {
	t.Parallel()
	pool, err := postgres.NewPool(t.Context(), pgtest.URL(t), postgres.Options{MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	var at time.Time
	var id objectid.ID
	var ids []objectid.ID
	var zone string
	err = pool.QueryRow(t.Context(),
		`SELECT timestamptz '2026-11-20 14:00:00-03', platform.new_object_id(), ARRAY[platform.new_object_id()], current_setting('timezone')`).
		Scan(&at, &id, &ids, &zone)
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC), at)
	require.True(t, objectid.Valid(id.String()))
	require.Len(t, ids, 1)
	require.Equal(t, "UTC", zone)
}

func TestConstraintNamesAndTimeouts(t *testing.T) {
	t.Parallel()
	pool, err := postgres.NewPool(t.Context(), pgtest.URL(t), postgres.Options{
		MaxConns: 1, StatementTimeout: time.Minute,
	})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), `SELECT 'x'::platform.object_id`)
	require.Equal(t, "object_id_form", postgres.Constraint(err))
	require.Empty(t, postgres.Constraint(errors.New("other")))
	var limit string
	require.NoError(t, pool.QueryRow(t.Context(), `SHOW statement_timeout`).Scan(&limit))
	require.Equal(t, "1min", limit)
	_, err = pool.Exec(t.Context(), `SET statement_timeout = '50ms'`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `SELECT pg_sleep(60)`)
	require.True(t, postgres.IsTimeout(err))
}

func TestInTxRollsBackOnError(t *testing.T) {
	t.Parallel()
	pool := pgtest.DB(t)
	sentinel := errors.New("stop")
	err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `CREATE TABLE platform.probe (id int)`)
		require.NoError(t, err)
		return sentinel
	})
	require.ErrorIs(t, err, sentinel)
	var there bool
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT to_regclass('platform.probe') IS NOT NULL`).Scan(&there))
	require.False(t, there)
}

func TestBadURLDoesNotShowThePassword(t *testing.T) {
	t.Parallel()
	_, err := postgres.NewPool(t.Context(), "postgres://user:hunter2@:::bad", postgres.Options{})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}
