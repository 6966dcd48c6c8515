package finance_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"marquee/migrations/schema"
	"marquee/modules/finance"
	"marquee/modules/finance/financetest"
	"marquee/modules/finance/reports"
	"marquee/platform/clock"
	"marquee/platform/replica"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

const payment = `INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
	VALUES ('gwa', $1, 'subscription', platform.new_object_id(), platform.new_object_id(), $2, 'pix', 'RECEIVED', $3, $3, $3)`

// TestFiguresWhileOthersWriteSoak: with writers of every ledger at work and two
// who fold without a pause, each reader sees rollups that equal the ledgers of its
// instant.
func TestFiguresWhileOthersWriteSoak(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	financetest.Golden(t, db)
	s := service(t, db, clock.NewFake(financetest.Now))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var folders, writers errgroup.Group
	var folded atomic.Int64
	for range 2 {
		folders.Go(func() error {
			for ctx.Err() == nil {
				moved, err := s.Fold(ctx)
				folded.Add(moved)
				if err != nil && ctx.Err() == nil {
					return err
				}
			}
			return nil
		})
	}
	rounds := soak.Rounds(40, 2000)
	for n := range 2 {
		writers.Go(func() error { return write(ctx, db, n, rounds) })
	}
	written := make(chan error, 1)
	go func() { written <- writers.Wait() }()
	for done := false; !done; {
		select {
		case err := <-written:
			require.NoError(t, err)
			done = true
		default:
		}
		requireNoDifference(t, db, financetest.Now)
	}
	require.Eventually(t, func() bool { return folded.Load() > 0 }, time.Minute, time.Millisecond, "nothing is folded")
	stop()
	require.NoError(t, folders.Wait())
	_, err := s.Fold(t.Context())
	require.NoError(t, err)
	requireNoDifference(t, db, financetest.Now)
}

// write changes each ledger in turn, at times in one transaction that stays open
// a while and then fails.
func write(ctx context.Context, db *pgxpool.Pool, writer, rounds int) error {
	r := rand.New(rand.NewPCG(uint64(writer), 1)) //nolint:gosec // a test's dice
	for n := range rounds {
		at := financetest.Now.Add(-time.Duration(r.IntN(2000)) * time.Hour)
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, payment, fmt.Sprintf("pay_%d_%d", writer, n), r.IntN(5000), at); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx,
				`INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
				VALUES ('gwb', $1, 1, 'subscription', platform.new_object_id(), 100, $2, $2)`,
				fmt.Sprintf("in_%d_%d", writer, n), at); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx,
				`UPDATE subscriptions.subscriptions SET payment_failures = 1 - least(payment_failures, 1) WHERE id = $1`,
				financetest.ID(fmt.Sprintf("S%02d", 1+writer*20+r.IntN(20)))); err != nil {
				return err
			}
			if n%5 == 4 {
				return pgx.ErrTxCommitRollback
			}
			return nil
		})
		if err != nil && n%5 != 4 {
			return err
		}
	}
	return nil
}

// TestAFoldInTwoStepsLosesMoney is the same with the guard removed: whoever adds
// the deltas up and takes them away in two statements loses what came between, and
// the comparison finds it.
func TestAFoldInTwoStepsLosesMoney(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	for n, guarded := range []bool{true, false} {
		_, err := db.Exec(t.Context(), payment, fmt.Sprintf("pay_before_%d", n), 700, financetest.Now)
		require.NoError(t, err)
		fold := []string{"SELECT finance.fold(1000)"}
		if !guarded {
			fold = []string{
				`INSERT INTO finance.daily_rollup AS r (day, gross_gwa_cents, payments)
				SELECT (d.at AT TIME ZONE z.report_tz)::date, sum(d.gross_gwa_cents), sum(d.payments) FROM finance.daily_deltas d CROSS JOIN finance.settings z GROUP BY 1
				ON CONFLICT (day) DO UPDATE SET gross_gwa_cents = r.gross_gwa_cents + excluded.gross_gwa_cents, payments = r.payments + excluded.payments`,
				"DELETE FROM finance.daily_deltas",
			}
		}
		require.NoError(t, pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
			for step, sql := range fold {
				if step > 0 || guarded { // another transaction commits in the midst of it
					if _, err := db.Exec(t.Context(), payment, fmt.Sprintf("pay_between_%d", n), 55,
						financetest.Now); err != nil {
						return err
					}
				}
				if _, err := tx.Exec(t.Context(), sql); err != nil {
					return err
				}
			}
			return nil
		}))
		found := differences(t, db, financetest.Now)
		if guarded {
			require.Empty(t, found)
			continue
		}
		require.Equal(t, []difference{
			{"daily", "2026-08-20", "gross_gwa_cents", 2*755 - 55, 2 * 755}, {"daily", "2026-08-20", "payments", 3, 4},
		}, found)
	}
}

// TestCheckFindsWhatNoTriggerSaw: rows that were loaded with the triggers off make
// a difference, which raises the metric; counting anew heals it.
func TestCheckFindsWhatNoTriggerSaw(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	financetest.Golden(t, db)
	s := service(t, db, clock.NewFake(financetest.Now))
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.Metrics()...)
	gauges := func() string {
		recorder := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(recorder,
			httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		text, err := io.ReadAll(recorder.Body)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if value, found := strings.CutPrefix(line, "marquee_finance_rollup_differences "); found {
				return strings.TrimSpace(value)
			}
		}
		return "none"
	}
	check := func(want int64) {
		t.Helper()
		found, err := s.Check(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, found)
		require.Equal(t, strconv.FormatInt(want, 10), gauges())
	}
	check(0)
	require.NoError(t, pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
		for _, sql := range []string{
			"ALTER TABLE payments.payments DISABLE TRIGGER USER",
			"ALTER TABLE subscriptions.subscriptions DISABLE TRIGGER USER",
			strings.NewReplacer("$1", "'pay_unseen'", "$2", "12345", "$3", "'2026-05-02T12:00:00Z'").Replace(payment),
			"UPDATE subscriptions.subscriptions SET status = 'suspended' WHERE id = '" + string(financetest.ID("S01")) +
				"' AND status = 'active'",
			"ALTER TABLE payments.payments ENABLE TRIGGER USER",
			"ALTER TABLE subscriptions.subscriptions ENABLE TRIGGER USER",
		} {
			tag, err := tx.Exec(t.Context(), sql)
			if err != nil {
				return err
			}
			if strings.HasPrefix(sql, "UPDATE") {
				require.EqualValues(t, 1, tag.RowsAffected())
			}
		}
		return nil
	}))
	check(7) // gross and payments of the day; active, MRR, overdue and the amount at risk now; since when it is due
	require.NoError(t, s.Rebuild(t.Context()))
	check(0)
	requireNoDifference(t, db, financetest.Now)
}

// TestRollupsOfAFilledDatabaseLong: the migrations that bring the rollups count what
// is there already, also what was written while an older version had none.
func TestRollupsOfAFilledDatabaseLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	url := pgtest.URL(t)
	db, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	defer db.Close()
	financetest.Golden(t, db)
	s := service(t, db, clock.NewFake(financetest.Now))
	before, err := s.Overview(t.Context())
	require.NoError(t, err)
	for undone := ""; undone != "01011_finance_baseline.sql"; {
		undone, err = schema.Down(t.Context(), url)
		require.NoError(t, err)
	}
	_, err = db.Exec(t.Context(), payment, "pay_of_an_older_version", 4321, financetest.Now.Add(-time.Hour))
	require.NoError(t, err)
	_, err = schema.Up(t.Context(), url)
	require.NoError(t, err)

	db.Reset() // statements of the schema as it was
	requireNoDifference(t, db, financetest.Now)
	after, err := s.Overview(t.Context())
	require.NoError(t, err)
	before.CashNet30d += 4321
	before.PaymentSuccessRate = after.PaymentSuccessRate // one settled attempt more
	require.Equal(t, before, after)
}

// TestReportsReadTheReplica: figures come from the pool of reads, and what keeps
// them works on the primary.
func TestReportsReadTheReplica(t *testing.T) {
	t.Parallel()
	primary, lagging := pgtest.DB(t), pgtest.DB(t)
	financetest.Golden(t, lagging)
	c := clock.NewFake(financetest.Now)
	s := finance.New(finance.Deps{
		Pool: primary, Reads: replica.Only(lagging), Clock: c, Log: slog.New(slog.DiscardHandler), Zone: zone(t),
	})
	overview, err := s.Overview(t.Context())
	require.NoError(t, err)
	want, err := service(t, lagging, c).Overview(t.Context())
	require.NoError(t, err)
	require.NotZero(t, overview.MRR)
	require.Equal(t, want, overview)
	churn, err := s.Churn(t.Context(), 6)
	require.NoError(t, err)
	require.NotZero(t, churn.ByReason)
	revenue, err := s.Revenue(t.Context(), reports.RevenuePeriod{Grain: reports.Monthly})
	require.NoError(t, err)
	require.NotZero(t, revenue.Totals)

	_, err = primary.Exec(t.Context(), payment, "pay_of_the_primary", 100, financetest.Now)
	require.NoError(t, err)
	folded, err := s.Fold(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, folded)
	_, err = s.Check(t.Context())
	require.NoError(t, err)
	var checks int
	require.NoError(t, primary.QueryRow(t.Context(), "SELECT count(*) FROM finance.checks").Scan(&checks))
	require.Equal(t, 1, checks)
}
