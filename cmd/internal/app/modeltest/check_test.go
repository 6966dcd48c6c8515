package modeltest_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/sql/invariants"
)

// always are the invariants that hold after each step, whatever is on its way;
// all of them hold once everything has come to its end.
var always = []string{
	"one_live_subscription", "current_subscription_live", "live_subscription_current",
	"subscription_status_is_history", "subscription_history_unbroken", "refunds_within_payments",
	"no_access_while_disputed", "redemptions_have_subscriptions", "debits_paid_once", "one_move_per_event",
	"events_claimed",
}

// neverSQL are further counts of what must not be, at any time.
var neverSQL = map[string]string{
	"an ended one without an instant": `SELECT 1 FROM subscriptions.subscriptions WHERE (ended_at IS NULL) = (status IN ('cancelled', 'expired'))`,
	"an open intent nobody asks about": `SELECT 1 FROM subscriptions.subscriptions s WHERE intent_open
		<> EXISTS (SELECT 1 FROM payments.intents i WHERE i.subject_id = s.id AND i.kind = 'subscription' AND i.state = 'open')`,
	"a debit that two cycles share":     `SELECT 1 FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL GROUP BY gateway_payment_id HAVING count(*) > 1`,
	"a promo code redeemed twice":       `SELECT 1 FROM promos.redemptions GROUP BY customer_id, code HAVING count(*) > 1`,
	"a started one with an unused code": `SELECT 1 FROM subscriptions.subscriptions s WHERE promo_code IS NOT NULL AND started_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM promos.redemptions r WHERE r.customer_id = s.customer_id AND r.code = s.promo_code AND r.paid_at IS NOT NULL)`,
}

// neverAtRestSQL are counts of what must not be once everything has come to its
// end.
var neverAtRestSQL = map[string]string{
	"a renewal order that stays open": `SELECT 1 FROM subscriptions.renewal_charges WHERE intent_open`,
	"an intent that stays open":       `SELECT 1 FROM payments.intents WHERE state = 'open'`,
	"a pending one that is paid":      `SELECT 1 FROM subscriptions.subscriptions s WHERE status = 'pending' AND EXISTS (SELECT 1 FROM payments.payments p WHERE p.local_id = s.id)`,
	"a refund nobody knows about":     `SELECT 1 FROM payments.refunds WHERE status = 'requested'`,
	"a job that was given up":         `SELECT 1 FROM jobs.river_job WHERE state IN ('discarded', 'cancelled')`,
	"access that nothing ends": `SELECT 1 FROM subscriptions.subscriptions s WHERE status = 'active' AND expires_at IS NULL AND NOT pix_automatic AND coalesce(gwa_subscription_id, gwb_subscription_id) IS NULL
		AND NOT EXISTS (SELECT 1 FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.source = 'admin' AND t.to_status = 'active')`,
	"an order that stays open":       `SELECT 1 FROM tickets.orders WHERE intent_open`,
	"an account that is not removed": `SELECT 1 FROM accounts.deletions d WHERE d.erased_at IS NULL`,
}

// soundness are the queries of one check in one statement, made once.
func soundness(atRest bool) string {
	var parts []string
	add := func(what, query string) {
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS what, count(*) AS n FROM (%s) x", what, query))
	}
	for _, i := range invariants.All() {
		// Jobs are told by the machine's clock there; and what a step has just begun may be unfinished.
		if i.Name != "jobs_done" && (atRest || slices.Contains(always, i.Name)) {
			add(i.Name, i.Query())
		}
	}
	for what, query := range neverSQL {
		add(what, query)
	}
	for what, query := range neverAtRestSQL {
		if atRest {
			add(what, query)
		}
	}
	slices.Sort(parts)
	return "SELECT what FROM (" + strings.Join(parts, " UNION ALL ") +
		") x WHERE n > 0 AND $1::timestamptz IS NOT NULL ORDER BY what"
}

var invariantsAfterStep, invariantsAtRest = soundness(false), soundness(true)

// checkInvariants runs the queries of a check and reports the first that finds something.
func checkInvariants(h *history, query string) {
	h.t.Helper()
	rows, err := h.db.Query(context.Background(), query, h.now())
	require.NoError(h.t, err)
	wrong, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(h.t, err)
	if len(wrong) > 0 {
		h.fail(wrong[0], "%v", wrong)
	}
}

// checkStep is what holds after each step, whatever is still on its way.
func checkStep(h *history) {
	checkInvariants(h, invariantsAfterStep)
	for _, p := range h.persons {
		if watches(h, p) {
			checkPaid(h, p)
		}
	}
}

// watches asks as the catalogue does.
func watches(h *history, p person) bool {
	var ok bool
	require.NoError(h.t,
		h.db.QueryRow(context.Background(), "SELECT has_access FROM subscriptions.has_access($1, $2)", p.id, h.now()).
			Scan(&ok))
	return ok
}

const reasonSQL = `SELECT s.id, s.gateway, coalesce(s.gwa_subscription_id, s.gwb_subscription_id, '') AS remote,
	s.status = 'active'
	AND (s.trial_days > 0 OR coalesce(s.first_amount_cents = 0, false)
		OR s.starts_at IS NOT NULL -- what it renews was paid until then
		OR EXISTS (SELECT 1 FROM payments.payments p WHERE p.local_id = s.id AND p.amount_cents > 0)
		OR EXISTS (SELECT 1 FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.source = 'admin' AND t.to_status = 'active')) AS known
	FROM subscriptions.subscriptions s WHERE s.customer_id = $1 AND s.status IN ('active', 'pending', 'suspended') ORDER BY s.status LIMIT 1`

// checkConnections: nothing that has ended keeps a connection, nothing took one
// while it held another, and no gateway was called meanwhile, or in a webhook.
func checkConnections(h *history) {
	h.t.Helper()
	if h.process.deadlock != "" {
		h.fail("the pool may lock up", "%s", h.process.deadlock)
	}
	if h.process.called != "" {
		h.fail("a gateway is called where it may not be", "%s", h.process.called)
	}
	for began := time.Now(); h.db.Stat().AcquiredConns() > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute { // a broken one is closed besides
			h.fail("a connection is not given back", "%s", h.connections.taken())
		}
	}
}

// checkPaid finds why somebody may watch: money in the ledger, or at the gateway
// with its news on the way; a free beginning; an admin.
func checkPaid(h *history, p person) {
	var id objectid.ID
	var name, remote string
	var known bool
	require.NoError(h.t, h.db.QueryRow(context.Background(), reasonSQL, p.id).Scan(&id, &name, &remote, &known))
	if known || paidAt(h, gateway.Name(name), id, remote) {
		return
	}
	h.fail("access without money", "%s %s", p.name, id)
}

// paidAt reports whether the gateway has money for the subscription.
func paidAt(h *history, name gateway.Name, id objectid.ID, remote string) bool {
	if name == gateway.GWA {
		for _, a := range h.gateways.list(h.t, name, "/v3/pix/automatic/authorizations") {
			if str(a, "contractId") == id.String() && str(a, "status") != "CREATED" && str(a, "status") != "REFUSED" {
				return true // its first code was paid
			}
		}
		return len(h.paymentsA(func(p object) bool {
			return settled[str(p, "status")] &&
				(str(p, "externalReference") == id.String() || remote != "" && str(p, "subscription") == remote)
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
func checkRest(h *history) {
	checkConnections(h)
	checkInvariants(h, invariantsAtRest)
	checkMoney(h)
	checkPrices(h)
	checkFinance(h)
	checkRunning(h)
	checkMonths(h)
	for _, p := range h.persons {
		if watches(h, p) {
			checkPaid(h, p)
		}
	}
}

const liveSQL = `SELECT CASE WHEN NOT cancel_at_period_end THEN gwa_subscription_id END, gwb_subscription_id,
	CASE WHEN NOT cancel_at_period_end THEN gwa_pix_auth_id END, pix_payment_id FROM subscriptions.subscriptions
	WHERE status IN ('active', 'pending', 'suspended')
	UNION ALL SELECT gateway_payment_id, NULL, NULL, NULL FROM subscriptions.renewal_charges WHERE state = 'open'
	UNION ALL SELECT gateway_payment_id, NULL, NULL, NULL FROM tickets.orders WHERE state = 'reserved'`

// checkRunning: nothing runs or can be paid at a gateway for what has ended here.
func checkRunning(h *history) {
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
	running("recurrence of gateway A", h.gateways.list(h.t, gateway.GWA, "/v3/subscriptions"), "ACTIVE")
	running("recurrence of gateway B", h.gateways.list(h.t, gateway.GWB, "/v1/subscriptions"), "active", "trialing",
		"past_due", "unpaid", "incomplete")
	running("authorization", h.gateways.list(h.t, gateway.GWA, "/v3/pix/automatic/authorizations"), "ACTIVE", "CREATED")
	running("code of gateway A", h.paymentsA(isOpenPix), "PENDING", "OVERDUE")
	running("code of gateway B", h.intentsB(hasPix), "requires_action")
}

const monthsSQL = `SELECT s.id, s.period_months * 1.0, coalesce(s.expires_at, s.next_billing_date), min(p.settled_at), count(p.id),
	(SELECT count(DISTINCT f.gateway_payment_id) FROM payments.failed_attempts f WHERE f.local_id = s.id AND NOT EXISTS (
		SELECT 1 FROM payments.payments q WHERE q.gateway_payment_id = f.gateway_payment_id)), coalesce(s.gwa_subscription_id, s.gwb_subscription_id, ''), s.gwa_subscription_id IS NOT NULL
	FROM subscriptions.subscriptions s JOIN payments.payments p ON p.local_id = s.id
	WHERE s.status IN ('active', 'suspended') AND NOT EXISTS (SELECT 1 FROM subscriptions.pauses q WHERE q.subscription_id = s.id) -- what was paused is charged for less
	GROUP BY s.id ORDER BY s.id`

// monthSlack is how many days months may differ in length.
const monthSlack = 5.0

// checkMonths: months charged are months granted, those added whose charge failed
// and which a suspension answers. What admins dated is left out, and so is what a
// step hurried at the gateway.
func checkMonths(h *history) {
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
			h.fail("months charged are not months granted",
				"%s: %.0f payments, %.0f failed, of %.0f months each; %.1f days granted from %s to %s",
				id, paid, failed, period, granted, first, until)
		}
	}
}
