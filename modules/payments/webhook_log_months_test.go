package payments_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/postgres"
)

// monthsOf counts the logs by partition.
func (b *bundle) monthsOf() map[string]int {
	b.t.Helper()
	rows, err := b.pool.Query(b.t.Context(),
		"SELECT tableoid::regclass::text, count(*) FROM payments.webhook_logs GROUP BY 1")
	require.NoError(b.t, err)
	counts := map[string]int{}
	var name string
	var n int
	_, err = pgx.ForEachRow(rows, []any{
		&name, &n,
	}, func() error { counts[strings.TrimPrefix(name, "payments.webhook_logs_")] = n; return nil })
	require.NoError(b.t, err)
	return counts
}

// toMonth moves the clock to 200 ms before so many months from now begin (UTC).
func (b *bundle) toMonth(months int) (last, next string) {
	now := b.clock.Now()
	begin := time.Date(now.Year(), now.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	b.clock.Advance(begin.Add(-200 * time.Millisecond).Sub(now))
	return begin.AddDate(0, -1, 0).Format("2006_01"), begin.Format("2006_01")
}

func TestAnEventOnBothSidesOfAMonthsEndHasOneEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	last, next := b.toMonth(1)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	first := b.deliver("gwb", body)
	b.clock.Advance(400 * time.Millisecond)
	require.Equal(t, first.raw, b.deliver("gwb", body).raw)
	require.Equal(t, map[string]int{last: 1, next: 1}, b.monthsOf())
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	require.Len(t, b.logList(`{"event_id":"`+eventIDOf(t, body)+`"}`), 2)
}

// TestACallOfAMonthWithoutPartitionIsTaken: nobody has worked jobs for years.
func TestACallOfAMonthWithoutPartitionIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, next := b.toMonth(60)
	b.clock.Advance(time.Second)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	require.Equal(t, http.StatusOK, b.deliver("gwb", body).status)
	require.Equal(t, map[string]int{"rest": 1}, b.monthsOf())
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 13))
	require.Equal(t, http.StatusOK, b.deliver("gwb", body).status)
	require.Equal(t, map[string]int{"rest": 2}, b.monthsOf(), "a month begun in the rest stays there")
	b.toMonth(1)
	b.clock.Advance(time.Second)
	require.Equal(t, http.StatusOK, b.deliver("gwb", body).status)
	require.NotContains(t, b.monthsOf(), next)
	require.Len(t, b.monthsOf(), 2, "the next month has a partition of its own")
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
}

// TestOldMonthsGo: what was applied goes with its month and is not applied again
// when it comes anew; what was not applied stays until it is.
func TestOldMonthsGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	applied := sample(t, "gwb.invoice.paid.renewal.dahlia")
	done := b.deliver("gwb", applied)
	b.deliver("gwb", applied)
	b.apply.unknown.Store(true)
	waiting := sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")
	b.deliver("gwa", waiting)
	b.apply.unknown.Store(false)
	b.apply.failing.Store(true)
	queued := sample(t, "gwb.invoice.paid.first.dahlia")
	b.deliver("gwb", queued)
	b.apply.failing.Store(false)
	month := b.clock.Now().Format("2006_01")
	require.Equal(t, map[string]int{month: 4}, b.monthsOf())

	b.toMonth(14) // the last instant of the 13th month after
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 13))
	require.Equal(t, 4, b.monthsOf()[month], "13 months are kept")
	b.clock.Advance(time.Second)
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 0))
	require.Equal(t, 4, b.monthsOf()[month], "0 keeps all")
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 13))
	require.Equal(t, map[string]int{"rest": 2}, b.monthsOf(), "only what is not applied stays")
	require.Equal(t, 3, b.count("SELECT count(*) FROM payments.processed_events"))

	require.Equal(t, done.raw, b.deliver("gwb", applied).raw, "the old event is known for good")
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	status, again := b.replay(b.logList(`{"event_id":"` + eventIDOf(t, applied) + `"}`)[0].ID, "?dry_run=1")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "processed", again.Result.Status)

	b.work()
	require.NoError(t, postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
		return b.svc.ReplayWaitingTx(t.Context(), tx, gateway.GWA, "pay_a1b2c3d4e5f6g7h8")
	}))
	require.Eventually(t, func() bool {
		return b.count("SELECT count(*) FROM payments.processed_events WHERE state = 'done'") == 3
	}, time.Minute, 20*time.Millisecond, "they are applied from the logs that stayed")
	require.Equal(t, 3, b.count("SELECT count(*) FROM public.effects"))
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 13))
	require.NotContains(t, b.monthsOf(), "rest", "and then go too")
}

// TestAReplayThatFindsNobodyWaitsWithItsOwnLog: the first log of the event is gone.
func TestAReplayThatFindsNobodyWaitsWithItsOwnLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")
	b.deliver("gwa", body)
	b.toMonth(14)
	b.clock.Advance(time.Second)
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 13))
	require.Empty(t, b.monthsOf())
	b.deliver("gwa", body)
	b.apply.unknown.Store(true)
	status, _ := b.replay(b.logList(`{}`)[0].ID, "")
	require.Equal(t, http.StatusOK, status)
	b.apply.unknown.Store(false)
	b.work()
	require.NoError(t, postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
		return b.svc.ReplayWaitingTx(t.Context(), tx, gateway.GWA, "pay_a1b2c3d4e5f6g7h8")
	}))
	require.Eventually(t, func() bool {
		return b.count("SELECT count(*) FROM payments.processed_events WHERE state = 'done'") == 1
	}, time.Minute, 20*time.Millisecond)
}

// TestCallsAreTakenWhileMonthsComeAndGo: the job's locks are short.
func TestCallsAreTakenWhileMonthsComeAndGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := string(sample(t, "gwb.invoice.paid.renewal.dahlia"))
	id := eventIDOf(t, []byte(body))
	var stop atomic.Bool
	worked := make(chan error, 1)
	go func() {
		var err error
		for !stop.Load() && err == nil {
			b.clock.Advance(32 * 24 * time.Hour)
			err = b.svc.TidyLogMonths(t.Context(), 1)
		}
		worked <- err
	}()
	for n := range 60 {
		// The clock moves between signing and checking: what counts is the last one.
		var a response
		for a.status == 0 || a.status == http.StatusUnauthorized {
			a = b.deliver("gwb", []byte(strings.ReplaceAll(body, id, "evt_"+strconv.Itoa(n))))
		}
		require.Equal(t, http.StatusOK, a.status, a.raw)
		require.Equal(t, gateway.ResultApplied, a.body.Result.Status, a.raw)
	}
	stop.Store(true)
	require.NoError(t, <-worked)
	require.Equal(t, 60, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 60, b.count("SELECT count(*) FROM payments.processed_events WHERE state = 'done'"))
}
