package financetest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func (b *book) plan(w []string) {
	b.add(start,
		`INSERT INTO subscriptions.plans (plan_id, name, amount_cents, tier, register_date, register_update_date) VALUES ($1, initcap($1), $2, $3, $4, $4)`,
		w[0], w[1], w[2], start)
}

func (b *book) customers(w []string) {
	for _, name := range between(b.t, w[0], w[1]) {
		b.add(start,
			`INSERT INTO accounts.users (id, user_type, username, email, full_name, email_verified, email_verified_at, created_at, updated_at)
			VALUES ($1, 'customer', lower($2), lower($2) || '@example.com', 'Customer ' || $2, true, $3, $3, $3)`,
			ID(name), name, start)
		b.add(start,
			`INSERT INTO tickets.customers (id, name, email) VALUES ($1, 'Customer ' || $2, lower($2) || '@example.com')`, ID(name), name)
	}
}

func (b *book) deleted(w []string) {
	at := b.time(w[1])
	b.add(at, `UPDATE accounts.users SET deleted_at = $2, username = '', email = '', full_name = NULL WHERE id = $1`,
		ID(w[0]), at)
}

func (b *book) subscriptions(w []string) {
	b.subjects = between(b.t, w[0], w[1])
	for _, name := range b.subjects {
		b.subscription(name, "C"+name[1:], w[2:])
	}
}

// subscription writes the row when its history begins: at the first indented line.
func (b *book) subscription(name, customer string, w []string) {
	plan, gateway, method, price, months, columns := w[0], w[1], w[2], w[3], w[4], b.columns(w[5:])
	b.unborn[name] = len(b.facts)
	b.facts = append(b.facts, fact{line: b.line, write: func(t testing.TB, tx pgx.Tx) error {
		return exec(t, tx,
			`INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months,
				intent_open, register_date, register_update_date)
			VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, false, $8, $8)`, ID(name), ID(customer), plan, gateway,
			method, price, months, b.born[name])
	}}, fact{line: b.line, write: func(t testing.TB, tx pgx.Tx) error {
		return exec(t, tx, `UPDATE subscriptions.subscriptions SET register_update_date = register_update_date`+columns+
			` WHERE id = $1`, ID(name))
	}})
}

// history is an indented line: a transition, or a change without one.
func (b *book) history(w []string) {
	at := b.time(w[0])
	for _, name := range b.subjects {
		if w[1] == "set" {
			b.add(at, `UPDATE subscriptions.subscriptions SET register_update_date = $2`+b.columns(w[2:])+
				` WHERE id = $1`, ID(name), at)
			continue
		}
		if n, unborn := b.unborn[name]; unborn {
			b.facts[n].at, b.facts[n+1].at, b.born[name] = at, at, at
			delete(b.unborn, name)
		}
		b.transition(name, at, w[1], w[2], b.columns(w[3:]))
	}
}

func (b *book) transition(name string, at time.Time, to, reason, columns string) {
	b.facts = append(b.facts, fact{line: b.line, at: at, write: func(t testing.TB, tx pgx.Tx) error {
		var from *string
		if b.status[name] != "" {
			from = new(b.status[name])
		}
		b.status[name] = to
		err := exec(t, tx, `UPDATE subscriptions.subscriptions SET status = $2, register_update_date = $3,
				started_at = CASE WHEN $2 = 'active' THEN coalesce(started_at, $3) ELSE started_at END,
				ended_at = CASE WHEN $2 IN ('cancelled', 'expired') THEN $3::timestamptz END`+columns+` WHERE id = $1`,
			ID(name), to, at)
		if err != nil {
			return err
		}
		return exec(t, tx,
			`INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
			SELECT id, customer_id, $2, $3, $4, $5, 'job' FROM subscriptions.subscriptions WHERE id = $1`, ID(name), at,
			from, to, reason)
	}})
}

// moved is what the audit trail tells of a plan that an admin changed.
func (b *book) moved(w []string) {
	at := b.time(w[3])
	b.add(at,
		`INSERT INTO accounts.audit_log (id, at, actor_name, action, path, resource, record_id, before, after, request_id)
		VALUES ($1, $2, 'root', 'subscription_update', '/api/v1/subscriptions', 'subscriptions', $3, jsonb_build_object('plan_id', $4), jsonb_build_object('plan_id', $5), '')`,
		ID("M"+w[0][1:]), at, ID(w[0]), w[1], w[2])
}

func (b *book) pay(w []string) {
	for _, name := range Names(b.t, w[0]) {
		for _, day := range w[2:] {
			at := b.time(day)
			b.add(at,
				`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
				SELECT gateway, 'pay_' || $2 || '_' || extract(epoch FROM $3::timestamptz), 'subscription', id, customer_id, $4, payment_method,
					CASE gateway WHEN 'gwa' THEN 'RECEIVED' ELSE 'paid' END, $3, $3, $3 FROM subscriptions.subscriptions WHERE id = $1`, ID(name), name, at, w[1])
			b.add(at, `UPDATE subscriptions.subscriptions SET last_payment_at = $2, payment_failures = 0 WHERE id = $1`,
				ID(name), at)
		}
	}
}

func (b *book) fail(w []string) {
	for n, day := range w[1:] {
		at := b.time(day)
		b.add(at,
			`INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
			SELECT gateway, 'pay_failed_' || $2, $3, 'subscription', id, price_cents, $4, $4 FROM subscriptions.subscriptions WHERE id = $1`, ID(w[0]), w[0], n+1, at)
		b.add(at, `UPDATE subscriptions.subscriptions SET payment_failures = payment_failures + 1 WHERE id = $1`,
			ID(w[0]))
	}
}

// payer is where a refund's or dispute's gateway and customer stand.
func payer(name string) (purpose, table string) {
	if strings.HasPrefix(name, "O") {
		return "order", "tickets.orders"
	}
	return "subscription", "subscriptions.subscriptions"
}

func (b *book) refund(w []string) {
	purpose, table := payer(w[1])
	requested := b.time(w[4])
	done := requested
	if len(w) > 5 {
		done = b.time(w[5])
	}
	b.add(requested,
		`INSERT INTO payments.refunds (id, gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, reason, admin,
			requested_at, created_at, updated_at)
		SELECT $1, gateway, 'pay_' || $2, '`+purpose+
			`', id, customer_id, $4, 'requested', 'admin', 'REFUND-' || $2, 'admin_refund', 'asked for by mail', 'root', $5, $5, $5
		FROM `+table+` WHERE id = $3`, ID(w[0]), w[0], ID(w[1]), w[2], requested)
	b.add(done,
		`UPDATE payments.refunds SET status = $2, refunded_at = CASE WHEN $2 = 'done' THEN $3::timestamptz END, updated_at = $3 WHERE id = $1`, ID(w[0]), w[3], done)
	if purpose == "subscription" && w[3] == "done" {
		b.add(done,
			`UPDATE subscriptions.subscriptions SET total_refunded_cents = total_refunded_cents + $2 WHERE id = $1`,
			ID(w[1]), w[2])
	}
}

func (b *book) dispute(w []string) {
	purpose, table := payer(w[1])
	opened := b.time(w[4])
	first := "open"
	if w[3] == "dismissed" {
		first = "inquiry"
	}
	b.add(opened,
		`INSERT INTO payments.disputes (id, gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, reason, state, native_status,
			opened_at, reported_at, created_at, updated_at)
		SELECT $1, gateway, 'du_' || $2, 'pi_' || $2, '`+purpose+
			`', id, customer_id, $4, 'fraudulent', $5, $5, $6, $6, $6, $6
		FROM `+table+` WHERE id = $3`, ID(w[0]), w[0], ID(w[1]), w[2], first, opened)
	if len(w) > 5 {
		b.add(b.time(w[5]),
			`UPDATE payments.disputes SET state = $2, native_status = $2, closed_at = $3, reported_at = $3, updated_at = $3 WHERE id = $1`, ID(w[0]), w[3], b.time(w[5]))
	}
}

func (b *book) event(w []string) {
	b.add(start,
		`INSERT INTO tickets.events (id, title, event_type, event_date, location, capacity, ticket_value_cents, is_sale_box_office, is_active)
		VALUES ($1, 'Event ' || $2, $3, $6, 'Cine Ipiranga', NULLIF($4, 0), $5, true, $7)`, ID(w[0]), w[0], w[1],
		number(b.t, w[2]), w[3], b.time(w[4]), w[5])
}

func (b *book) promo(w []string) {
	b.add(start,
		`INSERT INTO promos.promo_codes (id, code, title, code_type, is_active, event_id) VALUES ($1, $2, 'Promo ' || $3, $4, $5, CASE WHEN $4 = 'ticket' THEN $6 END)`,
		ID(w[0]), w[1], w[0], w[2], w[3], ID("E1"))
	b.add(start, `UPDATE promos.promo_codes SET register_update_date = register_update_date`+b.columns(w[4:])+
		` WHERE id = $1`, ID(w[0]))
}

func (b *book) redemption(w []string) {
	at, origin := b.time(w[3]), "redeem"
	var subscription, paid any
	if len(w) > 4 {
		origin, subscription, paid = "subscription", ID(strings.TrimPrefix(w[4], "subscription=")), at
	}
	b.add(at,
		`INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, tickets, subscription_id, paid_at, redeemed_at, created_at)
		SELECT id, $2, code, code_type, $3, $4, $5, $6, $7, $7 FROM promos.promo_codes WHERE id = $1`, ID(w[0]),
		ID(w[1]), origin, w[2], subscription, paid, at)
}

func (b *book) order(w []string) {
	at := b.time(w[8])
	id, customer, event, quantity, status, state := ID(w[0]), ID(w[1]), ID(w[2]), w[3], w[6], w[7]
	paid := state == "paid" || state == "refunded"
	b.add(at,
		`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, gateway_payment_id, payment_status, state,
			hold_until, paid_at, intent_open, created_at, updated_at)
		SELECT $1, $2, id, $4, ticket_value_cents, ticket_value_cents * $4, NULLIF($5, '-'), NULLIF($6, '-'), CASE WHEN $5 <> '-' THEN 'pay_' || $10 END, $7, $8,
			CASE WHEN $8 = 'reserved' THEN $9::timestamptz + interval '30 minutes' END, CASE WHEN $11 THEN $9::timestamptz END, false, $9, $9
		FROM tickets.events WHERE id = $3`, id, customer, event, number(b.t, quantity), w[4], w[5], status, state, at,
		w[0], paid)
	if !paid || w[4] == "-" {
		return
	}
	b.add(at,
		`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
		SELECT gateway, gateway_payment_id, 'order', id, customer_id, total_cents, payment_method, payment_status, $2, $2, $2 FROM tickets.orders WHERE id = $1`, id, at)
}

func (b *book) ticket(w []string) {
	var order, promo any
	switch {
	case strings.HasPrefix(w[1], "O"):
		order = ID(w[1])
	case strings.HasPrefix(w[1], "P"):
		promo = ID(w[1])
	}
	unpaid := len(w) > 5
	for range number(b.t, w[0]) {
		b.add(b.now.Add(-time.Minute),
			`INSERT INTO tickets.tickets (event_id, customer_id, order_id, promo_code_id, title, status, holds_place, reason, consumed_at)
			VALUES ($1, $2, $3, $4, 'Ticket', $5, $6, 'golden', CASE WHEN $5 = 'consumed' THEN $7::timestamptz END)`,
			ID(w[3]), ID(w[2]), order, promo, w[4], !unpaid, b.now)
	}
}

// sale is one of the box office, of a buyer whom no account knows, with its tickets.
func (b *book) sale(w []string) {
	at := b.time(w[5])
	id, buyer := ID(w[0]), ID("W"+w[0][1:])
	b.add(at, `INSERT INTO tickets.customers (id, name, email) VALUES ($1, 'Walk-in ' || $2, '')`, buyer, w[0])
	b.add(at,
		`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, payment_method, payment_status, state,
			paid_at, intent_open, created_at, updated_at, sold_by_id, sold_by, note)
		SELECT $1, $2, id, $4, p.cents, p.cents * $4, $5, 'CONFIRMED', 'paid', $6, false, $6, $6, $7, lower($8), CASE $5 WHEN 'courtesy' THEN 'The press' END
		FROM tickets.events, LATERAL (SELECT CASE $5 WHEN 'courtesy' THEN 0 ELSE ticket_value_cents END AS cents) p WHERE id = $3`,
		id, buyer, ID(w[1]), number(b.t, w[2]), w[3], at, ID(w[4]), w[4])
	for range number(b.t, w[2]) {
		b.add(at,
			`INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason, actor_id) VALUES ($1, $2, $3, 'Ticket', 'available', 'box_office', $4)`,
			ID(w[1]), buyer, id, ID(w[4]))
	}
}

// handback is what staff handed back of some tickets of a sale.
func (b *book) handback(w []string) {
	at := b.time(w[4])
	b.add(at,
		`INSERT INTO payments.refunds (id, payment_ref, purpose, local_id, customer_id, amount_cents, kind, status, source, event_id, event_type, reason, admin, admin_id,
			requested_at, refunded_at, created_at, updated_at)
		SELECT $1, id, 'order', id, customer_id, unit_price_cents * $3, 'by_hand', 'done', 'admin', 'REFUND-' || $4, 'BOX_OFFICE.REFUND', 'Changed their mind', lower($5), $6,
			$7, $7, $7, $7 FROM tickets.orders WHERE id = $2`, ID(w[0]), ID(w[1]), number(b.t, w[2]), w[0], w[3], ID(w[3]), at)
	b.add(at,
		`UPDATE tickets.tickets SET refund_id = $1, refund_asked_at = $4, refunded_at = $4, status = 'expired', holds_place = false, reason = 'refunded'
		WHERE id IN (SELECT id FROM tickets.tickets WHERE order_id = $2 ORDER BY id LIMIT $3)`,
		ID(w[0]), ID(w[1]), number(b.t, w[2]), at)
}

func number(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}
