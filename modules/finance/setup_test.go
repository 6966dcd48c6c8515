package finance_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/platform/clock"
	"marquee/platform/postgres"
)

// zone is the report time zone that new databases have.
func zone(t testing.TB) *time.Location {
	t.Helper()
	z, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	return z
}

func service(t testing.TB, db *pgxpool.Pool, c clock.Clock) *finance.Service {
	t.Helper()
	return finance.New(finance.Deps{Pool: db, Clock: c, Log: slog.New(slog.DiscardHandler), Zone: zone(t)})
}

// difference is a row of finance.rollup_differences.
type difference struct {
	Rollup, Key, Figure string
	Kept, Counted       int64
}

// requireNoDifference compares the rollups with the scan as of an instant.
func requireNoDifference(t testing.TB, db *pgxpool.Pool, now time.Time) {
	t.Helper()
	require.Empty(t, differences(t, db, now))
}

func differences(t testing.TB, db *pgxpool.Pool, now time.Time) []difference {
	t.Helper()
	var all []difference
	require.NoError(t, asOf(t, db, now, func(tx postgres.DB) error {
		rows, err := tx.Query(t.Context(), `SELECT rollup, key, figure, kept, counted FROM finance.rollup_differences()`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var d difference
			if err := rows.Scan(&d.Rollup, &d.Key, &d.Figure, &d.Kept, &d.Counted); err != nil {
				return err
			}
			all = append(all, d)
		}
		return rows.Err()
	}))
	return all
}
