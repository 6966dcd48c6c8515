package finance_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/modules/finance/reports"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// asOf runs f with finance.now() at an instant.
func asOf(t testing.TB, db *pgxpool.Pool, now time.Time, f func(tx postgres.DB) error) error {
	t.Helper()
	return postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT set_config('finance.now', $1, true)`,
			now.Format(time.RFC3339Nano)); err != nil {
			return err
		}
		return f(tx)
	})
}

// TestRandomHistories: whatever happens to payments, refunds, disputes and
// subscriptions, in any order, with folds in between, the rollups equal the scan,
// MRR is the sum of both gateways, every month's row adds up, and every exit has
// one reason.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for n := range 6 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, seed+uint64(n))
			for range 60 {
				for range 1 + h.r.IntN(8) {
					h.step()
				}
				h.require()
			}
			require.NotZero(t, h.churn().ByReason, "a history without exits shows nothing")
		})
	}
}

// history moves a few customers at random, by rows as the modules write them.
type history struct {
	t         *testing.T
	db        *pgxpool.Pool
	r         *rand.Rand
	clock     *clock.Fake
	service   *finance.Service
	customers []objectid.ID
	live      map[objectid.ID]*subscription // by customer
	all       []*subscription
	payments  []objectid.ID
}

type subscription struct {
	id, customer    objectid.ID
	status, gateway string
	expires         *time.Time
	disputed        bool // what suspended it while it was active
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	db := pgtest.DB(t)
	c := clock.NewFake(time.Date(2026, 1, 30, 2, 30, 0, 0, time.UTC))
	h := &history{
		t: t, db: db, clock: c, service: service(t, db, c), live: map[objectid.ID]*subscription{},
		r: rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // a test's dice
	}
	for _, plan := range []string{"plan-a", "plan-b"} {
		h.exec(`INSERT INTO subscriptions.plans (plan_id, name, amount_cents, register_date, register_update_date) VALUES ($1, $1, 1990, now(), now())`, plan)
	}
	for range 6 {
		id := objectid.New()
		h.exec(`INSERT INTO accounts.users (id, user_type, username, email, created_at, updated_at) VALUES ($1, 'customer', $1, $1 || '@example.com', now(), now())`, id)
		h.customers = append(h.customers, id)
	}
	return h
}

// exec has the server see literals, so that one argument can stand for an id and
// for a text.
func (h *history) exec(sql string, args ...any) {
	h.t.Helper()
	_, err := h.db.Exec(h.t.Context(), sql, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	require.NoError(h.t, err)
}

// step does one thing.
func (h *history) step() {
	switch h.r.IntN(14) {
	case 0, 1:
		h.clock.Advance(time.Duration(h.r.IntN(72)) * time.Hour)
	case 2:
		h.clock.Advance(time.Duration(h.r.IntN(20)) * 24 * time.Hour)
	case 3:
		_, err := h.service.Fold(h.t.Context())
		require.NoError(h.t, err)
	case 4:
		h.pay()
	case 5:
		h.refund()
	case 6:
		h.dispute()
	case 7:
		h.exec(`INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
			VALUES ('gwa', $1, 1, 'subscription', $2, 100, $3, $3)`, objectid.New(), objectid.New(), h.past())
	case 8:
		h.customerComesOrGoes()
	default:
		h.moveSubscription()
	}
}

// past is an instant not long ago, at times just beside midnight.
func (h *history) past() time.Time {
	at := h.clock.Now().Add(-time.Duration(h.r.IntN(100)) * time.Hour)
	if h.r.IntN(3) == 0 {
		at = time.Date(at.Year(), at.Month(), at.Day(), 3, 0, 0, 0, time.UTC).
			Add(time.Duration(h.r.IntN(3)-1) * time.Millisecond)
	}
	return at
}

func (h *history) gateway() string { return []string{"gwa", "gwb"}[h.r.IntN(2)] }

func (h *history) pay() {
	id, purpose := objectid.New(), []string{"subscription", "subscription", "order"}[h.r.IntN(3)]
	h.exec(`INSERT INTO payments.payments (id, gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
		VALUES ($1, $2, $1, $3, $1, $1, $4, 'pix', 'CONFIRMED', $5, $5, $5)`, id, h.gateway(), purpose, h.r.IntN(10000),
		h.past())
	h.payments = append(h.payments, id)
	switch h.r.IntN(6) {
	case 0:
		h.exec(`UPDATE payments.payments SET native_status = 'RECEIVED' WHERE id = $1`, id)
	case 1:
		h.exec(`UPDATE payments.payments SET settled_at = $2, amount_cents = amount_cents + 1 WHERE id = $1`,
			h.payments[h.r.IntN(len(h.payments))], h.past())
	case 2:
		h.exec(`DELETE FROM payments.payments WHERE id = $1`, h.payments[h.r.IntN(len(h.payments))])
	}
}

func (h *history) refund() {
	id, at := objectid.New(), h.past()
	h.exec(`INSERT INTO payments.refunds (id, gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, created_at, updated_at)
		VALUES ($1, $2, $1, 'subscription', $1, $1, $3, 'requested', 'admin', $1, 'admin_refund', $4, $4, $4)`, id,
		h.gateway(), 1+h.r.IntN(5000), at)
	if h.r.IntN(4) > 0 {
		h.exec(`UPDATE payments.refunds SET status = 'done', refunded_at = $2 WHERE id = $1`, id, at)
	}
	if h.r.IntN(4) == 0 {
		h.exec(`UPDATE payments.refunds SET amount_cents = amount_cents + 7, status = CASE status WHEN 'done' THEN 'failed' ELSE status END WHERE id = $1`, id)
	}
}

func (h *history) dispute() {
	id := objectid.New()
	state := []string{"inquiry", "open"}[h.r.IntN(2)]
	h.exec(`INSERT INTO payments.disputes (id, gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
		VALUES ($1, 'gwb', $1, $1, 'subscription', $1, $1, $2, $3, $3, $4, $4, $4, $4)`, id, h.r.IntN(5000), state,
		h.past())
	if h.r.IntN(2) == 0 {
		end := map[string][]string{"inquiry": {"dismissed", "won"}, "open": {"won", "lost"}}[state][h.r.IntN(2)]
		h.exec(`UPDATE payments.disputes SET state = $2, native_status = $2, closed_at = $3 WHERE id = $1`, id, end,
			h.clock.Now())
	}
}

func (h *history) customerComesOrGoes() {
	id := objectid.New()
	h.exec(`INSERT INTO accounts.users (id, user_type, username, email, created_at, updated_at) VALUES ($1, 'customer', $1, $1 || '@example.com', now(), now())`, id)
	if h.r.IntN(2) == 0 {
		h.exec(`UPDATE accounts.users SET deleted_at = $2 WHERE id = $1`, id, h.clock.Now())
	}
}

func (h *history) moveSubscription() {
	customer := h.customers[h.r.IntN(len(h.customers))]
	s := h.live[customer]
	if s == nil {
		if old := h.ended(customer); old != nil && h.r.IntN(3) == 0 {
			h.reopen(old)
			return
		}
		h.subscribe(customer, "subscribed")
		return
	}
	switch s.status {
	case "pending":
		h.move(s, []string{
			"active", "active", "active", "cancelled", "suspended",
		}[h.r.IntN(5)], []string{"payment_settled", "abandoned"}[h.r.IntN(2)])
	case "suspended":
		if h.r.IntN(4) == 0 { // another price while nothing is paid
			h.price(s)
			return
		}
		if s.disputed && h.r.IntN(2) == 0 { // entered by mistake
			h.move(s, "active", "chargeback_withdrawn")
			return
		}
		h.move(s, []string{
			"active", "active", "cancelled", "expired",
		}[h.r.IntN(4)], []string{"payment_settled", "customer_cancelled"}[h.r.IntN(2)])
	default:
		h.moveActive(s)
	}
}

func (h *history) moveActive(s *subscription) {
	now := h.clock.Now()
	switch h.r.IntN(9) {
	case 0:
		h.move(s, "suspended", []string{"payment_failure", "chargeback", "admin_cancelled"}[h.r.IntN(3)])
	case 1:
		h.move(s, "cancelled", []string{"customer_cancelled", "admin_cancelled", "chargeback"}[h.r.IntN(3)])
	case 2:
		h.move(s, "pending", "gateway_status")
	case 3: // a renewal takes its place
		h.move(s, "cancelled", "replaced")
		h.subscribe(s.customer, "renewed")
	case 4: // paid until then; the job may come late, or a payment first
		until := now.Add(time.Duration(h.r.IntN(200)) * time.Hour)
		s.expires = &until
		h.exec(`UPDATE subscriptions.subscriptions SET expires_at = $2, cancel_at_period_end = $3 WHERE id = $1`, s.id,
			until, h.r.IntN(2) == 0)
	case 5:
		h.price(s)
	case 6:
		h.exec(`UPDATE subscriptions.subscriptions SET last_payment_at = $2, payment_failures = 0 WHERE id = $1`, s.id,
			now)
	case 7:
		h.exec(`UPDATE subscriptions.subscriptions SET payment_failures = payment_failures + 1 WHERE id = $1`, s.id)
	default:
		if s.expires != nil && !s.expires.After(now) {
			h.move(s, "expired", "expired")
		}
	}
}

// price moves a subscription to another plan and price.
func (h *history) price(s *subscription) {
	h.exec(`UPDATE subscriptions.subscriptions SET price_cents = greatest(price_cents + $3, 0), plan_id = $2, register_update_date = $4
		WHERE id = $1`, s.id, []string{"plan-a", "plan-b"}[h.r.IntN(2)], h.r.IntN(400)-200, h.clock.Now())
}

func (h *history) ended(customer objectid.ID) *subscription {
	for i := len(h.all) - 1; i >= 0; i-- {
		if h.all[i].customer == customer {
			return h.all[i]
		}
	}
	return nil
}

// reopen is late money, or an admin.
func (h *history) reopen(s *subscription) {
	h.live[s.customer] = s
	h.exec(`UPDATE subscriptions.subscriptions SET expires_at = NULL WHERE id = $1`, s.id)
	s.expires = nil
	h.move(s, "active", "late_money")
}

func (h *history) subscribe(customer objectid.ID, reason string) {
	s := &subscription{id: objectid.New(), customer: customer, status: "pending", gateway: h.gateway()}
	now := h.clock.Now()
	h.exec(`INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, trial_days, intent_open, register_date, register_update_date)
		VALUES ($1, $2, 'plan-a', $3, $4, 'pending', $5, 1, $6, false, $7, $7)`, s.id, customer, s.gateway, []string{
		"credit_card", "pix", "boleto",
	}[h.r.IntN(3)],
		1000+h.r.IntN(5000), h.r.IntN(2)*7, now)
	h.exec(`INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, to_status, reason, source) VALUES ($1, $2, $3, 'pending', $4, 'subscribe')`,
		s.id, customer, now, reason)
	h.live[customer] = s
	h.all = append(h.all, s)
}

func (h *history) move(s *subscription, to, reason string) {
	now := h.clock.Now()
	ended := to == "cancelled" || to == "expired"
	require.NoError(h.t, postgres.InTx(h.t.Context(), h.db, func(tx pgx.Tx) error {
		return moveTx(h.t.Context(), tx, s, to, reason, now, ended)
	}))
	s.disputed = s.status == "active" && to == "suspended" && reason == "chargeback"
	s.status = to
	if ended {
		delete(h.live, s.customer)
	}
}

func moveTx(ctx context.Context, tx pgx.Tx, s *subscription, to, reason string, now time.Time, ended bool) error {
	_, err := tx.Exec(ctx,
		`UPDATE subscriptions.subscriptions SET status = $2, ended_at = CASE WHEN $3 THEN $4::timestamptz END, register_update_date = $4 WHERE id = $1`, s.id, to, ended, now)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx,
		`INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source) VALUES ($1, $2, $3, $4, $5, $6, 'job')`,
		s.id, s.customer, now, s.status, to, reason)
	return err
}

func (h *history) churn() reports.Churn {
	h.t.Helper()
	churn, err := h.service.Churn(h.t.Context(), 24)
	require.NoError(h.t, err)
	return churn
}

// requireMovements: each month closes as its movements say, the next opens so, and the last closes with the MRR.
func (h *history) requireMovements(mrr int64) {
	h.t.Helper()
	m, err := h.service.Movements(h.t.Context(), 24)
	require.NoError(h.t, err)
	var closing int64
	for _, r := range m.Monthly {
		require.Equal(h.t, closing, r.Opening, r.Month)
		closing = r.Opening + r.New + r.Expansion + r.Reactivation - r.Contraction - r.Churn
		require.Equal(h.t, closing, r.Closing, r.Month)
		for _, part := range []int64{r.Opening, r.New, r.Expansion, r.Reactivation, r.Contraction, r.Churn, r.Closing} {
			require.GreaterOrEqual(h.t, part, int64(0), r.Month)
		}
	}
	require.Equal(h.t, mrr, closing, "the last month closes with the MRR")
	h.requireMovementRows()
}

// requireMovementRows: the rows of each month and kind add up to the figure.
func (h *history) requireMovementRows() {
	h.t.Helper()
	var wrong []string
	require.NoError(h.t, asOf(h.t, h.db, h.clock.Now(), func(tx postgres.DB) error {
		return tx.QueryRow(h.t.Context(), `
			SELECT array_agg(format('%s %s: %s, and %s', m.month, k.kind, k.cents, coalesce(r.cents, 0)))
			FROM finance.mrr_movements m
			CROSS JOIN LATERAL (VALUES ('new', m.new_cents), ('expansion', m.expansion_cents), ('reactivation', m.reactivation_cents),
				('contraction', -m.contraction_cents), ('churn', -m.churn_cents)) k (kind, cents)
			LEFT JOIN (
				SELECT c.month, c.kind, sum(c.change_cents) AS cents FROM finance.mrr_changes_between('2025-01-01', '2035-01-01') c GROUP BY 1, 2
			) r ON r.month = m.month AND r.kind = k.kind
			WHERE k.cents <> coalesce(r.cents, 0)`).Scan(&wrong)
	}))
	require.Empty(h.t, wrong, "rows behind the movements")
}

// require checks what must hold at any moment.
func (h *history) require() {
	h.t.Helper()
	require.Empty(h.t, differences(h.t, h.db, h.clock.Now()), "rollups and scan")
	o, err := h.service.Overview(h.t.Context())
	require.NoError(h.t, err)
	require.Equal(h.t, o.MRR, o.MRRGWA+o.MRRGWB)
	var byStatus, mrr int64
	require.NoError(h.t,
		h.db.QueryRow(h.t.Context(), `SELECT count(*), coalesce(sum(price_cents), 0) FROM subscriptions.subscriptions
		WHERE status = 'active' AND (expires_at IS NULL OR expires_at > $1)`, h.clock.Now()).Scan(&byStatus, &mrr))
	require.Equal(h.t, byStatus, o.ActiveSubscriptions)
	h.requireMovements(mrr)
	require.Equal(h.t, mrr, o.MRR)

	churn := h.churn()
	var exits, end int64
	for i, m := range churn.Monthly {
		require.Equal(h.t, m.ActiveEnd, m.ActiveStart+m.New-m.Cancelled, m.Month)
		if i > 0 {
			require.Equal(h.t, end, m.ActiveStart, m.Month)
		}
		exits, end = exits+m.Cancelled, m.ActiveEnd
	}
	require.Equal(h.t, byStatus, end, "who is active at the end of the last month is active now")
	r := churn.ByReason
	require.Equal(h.t, exits, r.PaymentFailure+r.CustomerCancelled+r.AdminCancelled+r.Chargeback+r.Expired)
}
