package histories_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// never are counts of what must not be, at any time.
var never = map[string]string{
	"two live subscriptions of a customer": `SELECT count(*) FROM (SELECT 1 FROM subscriptions.subscriptions
		WHERE status IN ('active', 'pending', 'suspended') GROUP BY customer_id HAVING count(*) > 1) x`,
	"a history that does not end in the state": `SELECT count(*) FROM subscriptions.subscriptions s WHERE s.status <>
		(SELECT to_status FROM subscriptions.transitions t WHERE t.subscription_id = s.id ORDER BY id DESC LIMIT 1)`,
	"a history with a gap": `SELECT count(*) FROM (SELECT from_status, lag(to_status) OVER (PARTITION BY subscription_id ORDER BY id) AS before
		FROM subscriptions.transitions) x WHERE before IS NOT NULL AND from_status IS DISTINCT FROM before`,
	"an ended one without an instant": `SELECT count(*) FROM subscriptions.subscriptions WHERE (ended_at IS NULL) = (status IN ('cancelled', 'expired'))`,
	"a pointer to what is not live": `SELECT count(*) FROM accounts.users u JOIN subscriptions.subscriptions s ON s.id = u.current_subscription_id
		WHERE s.status IN ('cancelled', 'expired') OR s.customer_id <> u.id`,
	"a live one that is not current": `SELECT count(*) FROM accounts.users u JOIN subscriptions.subscriptions s ON s.customer_id = u.id
		WHERE s.status IN ('active', 'pending', 'suspended') AND u.current_subscription_id IS DISTINCT FROM s.id`,
	"more given back than paid": `SELECT count(*) FROM (SELECT p.amount_cents, sum(r.amount_cents) AS back FROM payments.payments p
		JOIN payments.refunds r ON r.gateway = p.gateway AND r.payment_ref IN (p.gateway_payment_id, p.payment_intent_id) AND r.status <> 'failed'
		GROUP BY p.id) x WHERE back > amount_cents`,
	"an open intent that nobody asks about":     `SELECT count(*) FROM subscriptions.subscriptions WHERE intent_open AND recovery_at IS NULL`,
	"a debit that two payments share":           `SELECT count(*) FROM (SELECT 1 FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL GROUP BY gateway_payment_id HAVING count(*) > 1) x`,
	"a promo code of a customer redeemed twice": `SELECT count(*) FROM (SELECT 1 FROM promos.redemptions GROUP BY customer_id, code HAVING count(*) > 1) x`,
	"a promo code held by what ended unpaid":    `SELECT count(*) FROM promos.redemptions r JOIN subscriptions.subscriptions s ON s.id = r.subscription_id WHERE r.redeemed_at IS NULL AND s.status <> 'pending'`,
	"a started one whose promo code is not used": `SELECT count(*) FROM subscriptions.subscriptions s WHERE promo_code IS NOT NULL AND started_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM promos.redemptions r WHERE r.subscription_id = s.id AND r.paid_at IS NOT NULL)
		AND NOT EXISTS (SELECT 1 FROM promos.redemptions r WHERE r.customer_id = s.customer_id AND r.code = s.promo_code AND r.paid_at IS NOT NULL)`,
}

// neverAtRest are counts of what must not be once everything has come to its end.
var neverAtRest = map[string]string{
	"a total that the ledger does not have": `SELECT count(*) FROM subscriptions.subscriptions s WHERE total_refunded_cents <>
		coalesce((SELECT sum(amount_cents) FROM payments.refunds r WHERE r.local_id = s.id AND r.status = 'done'), 0)`,
	"an intent that stays open":  `SELECT count(*) FROM subscriptions.subscriptions WHERE intent_open AND register_date < $1::timestamptz - interval '6 hours'`,
	"a pending one that is paid": `SELECT count(*) FROM subscriptions.subscriptions s WHERE status = 'pending' AND EXISTS (SELECT 1 FROM payments.payments p WHERE p.local_id = s.id)`,
	"access after its end":       `SELECT count(*) FROM subscriptions.subscriptions WHERE status IN ('active', 'suspended') AND expires_at < $1::timestamptz - interval '1 hour'`,
	"an active one that is disputed": `SELECT count(*) FROM subscriptions.subscriptions s WHERE status = 'active' AND EXISTS (
		SELECT 1 FROM payments.disputes d WHERE d.local_id = s.id AND d.state = 'open')
		AND NOT EXISTS (SELECT 1 FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.source = 'admin' AND t.to_status = 'active')`,
	"an event that is not applied":   `SELECT count(*) FROM payments.processed_events WHERE state = 'queued'`,
	"a refund nobody knows about":    `SELECT count(*) FROM payments.refunds WHERE status = 'requested' AND requested_at < $1::timestamptz - interval '6 hours'`,
	"a job that was given up":        `SELECT count(*) FROM jobs.river_job WHERE state IN ('discarded', 'cancelled')`,
	"an account that is not removed": `SELECT count(*) FROM accounts.deletions d WHERE d.erased_at IS NULL`,
}

// count runs counts in one query and reports the first that is not 0.
func (h *history) count(all map[string]string) {
	h.t.Helper()
	var parts []string
	for what, query := range all {
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS what, (%s) AS n", what, query))
	}
	slices.Sort(parts)
	rows, err := h.db.Query(context.Background(), "SELECT what FROM ("+strings.Join(parts, " UNION ALL ")+") x WHERE n > 0 AND $1::timestamptz IS NOT NULL ORDER BY what", h.now())
	require.NoError(h.t, err)
	wrong, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(h.t, err)
	if len(wrong) > 0 {
		h.fail(wrong[0], "%v", wrong)
	}
}

// checkStep is what holds after each step, whatever is still on its way.
func (h *history) checkStep() {
	h.count(never)
	for _, p := range h.persons {
		if h.watches(p) {
			h.checkPaid(p)
		}
	}
}

// watches asks as the catalogue does.
func (h *history) watches(p person) bool {
	var ok bool
	part := h.subscriptions.AccessPart(p.id, h.now(), func(active bool) { ok = active })
	require.NoError(h.t, postgres.Parts{part}.Ask(context.Background(), h.db))
	return ok
}

const reasonSQL = `SELECT s.id, s.gateway, coalesce(s.gwa_subscription_id, s.gwb_subscription_id, '') AS remote,
	s.status = 'active'
	AND (s.trial_days > 0 OR s.first_amount_cents = 0
		OR EXISTS (SELECT 1 FROM payments.payments p WHERE p.local_id = s.id AND p.amount_cents > 0)
		OR EXISTS (SELECT 1 FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.source = 'admin' AND t.to_status = 'active')) AS known
	FROM subscriptions.subscriptions s WHERE s.customer_id = $1 AND s.status IN ('active', 'pending', 'suspended')`

// checkPaid finds why somebody may watch: money in the ledger, or at the gateway
// with its news on the way; a free beginning; an admin.
func (h *history) checkPaid(p person) {
	var id objectid.ID
	var gateway, remote string
	var known bool
	require.NoError(h.t, h.db.QueryRow(context.Background(), reasonSQL, p.id).Scan(&id, &gateway, &remote, &known))
	if known || h.paidAt(payments.GatewayName(gateway), id, remote) {
		return
	}
	h.fail("access without money", "%s %s", p.name, id)
}

// paidAt reports whether the gateway has money for the subscription.
func (h *history) paidAt(name payments.GatewayName, id objectid.ID, remote string) bool {
	if name == payments.GWA {
		for _, a := range h.gateways.list(h.t, name, "/v3/pix/automatic/authorizations") {
			if str(a, "contractId") == id.String() && str(a, "status") != "CREATED" && str(a, "status") != "REFUSED" {
				return true // its first code was paid
			}
		}
		return len(h.paymentsA(func(p object) bool {
			return settled[str(p, "status")] && (str(p, "externalReference") == id.String() || remote != "" && str(p, "subscription") == remote)
		})) > 0
	}
	for _, i := range h.gateways.list(h.t, name, "/v1/invoices?status=paid") {
		parent, _ := i["parent"].(object)
		details, _ := parent["subscription_details"].(object)
		if remote != "" && str(details, "subscription") == remote {
			return true
		}
	}
	return slices.ContainsFunc(h.chargesB(), func(c object) bool {
		metadata, _ := c["metadata"].(object)
		return str(metadata, "local_subscription_id") == id.String()
	})
}

// checkRest is what holds once everything has come to its end.
func (h *history) checkRest() {
	h.count(never)
	h.count(neverAtRest)
	h.checkMoney()
	h.checkRunning()
	h.checkMonths()
	for _, p := range h.persons {
		if h.watches(p) {
			h.checkPaid(p)
		}
	}
}

const liveSQL = `SELECT gwa_subscription_id, gwb_subscription_id, gwa_pix_auth_id, pix_payment_id FROM subscriptions.subscriptions
	WHERE status IN ('active', 'pending', 'suspended')`

// checkRunning: nothing runs or can be paid at a gateway for what has ended here.
func (h *history) checkRunning() {
	live := map[string]bool{}
	rows, err := h.db.Query(context.Background(), liveSQL)
	require.NoError(h.t, err)
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		var ids [4]*string
		err := row.Scan(&ids[0], &ids[1], &ids[2], &ids[3])
		for _, id := range ids {
			if id != nil {
				live[*id] = true
			}
		}
		return struct{}{}, err
	})
	require.NoError(h.t, err)
	running := func(what string, all []object, states ...string) {
		for _, o := range all {
			if slices.Contains(states, str(o, "status")) && !live[str(o, "id")] {
				h.fail(what+" without a live subscription", "%v", o)
			}
		}
	}
	running("recurrence of gateway A", h.gateways.list(h.t, payments.GWA, "/v3/subscriptions"), "ACTIVE")
	running("recurrence of gateway B", h.gateways.list(h.t, payments.GWB, "/v1/subscriptions"), "active", "trialing", "past_due", "unpaid", "incomplete")
	running("authorization", h.gateways.list(h.t, payments.GWA, "/v3/pix/automatic/authorizations"), "ACTIVE", "CREATED")
	running("code of gateway A", h.paymentsA(isOpenPix), "PENDING", "OVERDUE")
	running("code of gateway B", h.intentsB(showsPix), "requires_action")
}

const monthsSQL = `SELECT s.id, s.period_months * 1.0, coalesce(s.expires_at, s.next_billing_date), min(p.settled_at), count(p.id),
	(SELECT count(DISTINCT f.gateway_payment_id) FROM payments.failed_attempts f WHERE f.local_id = s.id AND NOT EXISTS (
		SELECT 1 FROM payments.payments q WHERE q.gateway_payment_id = f.gateway_payment_id)), coalesce(s.gwa_subscription_id, s.gwb_subscription_id, ''), s.gwa_subscription_id IS NOT NULL
	FROM subscriptions.subscriptions s JOIN payments.payments p ON p.local_id = s.id
	WHERE s.status IN ('active', 'suspended') GROUP BY s.id ORDER BY s.id`

// monthSlack is how many days months may differ in length.
const monthSlack = 5.0

// checkMonths: months charged are months granted, those added whose charge failed
// and which a suspension answers. What admins dated is left out, and so is what a
// step hurried at the gateway.
func (h *history) checkMonths() {
	rows, err := h.db.Query(context.Background(), monthsSQL)
	require.NoError(h.t, err)
	defer rows.Close()
	for rows.Next() {
		var id objectid.ID
		var period, paid, failed float64
		var until *time.Time
		var first time.Time
		var remote string
		var ahead bool
		require.NoError(h.t, rows.Scan(&id, &period, &until, &first, &paid, &failed, &remote, &ahead))
		if h.touched[id.String()] || h.touched[remote] {
			continue
		}
		if until == nil {
			h.fail("a paid subscription without an end", "%s", id)
		}
		granted := until.Sub(first).Hours() / 24
		const month = 30.44
		least, most := paid*period*month, (paid+failed)*period*month
		if ahead { // gateway A tells the due date after the charge that it has made ahead, 40 days before it is due
			most += 2 * month
		}
		if granted < math.Floor(least-monthSlack) || granted > math.Ceil(most+monthSlack) {
			h.fail("months charged are not months granted", "%s: %.0f payments, %.0f failed, of %.0f months each; %.1f days granted from %s to %s",
				id, paid, failed, period, granted, first, until)
		}
	}
}
