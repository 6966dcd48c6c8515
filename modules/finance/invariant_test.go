package finance_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/platform/clock"
	"marquee/sql/invariants"
	"marquee/testutil/pgtest"
)

// The gauge shows the last check, not the present, and in every process.
func TestInvariantsAreCheckedByJobAndShown(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	clk := clock.NewFake(time.Now())
	checking, showing := finance.NewInvariantMonitor(db, clk, slog.New(slog.DiscardHandler)),
		finance.NewInvariantMonitor(db, clk, slog.New(slog.DiscardHandler))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(showing)
	gauges := func() map[string]float64 {
		t.Helper()
		families, err := registry.Gather()
		require.NoError(t, err)
		all := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, label := range m.GetLabel() {
					name = label.GetValue()
				}
				all[name] = m.GetGauge().GetValue()
			}
		}
		return all
	}
	require.Empty(t, gauges(), "before the first check nothing is told")
	require.NoError(t, checking.Check(t.Context()))
	require.Len(t, gauges(), len(invariants.All())+1)
	require.InDelta(t, clk.Now().Unix(), gauges()["marquee_invariants_checked_timestamp_seconds"], 1)
	_, err := db.Exec(t.Context(),
		`INSERT INTO accounts.users (id, user_type, username, email, full_name, created_at, updated_at, current_subscription_id)
		VALUES ('0000000000000000000000a1', 'customer', 'ana', 'ana@example.com', 'Ana', now(), now(), '0000000000000000000000b1')`)
	require.NoError(t, err)
	require.Zero(t, gauges()["current_subscription_live"])
	clk.Advance(15 * time.Minute)
	require.NoError(t, checking.Check(t.Context()))
	require.InDelta(t, 1, gauges()["current_subscription_live"], 0)
	var offender string
	require.NoError(t,
		db.QueryRow(t.Context(),
			`SELECT offenders -> 0 ->> 'id' FROM finance.invariant_results WHERE name = 'current_subscription_live'`).
			Scan(&offender))
	require.Equal(t, "0000000000000000000000a1", offender)
}

// An invariant of an older version is shown no longer.
func TestResultsOfUnknownInvariantsGo(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	_, err := db.Exec(t.Context(), `INSERT INTO finance.invariant_results VALUES ('gone', 3, '[]', '2026-01-01')`)
	require.NoError(t, err)
	require.NoError(t, finance.NewInvariantMonitor(db, clock.System{}, slog.New(slog.DiscardHandler)).
		Check(t.Context()))
	var n int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM finance.invariant_results WHERE name = 'gone'`).
		Scan(&n))
	require.Zero(t, n)
}
