package catalog_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// viewerNames are those of the queries, viewerValues what stands for their parameters.
var (
	viewerNames  = []string{"ViewerRead", "ViewerReadFile", "ViewerReadMany", "ViewerReadStream"}
	viewerValues = strings.NewReplacer(
		"@places", "ARRAY[0,1]", "@user_ids", "ARRAY['00000000000000000000abcd','00000000000000000000abce']",
		"@token_ids", "ARRAY['0a','0b']",
		"@session_ids", "ARRAY['a00000000000000000000abc','a00000000000000000000abd']",
		"@session_id", "'a00000000000000000000abc'",
		"@issued_at::timestamptz[]", "ARRAY['2026-11-20T11:00:00Z','2026-11-20T11:00:01Z']::timestamptz[]",
		"@user_id", "'00000000000000000000abcd'", "@video_id", "'f00000000000000000000001'", "@file_id",
		"'f00000000000000000000002'",
		"@now", "'2026-11-20T12:00:00Z'", "@issued_at", "'2026-11-20T11:00:00Z'", "@token_id", "'0a'", "@content_type",
		"'image/png'",
	)

	parameter = regexp.MustCompile(`@([a-z_]+)((?:::[a-z]+(?:\[\])?)?)`)
)

// viewerQueries are the queries of sql/catalog/viewer.sql by their names.
func viewerQueries(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile("../../sql/catalog/viewer.sql")
	require.NoError(t, err)
	queries := map[string]string{}
	for _, part := range strings.Split(string(source), "-- name: ")[1:] {
		head, query, _ := strings.Cut(part, "\n")
		queries[strings.Fields(head)[0]] = query
	}
	return queries
}

// String is the step and those below it, a line each.
func (s step) String() string {
	line := strings.TrimSpace(s.Type + " " + s.On + " " + s.Index)
	for _, below := range s.Plans {
		line += "\n  " + strings.ReplaceAll(below.String(), "\n", "\n  ")
	}
	return line
}

// requireViewerPlans holds how Postgres reads who asks for videos, among 4,000 and among 100,000 users with a
// subscription each: the published functions of other modules are planned as part of the
// query, each by an index. No function is called for its rows (Function Scan), and no table is read whole for what
// callers have of it. UPDATE_GOLDEN=1 writes the plans anew.
func requireViewerPlans(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	few := viewerPlans(t, db, 1, 4_000)
	require.NotContains(t, few, "Function Scan")
	for _, table := range []string{"subscriptions", "users", "sessions"} {
		require.NotContains(t, few, "Seq Scan "+table)
	}
	plan := viewerPlans(t, db, 4_001, 100_000)
	const golden = "testdata/viewer_plans.txt"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(plan), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), plan)
	require.Equal(t, plan, few, "the plans of a few thousand callers")
	require.Equal(t, plan, generalPlans(t, db), "the plans of any caller, which Postgres may keep")
}

// viewerPlans adds users of these numbers, and is the plans of the queries among all of them.
func viewerPlans(t *testing.T, db *pgxpool.Pool, from, to int) string {
	t.Helper()
	_, err := db.Exec(t.Context(), strings.NewReplacer("$from", strconv.Itoa(from), "$to", strconv.Itoa(to)).Replace(`
		ALTER TABLE accounts.users DISABLE TRIGGER USER;
		ALTER TABLE subscriptions.subscriptions DISABLE TRIGGER USER;
		INSERT INTO accounts.users (id, user_type, username, email, created_at, updated_at)
			SELECT lpad(to_hex(n), 24, '0'), 'customer', 'u' || n, 'u' || n || '@example.com', now(), now() FROM generate_series($from, $to) n;
		INSERT INTO subscriptions.plans (id, plan_id, name, amount_cents, tier, register_date, register_update_date)
			VALUES ('f00000000000000000000001', 'plus', 'Plus', 4990, 1, now(), now()) ON CONFLICT DO NOTHING;
		INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months,
				gwb_subscription_id, started_at, next_billing_date, intent_open, document_created_by_id, register_date, register_update_date)
			SELECT 'b' || lpad(to_hex(n), 23, '0'), lpad(to_hex(n), 24, '0'), 'plus', 'gwb', 'credit_card', 'active', 4990, 1,
				'sub_' || n, now(), now(), false, lpad(to_hex(n), 24, '0'), now(), now() FROM generate_series($from, $to) n;
		INSERT INTO accounts.sessions (id, user_id, method, second_factor, device, address, started_at, refreshed_at, expires_at, ended_at)
			SELECT 'a' || lpad(to_hex(n), 23, '0'), lpad(to_hex(n), 24, '0'), 'login', false, '', '', now(), now(), now() + interval '1 day',
				CASE WHEN n % 100 = 0 THEN now() END FROM generate_series($from, $to) n;
		ANALYZE accounts.users; ANALYZE accounts.sessions; ANALYZE subscriptions.subscriptions`))
	require.NoError(t, err)
	var plan strings.Builder
	for _, name := range viewerNames {
		fmt.Fprintf(&plan, "%s\n%s\n\n", name, planOf(t, db, viewerValues.Replace(viewerQueries(t)[name])))
	}
	return plan.String()
}

// generalPlans are the plans that Postgres makes without knowing the values, and may keep for a connection.
func generalPlans(t *testing.T, db *pgxpool.Pool) string {
	t.Helper()
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context()))) }()
	_, err = tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = force_generic_plan")
	require.NoError(t, err)
	var plan strings.Builder
	for _, name := range viewerNames {
		var names, values []string
		query := parameter.ReplaceAllStringFunc(viewerQueries(t)[name], func(p string) string {
			parts := parameter.FindStringSubmatch(p)
			n := slices.Index(names, parts[1])
			if n < 0 {
				n, names, values = len(names), append(names, parts[1]), append(values, viewerValues.Replace(p))
			}
			return fmt.Sprintf("$%d%s", n+1, parts[2])
		})
		_, err := tx.Exec(t.Context(), fmt.Sprintf("PREPARE %s AS %s", name, query))
		require.NoError(t, err)
		fmt.Fprintf(&plan, "%s\n%s\n\n", name,
			planOf(t, tx, fmt.Sprintf("EXECUTE %s(%s)", name, strings.Join(values, ", "))))
	}
	return plan.String()
}
