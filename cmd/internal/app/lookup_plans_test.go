package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/bench/wire"
	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// fillForLookup writes 100,000 customers with Brazilian names, and 20,000 of what else grows.
const fillForLookup = `
SET session_replication_role = replica;
INSERT INTO accounts.users (id, user_type, username, email, full_name, tax_id, gwb_customer_id, created_at, updated_at)
SELECT 'a' || lpad(n::text, 23, '0'), 'customer', u, u || '@' || (ARRAY['mail.example.com', 'correio.example.com', 'example.org'])[1 + n % 3], f || ' ' || m || ' ' || l,
	lpad(n::text, 11, '0'), 'cus_lookup' || n, now(), now()
FROM generate_series(1, 100000) n, LATERAL (SELECT
	(ARRAY['João', 'Maria', 'José', 'Ana', 'Antônio', 'Conceição', 'Zuleide', 'Ítalo', 'Ângela', 'Cauã'])[1 + n % 10] f,
	(ARRAY['da', 'dos', 'Gonçalves', 'Magalhães', 'e', 'Brandão', 'Quirino'])[1 + n % 7] m,
	(ARRAY['Silva', 'Souza', 'Araújo', 'Simões', 'Falcão', 'Assunção', 'Guimarães', 'Leitão', 'Xavier', 'Zanetti', 'Vergueiro'])[1 + n % 11] l) x,
	LATERAL (SELECT platform.search_words(f) || '.' || platform.search_words(l) || n u) y;
INSERT INTO accounts.logins SELECT accounts.fold(l), u.id FROM accounts.users u, LATERAL (VALUES (u.username), (u.email)) v(l) WHERE u.id LIKE 'a00%';
INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, gwb_subscription_id, gwb_customer_id,
	started_at, next_billing_date, intent_open, register_date, register_update_date)
SELECT 'b' || lpad(n::text, 23, '0'), 'a' || lpad(n::text, 23, '0'), 'plus', 'gwb', 'credit_card', 'active', 4990, 1, 'sub_lookup' || n, 'cus_lookup' || n, now(), now(), false, now(), now()
FROM generate_series(1, 20000) n;
INSERT INTO payments.payments (id, gateway, gateway_payment_id, payment_intent_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
SELECT 'c' || lpad(n::text, 23, '0'), 'gwb', 'in_lookup' || n, 'pi_lookup' || n, 'subscription', 'b' || lpad(n::text, 23, '0'), 'a' || lpad(n::text, 23, '0'), 4990, 'credit_card', 'paid', now(), now(), now()
FROM generate_series(1, 20000) n;
INSERT INTO payments.refunds (gateway, payment_ref, gateway_refund_id, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, created_at, updated_at)
SELECT 'gwb', 'pi_lookup' || n, 're_lookup' || n, 'subscription', 'b' || lpad(n::text, 23, '0'), 'a' || lpad(n::text, 23, '0'), 100, 'requested', 'admin', 'REFUND-' || n, 'refund', now(), now(), now()
FROM generate_series(1, 20000) n;
INSERT INTO payments.webhook_logs (gateway, event_id, event_type, payload, signature_valid, processed, result, received_at, processed_at, request_id)
SELECT 'gwb', 'evt_lookup' || n, 'charge.refunded', jsonb_build_object('data', jsonb_build_object('object', jsonb_build_object('object', 'charge', 'id', 'ch_lookup' || n, 'payment_intent', 'pi_lookup' || n))),
	true, true, '{}', now() - n * interval '1 minute', now(), 'request-of-call-' || n
FROM generate_series(1, 20000) n;
INSERT INTO accounts.audit_log (id, at, actor_name, action, path, resource, before, after, request_id)
SELECT platform.new_object_id(), now(), 'admin', 'user_update', '/users', 'users', '{"enable": true}', '{"enable": false}', 'request-of-office-' || n FROM generate_series(1, 20000) n;
INSERT INTO catalog.videos (title, slug, video_id, duration, release_date) SELECT 'Filme ' || n, 'filme-' || n, 'https://videos.example.com/' || n, 90, now() FROM generate_series(1, 5000) n;
SET session_replication_role = origin;`

// countForLookup tells the planner of them.
const countForLookup = `VACUUM (ANALYZE) accounts.users, accounts.logins, accounts.audit_log, subscriptions.subscriptions, payments.payments,
	payments.refunds, payments.webhook_logs, catalog.videos`

// plannedForValues has sessions plan as servers do, and not as those of tests.
const plannedForValues = `DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET plan_cache_mode = auto', current_database()); END$$`

const emptyAfterLookup = `
SET session_replication_role = replica;
TRUNCATE subscriptions.subscriptions, payments.payments, payments.refunds, payments.webhook_logs CASCADE;
DELETE FROM accounts.logins WHERE user_id LIKE 'a00%';
DELETE FROM accounts.users WHERE id LIKE 'a00%';`

// TestLookupPlansLong: over 100,000 customers whatever staff type is found by indexes, and no table that grows is read
// whole, as the planner has it for just these words.
func TestLookupPlansLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	database, heard := pgtest.URL(t), &statements{}
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), plannedForValues)
	require.NoError(t, err)
	p := platformtest.NewOf(t, platformtest.Options{
		Parts: app.Parts{OpenPool: heard.openPool}, Config: []func(*app.Config){func(c *app.Config) { c.Database.URL = database }},
	})
	began := time.Now()
	_, err = conn.PgConn().Exec(t.Context(), fillForLookup).ReadAll()
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), countForLookup)
	require.NoError(t, err)
	t.Logf("filled in %v", time.Since(began).Round(time.Millisecond))
	defer func() { // no invariant holds on such rows
		_, err := conn.PgConn().Exec(context.WithoutCancel(t.Context()), emptyAfterLookup).ReadAll()
		require.NoError(t, err)
	}()
	root := p.Root()
	root.Get("/admin/search?q=first").Expect(http.StatusOK)

	for _, tc := range []struct {
		typed, kind string
		indexes     []string
	}{
		{"a00000000000000000041234", "customer", []string{"users_pkey"}},
		{"b00000000000000000001234", "subscription", []string{"subscriptions_pkey"}},
		{"c00000000000000000001234", "payment", []string{"payments_pkey"}},
		{"000.000.412-34", "customer", []string{"users_tax_id_of_one_customer"}},
		{"jose.araujo412", "customer", []string{"logins_of_one_user", "users_customer_words"}},
		{"araujo412", "customer", []string{"users_customer_words"}},
		{"araujo4116@mail", "customer", []string{"users_customer_words"}},
		{"zuleide goncalves falcao", "customer", []string{"users_customer_names", "users_customer_words"}},
		{"zuleide gonc", "customer", []string{"users_customer_names"}},
		{"falcao zuleide", "customer", []string{"users_customer_words"}},
		{"onceica", "customer", []string{"users_customer_words"}},
		{"cus_lookup412", "customer", []string{"users_by_gwb_customer", "subscriptions_by_gateway_customer"}},
		{"sub_lookup412", "subscription", []string{"subscriptions_gwb_subscription_unique"}},
		{"in_lookup412", "payment", []string{"payments_one_row_per_gateway_payment"}},
		{"pi_lookup412", "payment", []string{"payments_by_payment_intent", "refunds_by_payment"}},
		{"ch_lookup412", "payment", []string{"payments_by_payment_intent"}},
		{"re_lookup412", "refund", []string{"refunds_one_row_per_gateway_refund"}},
		{"evt_lookup412", "webhook_log", nil},
		{"request-of-call-412", "webhook_log", nil},
		{"request-of-office-412", "audit_entry", []string{"audit_log_by_request"}},
	} {
		heard.take()
		began := time.Now()
		hits := found(t, root, tc.typed)
		took := time.Since(began)
		require.NotEmpty(t, hits, tc.typed)
		require.Contains(t, hits[0], tc.kind+" ", tc.typed)
		ran := heard.take()
		require.Len(t, ran, 2, "who calls, and what is found")
		scans, indexes := plainPlan(t, conn, ran[1])
		require.Empty(t, scans, "%s reads whole tables", tc.typed)
		for index := range indexes { // in the order of the page, until enough is found: all, where nothing is
			require.NotRegexp(t, `^webhook_logs_.*_received_at_id_idx`, index, tc.typed)
		}
		for _, index := range tc.indexes {
			require.Contains(t, indexes, index, tc.typed)
		}
		t.Logf("%-28s %8v  %d indexes", tc.typed, took.Round(100*time.Microsecond), len(indexes))
	}
}

// plainPlan is how the planner has a statement run: the growing tables that it reads whole, and the indexes.
func plainPlan(t *testing.T, conn *pgx.Conn, st statement) (scans []string, indexes map[string]bool) {
	t.Helper()
	var raw []byte
	require.NoError(t, conn.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON, VERBOSE) "+st.sql, st.args...).Scan(&raw))
	var plans []struct{ Plan planNode }
	require.NoError(t, json.Unmarshal(raw, &plans))
	indexes = map[string]bool{}
	plans[0].Plan.eachIndex(func(name string) { indexes[name] = true })
	for _, table := range plans[0].Plan.scans() {
		var many bool // months without calls, and what no customer fills, are read whole for nothing
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) > 1000 FROM (SELECT FROM "+table+" LIMIT 1001) t").Scan(&many))
		if many {
			scans = append(scans, table)
		}
	}
	return scans, indexes
}

// eachIndex visits the indexes of a plan.
func (p planNode) eachIndex(visit func(name string)) {
	if p.Index != "" {
		visit(p.Index)
	}
	for _, below := range p.Plans {
		below.eachIndex(visit)
	}
}

// TestLookupIsOneRoundTrip behind that of asking who calls, whatever is typed.
func TestLookupIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	proxy, database, err := wire.Listen(pgtest.URL(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	p := platformtest.New(t, func(c *app.Config) { c.Database.URL = database })
	root := p.Root()
	for _, typed := range []string{"joao", "66f0a1b2c3d4e5f607182a01", "pi_1", "evt_12345", "529.982.247-25"} {
		least := wire.Count{Trips: 100}
		for range 4 {
			before := proxy.Count()
			root.Get("/admin/search?q=" + url.QueryEscape(typed)).Expect(http.StatusOK)
			if c := proxy.Count().Sub(before); c.Trips < least.Trips {
				least = c
			}
		}
		require.EqualValues(t, 2, least.Trips, typed)
		require.EqualValues(t, 2, least.Statements, typed)
	}
}
