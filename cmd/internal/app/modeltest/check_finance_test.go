package modeltest_test

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// churnMonths reach back before every history.
const churnMonths = 120

// checkFinance: the rollups are what a scan of the ledgers says; MRR is that of
// both gateways; the months add up, one to the next, to who is active now; each
// exit has one reason.
func checkFinance(h *history) {
	h.t.Helper()
	ctx := context.Background()
	require.NoError(h.t, h.finance.Snapshot(ctx, hangs, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT to_jsonb(d)::text FROM finance.rollup_differences() d`)
		require.NoError(h.t, err)
		differences, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(h.t, err)
		if len(differences) > 0 {
			h.fail("rollups differ from the ledgers", "%v", differences)
		}
		return nil
	}))
	o, err := h.finance.Overview(ctx)
	require.NoError(h.t, err)
	if o.MRR != o.MRRGWA+o.MRRGWB {
		h.fail("MRR is not that of both gateways", "%+v", o)
	}
	var active, mrr int64
	require.NoError(h.t,
		h.db.QueryRow(ctx, `SELECT count(*), coalesce(sum(price_cents), 0) FROM subscriptions.subscriptions
		WHERE status = 'active' AND (expires_at IS NULL OR expires_at > $1)`, h.now()).Scan(&active, &mrr))
	if o.ActiveSubscriptions != active || o.MRR != mrr {
		h.fail("MRR is not that of the active", "%d active, %d cents: %+v", active, mrr, o)
	}
	checkChurn(h, active)
}

func checkChurn(h *history, active int64) {
	churn, err := h.finance.Churn(context.Background(), churnMonths)
	require.NoError(h.t, err)
	var exits, end int64
	for i, m := range churn.Monthly {
		if m.ActiveEnd != m.ActiveStart+m.New-m.Cancelled || i > 0 && m.ActiveStart != end {
			h.fail("a month of churn does not add up", "%+v", churn.Monthly[max(0, i-1):i+1])
		}
		exits, end = exits+m.Cancelled, m.ActiveEnd
	}
	if end != active {
		h.fail("the last month does not end with who is active", "%d: %+v", active, churn.Monthly[len(churn.Monthly)-1])
	}
	r := churn.ByReason
	if exits != r.PaymentFailure+r.CustomerCancelled+r.AdminCancelled+r.Chargeback+r.Expired {
		h.fail("an exit without one reason", "%d exits: %+v", exits, r)
	}
}

const pricesSQL = `SELECT s.id, s.gateway, coalesce(s.gwa_subscription_id, s.gwb_subscription_id), s.price_cents FROM subscriptions.subscriptions s
	WHERE s.status IN ('active', 'suspended') AND coalesce(s.gwa_subscription_id, s.gwb_subscription_id) IS NOT NULL
	AND NOT EXISTS (SELECT 1 FROM subscriptions.plan_moves m WHERE m.subscription_id = s.id AND m.state = 'open')`

// checkPrices: a recurrence charges what its subscription costs, and no plan is
// at gateway B twice.
func checkPrices(h *history) {
	h.t.Helper()
	charged := map[string]int64{}
	for _, r := range h.gateways.list(h.t, gateway.GWA, "/v3/subscriptions") {
		if deleted, _ := r["deleted"].(bool); !deleted {
			charged[str(r, "id")] = cents(num(r, "value"))
		}
	}
	for _, r := range h.gateways.list(h.t, gateway.GWB, "/v1/subscriptions") {
		items, _ := r["items"].(object)
		for _, i := range items["data"].([]any) {
			price, _ := i.(object)["price"].(object)
			charged[str(r, "id")] += int64(num(price, "unit_amount"))
		}
	}
	rows, err := h.db.Query(context.Background(), pricesSQL)
	require.NoError(h.t, err)
	var id objectid.ID
	var name, remote string
	var price int64
	_, err = pgx.ForEachRow(rows, []any{&id, &name, &remote, &price}, func() error {
		if is, runs := charged[remote]; runs && is != price {
			h.fail("a recurrence charges another price", "%s costs %d, %s charges %d", id, price, remote, is)
		}
		return nil
	})
	require.NoError(h.t, err)
	var known []string
	for _, p := range h.gateways.list(h.t, gateway.GWB, "/v1/products") {
		metadata, _ := p["metadata"].(object)
		if slices.Contains(known, str(metadata, "plan_id")) {
			h.fail("a plan is at gateway B twice", "%v", p)
		}
		known = append(known, str(metadata, "plan_id"))
	}
}

const tablesSQL = `SELECT format('SELECT %L, md5(coalesce(string_agg(t::text, '' '' ORDER BY t::text), '''')) FROM %I.%I t', n.nspname || '.' || c.relname, n.nspname, c.relname)
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
	AND (n.nspname IN ('payments', 'subscriptions', 'tickets', 'promos', 'finance') OR n.nspname || '.' || c.relname IN ('jobs.river_job', 'accounts.users'))`

// picture is what all tables hold, by their names.
func picture(h *history, db postgres.DB) map[string]string {
	ctx := context.Background()
	if h.picturing == "" {
		rows, err := db.Query(ctx, tablesSQL)
		require.NoError(h.t, err)
		parts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(h.t, err)
		for i, part := range parts {
			if i > 0 {
				h.picturing += " UNION ALL "
			}
			h.picturing += part
		}
	}
	figures := map[string]string{}
	rows, err := db.Query(ctx, h.picturing)
	require.NoError(h.t, err)
	var table, sum string
	_, err = pgx.ForEachRow(rows, []any{&table, &sum}, func() error { figures[table] = sum; return nil })
	require.NoError(h.t, err)
	return figures
}
