package payments_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/platform/resource"
	"marquee/testutil/soak"
)

// fillLogs writes so many logs of applied events over 14 months, each with a body
// of a kilobyte.
func (b *bundle) fillLogs(n int) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), "SELECT payments.add_webhook_log_months(now() - interval '13 months', 14)")
	require.NoError(b.t, err)
	began := time.Now()
	defer func() { b.t.Logf("filled in %v", time.Since(began).Round(time.Millisecond)) }()
	_, err = b.pool.Exec(b.t.Context(),
		`INSERT INTO payments.webhook_logs (gateway, event_id, event_type, payload, signature_valid, processed, result, received_at, processed_at)
		SELECT CASE n % 3 WHEN 0 THEN 'gwa' ELSE 'gwb' END, 'evt_' || n, CASE n % 7 WHEN 0 THEN 'invoice.payment_failed' ELSE 'invoice.paid' END,
			jsonb_build_object('id', 'evt_' || n, 'data', $2::text), true, n % 100 <> 0, '{"status": "processed"}', at, at + interval '4 ms'
		FROM generate_series(1, $1::int) n, LATERAL (SELECT now() - interval '400 days' * (n::float8 / $1) AS at) x`,
		n, strings.Repeat("an invoice ", 100))
	require.NoError(b.t, err)
	_, err = b.pool.Exec(b.t.Context(),
		`INSERT INTO payments.processed_events (gateway, event_id, log_id, state, result, event_at, updated_at)
		SELECT gateway, event_id, id, 'done', result, received_at, received_at FROM payments.webhook_logs`)
	require.NoError(b.t, err)
	_, err = b.pool.Exec(b.t.Context(), "VACUUM ANALYZE payments.webhook_logs, payments.processed_events")
	require.NoError(b.t, err)
}

// scanned are the relations that a plan reads whole, and sorts whether it sorts rows of
// the log.
type planStep struct {
	Type  string `json:"Node Type"`
	On    string `json:"Relation Name"`
	Plans []planStep
}

func (s planStep) walk(f func(planStep)) {
	f(s)
	for _, below := range s.Plans {
		below.walk(f)
	}
}

// TestWebhookLogPlansSoak: over 14 months of logs (100,000 in a soak) the page comes from
// the indexes in the order of the list, and a filter by event or time reads what it is
// about.
func TestWebhookLogPlansSoak(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fillLogs(soak.Rounds(7_000, 100_000))
	filled := b.monthsOf()
	for _, want := range []struct {
		query string
		whole bool // the total of this filter is counted by reading every log
	}{
		{query: `{}`, whole: true},
		{query: `{"event_id":"evt_17"}`},
		{query: `{"event_id":"evt_17","gateway":"gwb"}`},
		{query: `{"received_at":{"$gte":"` + time.Now().AddDate(0, 0, -3).Format(time.DateOnly) + `"}}`},
		{query: `{"event_type":"invoice.payment_failed"}`, whole: true},
		{query: `{"processed":false}`},
		{query: `{"gateway":"gwa"}`, whole: true},
	} {
		list, err := payments.PrepareLogs(resource.Params{Query: want.query, Size: 10, Page: 1})
		require.NoError(t, err)
		sql, args := list.SQL()
		var raw []byte
		require.NoError(t, b.pool.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) "+sql,
			append([]any{pgx.QueryExecModeExec}, args...)...).Scan(&raw))
		var plans []struct{ Plan planStep }
		require.NoError(t, json.Unmarshal(raw, &plans))
		scans, sorts := 0, 0
		plans[0].Plan.walk(func(s planStep) {
			if s.Type == "Seq Scan" && filled[strings.TrimPrefix(s.On, "webhook_logs_")] > 0 {
				scans++
			}
			if s.Type == "Sort" {
				sorts++
			}
		})
		if !want.whole {
			require.LessOrEqual(t, scans, 2, "%s", want.query) // of the newest months at most
		} else {
			require.LessOrEqual(t, sorts, 1, "%s", want.query)
		}
		began := time.Now()
		require.NotEmpty(t, b.logList(want.query))
		t.Logf("%-70s %v, %d whole partitions, %d sorts", want.query, time.Since(began).Round(time.Millisecond), scans,
			sorts)
	}
	began := time.Now()
	require.Positive(t, b.stats("").Total)
	t.Log("stats of all", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	require.Positive(t, b.stats("?start="+time.Now().AddDate(0, 0, -30).Format(time.DateOnly)).Total)
	t.Log("stats of 30 days", time.Since(began).Round(time.Millisecond))
}
