package app_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/cmd/internal/app/scale"
	"marquee/modules/subscriptions"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// statement is what a request asked of the database.
type statement struct {
	sql  string
	args []any
}

// statements hears what the pools run.
type statements struct {
	mu   sync.Mutex
	seen []statement
}

func (s *statements) hear(sql string, args []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, statement{sql, args})
}

// take returns the reading ones since the last call.
func (s *statements) take() []statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.seen
	s.seen = nil
	return slices.DeleteFunc(all, func(st statement) bool {
		_, text, found := strings.Cut(st.sql, "\n")
		if !found || !strings.HasPrefix(st.sql, "--") {
			text = st.sql
		}
		word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		return !slices.Contains([]string{"SELECT", "WITH"}, strings.ToUpper(strings.TrimSpace(word)))
	})
}

// The methods of pgx.QueryTracer and pgx.BatchTracer.
func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.hear(data.SQL, data.Args)
	return ctx
}
func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (*statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	s.hear(data.SQL, data.Args)
}
func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// openPool opens one of the platform's pools, heard.
func (s *statements) openPool(ctx context.Context, database string, o postgres.Options) (*pgxpool.Pool, error) {
	o.Gate, o.StatementTimeout = nil, 0 // the gate would hear in our place
	plain, err := postgres.NewPool(ctx, database, o)
	if err != nil {
		return nil, err
	}
	cfg := plain.Config()
	plain.Close()
	cfg.ConnConfig.Tracer = s
	return pgxpool.NewWithConfig(ctx, cfg)
}

// grows are the tables that grow without end: none is read whole where an index
// serves.
var grows = []string{
	"accounts.users", "accounts.logins", "subscriptions.subscriptions", "subscriptions.transitions",
	"payments.payments", "payments.failed_attempts", "payments.refunds", "payments.refund_transitions", "payments.disputes",
	"payments.webhook_logs", "payments.processed_events", "tickets.orders", "tickets.tickets",
	"tickets.transitions", "tickets.order_transitions", "tickets.customers", "finance.customer_access", "finance.access_ends",
	"finance.price_changes",
	"accounts.audit_log", "jobs.river_job",
}

// planNode is a node of EXPLAIN (FORMAT JSON, VERBOSE).
type planNode struct {
	Type   string     `json:"Node Type"`
	Schema string     `json:"Schema"`
	On     string     `json:"Relation Name"`
	Index  string     `json:"Index Name"`
	Plans  []planNode `json:"Plans"`
}

// scans lists the growing tables that a plan reads whole.
func (p planNode) scans() (found []string) {
	table := p.Schema + "." + p.On
	const months = "payments.webhook_logs_" // its parts; accounts.users_type is no part of accounts.users
	if p.Type == "Seq Scan" && (slices.Contains(grows, table) || strings.HasPrefix(table, months)) {
		found = append(found, table)
	}
	for _, below := range p.Plans {
		found = append(found, below.scans()...)
	}
	return found
}

// explain plans a statement anew. Over few rows a scan is always the cheapest:
// there the planner is kept from it, and it stays where no index serves at all.
func explain(t *testing.T, conn *pgx.Conn, st statement) []string {
	t.Helper()
	var raw []byte
	require.NoError(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if !soak.On() {
			if _, err := tx.Exec(t.Context(), "SET LOCAL enable_seqscan = off"); err != nil {
				return err
			}
		}
		args := append([]any{pgx.QueryExecModeExec}, slices.DeleteFunc(slices.Clone(st.args), func(a any) bool {
			_, mode := a.(pgx.QueryExecMode)
			_, formats := a.(pgx.QueryResultFormats)
			return mode || formats
		})...)
		return tx.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON, VERBOSE) "+st.sql, args...).Scan(&raw)
	}), st.sql)
	var plans []struct{ Plan planNode }
	require.NoError(t, json.Unmarshal(raw, &plans))
	return slices.DeleteFunc(plans[0].Plan.scans(),
		func(table string) bool { // the months to come have parts too, without rows
			var filled bool
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM "+table+")").Scan(&filled))
			return !filled
		})
}

// TestPlansSoak asks the routes that dashboards and lists live on over HTTP, and
// plans every statement that they run: no table that grows is read whole, but
// where the answer is about all of it.
func TestPlansSoak(t *testing.T) {
	t.Parallel()
	database, heard := pgtest.URL(t), &statements{}
	a := platformtest.NewOf(t,
		platformtest.Options{Parts: app.Parts{OpenPool: heard.openPool}, Config: []func(*app.Config){
			func(c *app.Config) { c.Database.URL = database },
		}})
	a.Unsound("active_cards_are_charged", "active_debits_are_authorized") // no gateway knows the rows of scale
	now := time.Now()
	require.NoError(t, subscriptions.SeedPlans(t.Context(), a.DB, now))
	require.NoError(t, scale.Fill(t.Context(), a.DB, scale.Options{
		Subscriptions: soak.Rounds(1_000, 100_000), Now: now,
	}))
	for _, sql := range []string{
		// The audit log of a while, of which hardly anything is about plans.
		`INSERT INTO accounts.audit_log (id, at, actor_name, action, path, resource, record_id, before, after, request_id)
		SELECT platform.new_object_id(), now(), 'admin', 'user_update', '/users', 'users', platform.new_object_id(), '{"enable": true}', '{"enable": false}', 'r'
		FROM generate_series(1, ` + strconv.Itoa(soak.Rounds(200, 20_000)) + `)`,
		`ANALYZE accounts.audit_log`,
		`INSERT INTO jobs.river_job (kind, args, max_attempts, queue, state, finalized_at)
		SELECT 'a_job', '{}', 1, 'default', 'completed', now() FROM generate_series(1, ` + strconv.Itoa(soak.Rounds(200, 20_000)) + `)`,
		`ANALYZE jobs.river_job`,
	} {
		_, err := a.DB.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	admin := a.Root()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var subscription, customer, event, gateway string
	require.NoError(t,
		conn.QueryRow(t.Context(), `SELECT s.id, s.customer_id, (SELECT id FROM tickets.events LIMIT 1), s.gateway
		FROM subscriptions.subscriptions s WHERE s.status = 'active' AND s.last_payment_at IS NOT NULL AND s.gateway = 'gwb' LIMIT 1`).Scan(&subscription, &customer, &event, &gateway))
	list := func(query string) string { return "?" + url.Values{"query": {query}}.Encode() }
	heard.take()

	for _, tc := range []struct {
		path  string
		whole []string // tables that the answer is about as a whole
	}{
		{"/admin/home", nil},
		{"/subscriptions" + list(`{"started_at":{"$gte":"`+now.Add(-24*time.Hour).UTC().Format(time.RFC3339)+`"}}`), nil},
		{"/subscriptions" + list(`{"ended_at":{"$gte":"`+now.Add(-24*time.Hour).UTC().Format(time.RFC3339)+`"}}`), nil},
		{"/admin/finance/payments", nil},
		{"/admin/finance/disputes", nil},
		{"/admin/finance/disputes" + list(`{"state":{"$in":["inquiry","open"]}}`) + "&sort=" + url.QueryEscape(`{"evidence_due_at":1}`), nil},
		{"/admin/finance/reconciliations", nil},
		{"/admin/finance/refunds", nil},
		{"/admin/finance/refunds" + list(`{"status":"failed"}`), nil},
		{"/admin/jobs", []string{"jobs.river_job"}}, // how many there are
		{"/admin/jobs?state=discarded", nil},
		{"/admin/jobs" + list(`{"state":"discarded"}`), nil},
		{"/admin/queues", nil},
		{"/admin/finance/overview", nil},
		{"/admin/finance/revenue", nil},
		{"/admin/finance/revenue?period=daily", nil},
		{"/admin/finance/churn?months=24", nil},
		{"/admin/finance/movements?months=24", nil},
		{"/admin/finance/movements/rows?start=" + now.Format("2006-01") + "&kind=churn", nil},
		{"/admin/finance/overdue", nil},
		{"/admin/finance/overdue?page=3", nil},
		{"/admin/finance/overdue-subscriptions", nil},
		{"/admin/finance/overdue-subscriptions" + list(`{"next_step":"notice"}`) + "&sort=" + url.QueryEscape(`{"next_step_at":1}`), nil},
		{"/admin/customers/360?email=subscriber7@example.com", nil},
		{"/admin/customers/360?_id=" + customer, nil},
		{"/admin/customers/tenure", []string{"finance.customer_access"}},
		{"/admin/subscriptions/dashboard", []string{"subscriptions.subscriptions"}},
		{"/admin/subscriptions/insights", []string{"finance.customer_access", "subscriptions.subscriptions"}},
		{
			"/admin/subscriptions/insights?months=24",
			[]string{"finance.customer_access", "subscriptions.subscriptions", "payments.failed_attempts"},
		},
		{"/admin/events-dashboard/events", nil},
		{"/admin/events-dashboard/events/" + event, nil},
		{"/admin/ticket-orders" + list(`{"event_id":"`+event+`"}`), nil},
		{"/admin/ticket-orders" + list(`{"event_id":"`+event+`"}`) + "&sort=" + url.QueryEscape(`{"refunded":-1}`), nil},
		{"/admin/events-dashboard/overview", []string{"tickets.orders", "tickets.tickets"}},
		{"/admin/events-dashboard/orders", []string{"tickets.orders"}},
		{"/subscriptions" + list(`{"customer_id":"`+customer+`"}`), nil},
		{"/subscriptions" + list(`{"status":"suspended","gateway":"gwb"}`), nil},
		{"/subscriptions/" + subscription + "/payments", nil},
		{"/subscriptions/" + subscription + "/refunds", nil},
		{"/customers?_id=" + customer, nil},
		{"/tickets" + list(`{"customer_id":"`+customer+`"}`), nil},
		{"/tickets" + list(`{"event_id":"`+event+`"}`), nil},
		{"/webhook-logs" + list(`{"gateway":"gwb","event_id":"evt_scale_41"}`), nil},
		{"/webhook-logs" + list(`{"received_at":{"$gte":"`+now.Add(-time.Hour).UTC().Format(time.RFC3339)+`"}}`), nil},
	} {
		admin.Get(tc.path).Expect(200)
		ran := heard.take()
		require.NotEmpty(t, ran, tc.path)
		for _, st := range ran {
			for _, table := range explain(t, conn, st) {
				require.Contains(t, tc.whole, table, "%s reads %s whole:\n%s", tc.path, table, st.sql)
			}
		}
	}

	// A scrape of the metrics, and another at once, which asks nothing.
	_, err = a.Metrics().Gather()
	require.NoError(t, err)
	ran := heard.take()
	require.NotEmpty(t, ran)
	require.Less(t, len(ran), 20)
	for _, st := range ran {
		require.Empty(t, explain(t, conn, st), "a scrape reads it whole:\n%s", st.sql)
	}
	_, err = a.Metrics().Gather()
	require.NoError(t, err)
	require.Empty(t, heard.take())
}
