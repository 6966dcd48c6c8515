package invariants_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/sql/invariants"
	"marquee/testutil/pgtest"
)

// at is when the tests look.
var at = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Ids of the sound world that every plant spoils a little.
const (
	ana, bia = "0000000000000000000000a1", "0000000000000000000000a2"
	sub      = "0000000000000000000000b1" // ana's, active, paid
	event    = "0000000000000000000000c1"
	order    = "0000000000000000000000d1" // ana's, paid, two tickets
	other    = "0000000000000000000000e1" // for what plants add
)

// validSQL is a world in which all invariants hold.
var validSQL = strings.NewReplacer("ANA", ana, "BIA", bia, "SUB", sub, "EVENT", event, "ORDER", order).Replace(`
INSERT INTO jobs.river_job (kind, state, max_attempts, attempt, args, finalized_at) VALUES
	('subscriptions_reconcile', 'discarded', 3, 3, '{}', now() - interval '1 day'), ('subscriptions_reconcile', 'completed', 3, 1, '{}', now());
INSERT INTO accounts.users (id, user_type, username, email, full_name, enable, created_at, updated_at, current_subscription_id)
VALUES ('ANA', 'customer', 'ana', 'ana@example.com', 'Ana', true, now(), now(), 'SUB'), ('BIA', 'customer', 'bia', 'bia@example.com', 'Bia', true, now(), now(), NULL);
INSERT INTO subscriptions.plans (plan_id, name, amount_cents, tier, register_date, register_update_date) VALUES ('plus', 'Plus', 4990, 1, now(), now());
INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, last_payment_at, expires_at, intent_open, register_date, register_update_date)
VALUES ('SUB', 'ANA', 'plus', 'gwa', 'pix', 'active', 4990, 1, '2026-11-10', '2026-12-10', false, '2026-11-10', '2026-11-10');
INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source, event_id)
VALUES ('SUB', 'ANA', '2026-11-10', NULL, 'pending', 'subscribed', 'subscribe', NULL), ('SUB', 'ANA', '2026-11-10', 'pending', 'active', 'payment_settled', 'webhook', 'evt_1');
INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
VALUES ('gwa', 'pay_1', 'subscription', 'SUB', 'ANA', 4990, 'pix', 'RECEIVED', '2026-11-10', now(), now()), ('gwb', 'pi_2', 'order', 'ORDER', 'ANA', 2000, 'credit_card', 'succeeded', '2026-11-10', now(), now());
INSERT INTO payments.webhook_logs (id, gateway, event_id, event_type, payload, signature_valid, processed, result, received_at, processed_at)
VALUES ('0000000000000000000000f1', 'gwa', 'evt_1', 'PAYMENT_RECEIVED', '{}', true, true, '{"status": "processed"}', '2026-11-10', '2026-11-10');
INSERT INTO payments.processed_events (gateway, event_id, log_id, state, result, event_at, updated_at)
VALUES ('gwa', 'evt_1', '0000000000000000000000f1', 'done', '{"status": "processed"}', '2026-11-10', '2026-11-10');
INSERT INTO tickets.events (id, title, event_date, capacity, register_update_date) VALUES ('EVENT', 'Premiere', '2027-01-01', 2, '2026-11-01');
INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, gateway_payment_id, payment_method, payment_status, state, hold_until, paid_at, intent_open, created_at, updated_at)
VALUES ('ORDER', 'ANA', 'EVENT', 2, 1000, 2000, 'gwb', 'pi_2', 'credit_card', 'succeeded', 'paid', now(), '2026-11-10', false, '2026-11-10', '2026-11-10');
INSERT INTO tickets.customers (id, name, email) VALUES ('ANA', 'Ana', 'ana@example.com');
INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason) SELECT 'EVENT', 'ANA', 'ORDER', 'Premiere', 'available', 'purchased' FROM generate_series(1, 2);
INSERT INTO subscriptions.debits (subscription_id, cycle, due_date, amount_cents, gateway_payment_id, register_date, tried_at, ordered_at) VALUES ('SUB', '2026-11-10', '2026-11-10', 4990, 'pay_1', now(), now(), now());
INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, subscription_id, created_at) VALUES (platform.new_object_id(), 'ANA', 'ABCDEF', 'promo', 'subscription', 'SUB', now())`)

func TestEachInvariantFindsWhatBreaksIt(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	_, err := db.Exec(t.Context(), validSQL)
	require.NoError(t, err)
	pgtest.RequireInvariants(t, db, at)
	for _, inv := range invariants.All() {
		require.NotEmpty(t, plants[inv.Name], "no violation of %s is planted", inv.Name)
		for i, plant := range plants[inv.Name] {
			t.Run(fmt.Sprintf("%s %d", inv.Name, i+1), func(t *testing.T) {
				tx, err := db.Begin(t.Context())
				require.NoError(t, err)
				defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
				plantIn(t, tx, plant)
				require.Contains(t, pgtest.Breakable(t, tx), inv)
				results, err := invariants.Check(t.Context(), tx, at)
				require.NoError(t, err)
				found := map[string]invariants.Result{}
				for _, r := range invariants.Broken(results) {
					found[r.Name] = r
				}
				require.Contains(t, found, inv.Name, "%v", found)
				r := found[inv.Name]
				require.NotEmpty(t, r.Offenders)
				require.Positive(t, r.Findings)
				require.NotEmpty(t, r.Offenders[0].ID)
				require.NotEmpty(t, r.Offenders[0].Detail)
			})
		}
	}
	require.Len(t, plants, len(invariants.All()))
}

func plantIn(t *testing.T, tx pgx.Tx, plant string) {
	t.Helper()
	plant = strings.NewReplacer("ANA", ana, "BIA", bia, "SUB", sub, "EVENT", event, "ORDER", order, "OTHER", other).
		Replace(plant)
	_, err := tx.Exec(t.Context(), plant)
	require.NoError(t, err)
}

// Tables says nothing of a join that gives rows where its first table has none, nor of a function.
func TestAnInvariantBeginsFromTables(t *testing.T) {
	t.Parallel()
	for _, inv := range invariants.All() {
		require.NotEmpty(t, inv.Tables(), inv.Name)
		require.NotRegexp(t, `(?i)\b(right|full)\s+(outer\s+)?join\b|\bfrom\s+\w+(\.\w+)?\s*\(|\bvalues\b`, inv.Query(), inv.Name)
	}
}

// What waits for its job within the grace is no finding.
func TestGraceIsGiven(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	_, err := db.Exec(t.Context(), validSQL)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(),
		`UPDATE subscriptions.subscriptions SET expires_at = '2026-11-20 11:50', intent_open = true, register_date = '2026-11-20 11:50';
		INSERT INTO payments.intents (id, kind, subject_id, gateway, reference, created_at, next_look_at, leased_until, not_known_since)
		VALUES (platform.new_object_id(), 'refund', platform.new_object_id(), 'gwa', 'x', '2026-11-18', '2026-11-20 11:00', '2026-11-20 11:31', '2026-11-18 12:01');
		UPDATE payments.gateway_state SET failing_since = '2026-11-20 11:00', failed_at = '2026-11-20 11:31' WHERE gateway = 'gwa';
		UPDATE tickets.orders SET intent_open = true, created_at = '2026-11-20 11:40';
		UPDATE tickets.events SET capacity = 1, register_update_date = now()`)
	require.NoError(t, err)
	pgtest.RequireInvariants(t, db, at)
}

func TestOffendersAreBoundedAndCounted(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	_, err := db.Exec(t.Context(),
		`INSERT INTO accounts.users (user_type, username, email, full_name, enable, created_at, updated_at, current_subscription_id)
		SELECT 'customer', 'u' || n, n || '@example.com', 'U', true, now(), now(), platform.new_object_id() FROM generate_series(1, 45) n`)
	require.NoError(t, err)
	results, err := invariants.Check(t.Context(), db, at)
	require.NoError(t, err)
	broken := invariants.Broken(results)
	require.Len(t, broken, 1)
	require.Equal(t, "current_subscription_live", broken[0].Name)
	require.EqualValues(t, 45, broken[0].Findings)
	require.Len(t, broken[0].Offenders, invariants.MaxOffenders)
}

func TestEachInvariantHasASentence(t *testing.T) {
	t.Parallel()
	for _, inv := range invariants.All() {
		require.Regexp(t, `^([A-Z]|[a-z]+_).*\.$`, inv.Meaning, inv.Name)
	}
}

// mending is a database in which somebody ends what they began between two checks.
type mending struct {
	invariants.DB
	checks int
	mend   func()
}

func (m *mending) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if m.checks++; m.checks == 2 {
		m.mend()
	}
	return m.DB.SendBatch(ctx, b)
}

// TestWhatIsMendedAtOnceIsNotBroken: a row counts that breaks the same invariant twice.
func TestWhatIsMendedAtOnceIsNotBroken(t *testing.T) {
	t.Parallel()
	tx, err := pgtest.DB(t).Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context()))) }()
	exec := func(sql string) {
		_, err := tx.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(validSQL)
	exec("UPDATE accounts.users SET current_subscription_id = '0000000000000000000000ff' WHERE username = 'ana'")
	db := &mending{DB: tx, mend: func() {
		exec("UPDATE accounts.users SET current_subscription_id = '" + sub + "' WHERE username = 'ana'")
		exec("UPDATE accounts.users SET current_subscription_id = '0000000000000000000000ff' WHERE username = 'bia'")
	}}
	results, err := invariants.Confirmed(t.Context(), db, at, 0)
	require.NoError(t, err)
	require.Empty(t, invariants.Broken(results), "bia's was found once")
	results, err = invariants.Confirmed(t.Context(), tx, at, 0)
	require.NoError(t, err)
	broken := invariants.Broken(results)
	require.Len(t, broken, 1)
	require.Equal(t, bia, broken[0].Offenders[0].ID)
	require.EqualValues(t, 1, broken[0].Findings)
}
