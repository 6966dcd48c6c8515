package scale_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/scale"
	"marquee/modules/finance"
	"marquee/modules/subscriptions"
	"marquee/platform/clock"
	"marquee/testutil/pgtest"
)

var now = time.Date(2026, 10, 31, 12, 0, 0, 0, time.UTC)

// TestScaleKeepsWhatMustHold: what is made is sound, has the size that was asked
// for, holds every kind of history, and its rollups equal its ledgers.
func TestScaleKeepsWhatMustHold(t *testing.T) {
	t.Parallel()
	const size = 400
	db := fill(t, size)

	// Its cards have no recurrence and its automatic PIX no authorization, so that no sweep asks a gateway for as
	// many as there are.
	pgtest.RequireInvariants(t, db, now, "active_cards_are_charged", "active_debits_are_authorized")
	var differences, kinds int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM finance.rollup_differences()`).Scan(&differences))
	require.Zero(t, differences)
	for table, least := range map[string]int{
		"subscriptions.subscriptions": size, "payments.payments WHERE purpose = 'subscription'": 3 * size,
		"payments.payments WHERE purpose = 'order'": size / 20, "payments.failed_attempts": size / 20,
		"payments.refunds WHERE purpose = 'subscription'": size / 100, "payments.refunds WHERE purpose = 'order'": 1,
		"payments.disputes": 3, "subscriptions.transitions": 2 * size, "tickets.orders": size / 10,
		"tickets.tickets": size / 10, "payments.webhook_logs": size / 5, "accounts.users": size * 4 / 5,
		"accounts.logins": size * 8 / 5,
	} {
		var n int
		require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		require.GreaterOrEqual(t, n, least, table)
		if least == size || least == 3*size {
			require.Equal(t, least, n, table)
		}
	}
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(DISTINCT status) FROM subscriptions.subscriptions`).
		Scan(&kinds))
	require.Equal(t, 5, kinds)

	churn, err := service(t, db).Churn(t.Context(), 24)
	require.NoError(t, err)
	for name, n := range map[string]int64{
		"payment_failure": churn.ByReason.PaymentFailure, "customer_cancelled": churn.ByReason.CustomerCancelled,
		"admin_cancelled": churn.ByReason.AdminCancelled, "chargeback": churn.ByReason.Chargeback,
		"expired": churn.ByReason.Expired,
	} {
		require.Positive(t, n, "no exit by %s", name)
	}
	requireTriggersOn(t, db)
}

// A database with customers of its own is left as it is.
func TestScaleRefusesRealCustomers(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	require.ErrorContains(t, scale.Fill(t.Context(), db, scale.Options{
		Subscriptions: scale.Least, Now: now,
	}), "sample plans")
	require.NoError(t, subscriptions.SeedPlans(t.Context(), db, now))
	require.ErrorContains(t, scale.Fill(t.Context(), db, scale.Options{
		Subscriptions: scale.Least - 1, Now: now,
	}), "at least 100")
	_, err := db.Exec(t.Context(),
		`INSERT INTO accounts.users (user_type, username, email, created_at, updated_at) VALUES ('customer', 'ana', 'ana@example.com', now(), now())`)
	require.NoError(t, err)
	require.ErrorContains(t, scale.Fill(t.Context(), db, scale.Options{
		Subscriptions: scale.Least, Now: now,
	}), "1 customers of its own")
	requireTriggersOn(t, db)
	require.NoError(t, scale.Fill(t.Context(), db, scale.Options{
		Subscriptions: scale.Least, Now: now, Samples: []string{"ana"},
	}))
}

func fill(t testing.TB, size int) *pgxpool.Pool {
	t.Helper()
	db := pgtest.DB(t)
	require.NoError(t, subscriptions.SeedPlans(t.Context(), db, now))
	require.NoError(t, scale.Fill(t.Context(), db, scale.Options{
		Subscriptions: size, Now: now,
		Progress: func(part string, rows int64, took time.Duration) { t.Logf("%8d %v %s", rows, took, part) },
	}))
	return db
}

func service(t testing.TB, db *pgxpool.Pool) *finance.Service {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	return finance.New(finance.Deps{
		Pool: db, Clock: clock.NewFake(now), Log: slog.New(slog.DiscardHandler), Zone: zone,
	})
}

func requireTriggersOn(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	rows, err := db.Query(t.Context(),
		`SELECT tgrelid::regclass || ' ' || tgname FROM pg_trigger WHERE tgenabled <> 'O'`)
	require.NoError(t, err)
	off, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Empty(t, off)
}
