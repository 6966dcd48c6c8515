package modeltest_test

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
)

// action is something that may happen, as often as its weight says.
type action struct {
	name   string
	weight int
	act    func(h *history, s step)
}

// actions are all of them, the simplest first: shrinking goes there.
var actions []action

var actionsByName = map[string]action{}

func init() { //nolint:gochecknoinits // the table refers to functions that look things up in it
	for _, part := range [][]action{
		clockActions, customerActions, ticketActions, gatewayActions, adminActions, replayActions,
	} {
		actions = append(actions, part...)
	}
	for _, a := range actions {
		actionsByName[a.name] = a
	}
}

// clockActions are time, webhooks and jobs.
var clockActions = []action{
	{"hours", 4, func(h *history, s step) { h.pass(s, time.Duration(1+s.Pick*3)*time.Hour) }},
	{"webhooks", 4, func(h *history, _ step) { h.gateways.collect(); h.travel(inOrder) }},
	{"jobs", 1, func(h *history, _ step) { h.workJobs(h.t, h.process) }},
	{"minutes", 2, func(h *history, s step) { h.pass(s, time.Duration(1+s.Pick)*time.Minute) }},
	{"days", 4, func(h *history, s step) { h.pass(s, time.Duration(1+s.Pick)*24*time.Hour) }},
	{"month", 5, func(h *history, s step) { h.pass(s, time.Duration(28+s.Pick%4)*24*time.Hour) }},
	{"old webhook", 3, func(h *history, s step) {
		if n := len(h.gateways.inbox); n > 0 {
			h.deliver(h.gateways.inbox[(s.Who*12+s.Pick)*7%n])
		}
	}},
	{"finance folds", 1, func(h *history, _ step) {
		_, err := h.finance.Fold(context.Background())
		require.NoError(h.t, err)
	}},
	{"sweep", 1, func(h *history, _ step) { h.sweep() }},
	{"reconcile", 2, func(h *history, s step) { h.reconcile(time.Duration(1+s.Pick*12) * 24 * time.Hour) }},
}

// sweep does what is due and was not done. That a gateway does not answer is no
// problem.
func (h *history) sweep() {
	h.process.run(context.Background(), func(ctx context.Context) { h.logError("sweep", h.subscriptions.Sweep(ctx)) })
}

func (h *history) reconcile(since time.Duration) {
	h.process.run(context.Background(), func(ctx context.Context) {
		_, err := h.subscriptions.Reconcile(ctx, payments.ReconcileOptions{Since: h.now().Add(-since)})
		h.logError("reconcile", err)
	})
}

func (h *history) logError(what string, err error) {
	if err != nil {
		h.logStep("%s: %v", what, err)
	}
}

// pass lets time pass, from one thing that happens to the next: the gateways' own
// doings, with their webhooks, and jobs that fall due. With later webhooks nothing
// is heard and no job is worked until the time is over.
func (h *history) pass(s step, span time.Duration) {
	target := h.now().Add(span)
	for range 10_000 {
		next := target
		if s.Mail != later {
			next = nextHappening(h, target)
		}
		h.moveTo(next)
		if s.Mail != later {
			h.gateways.collect()
			h.travel(s.Mail)
			sweepDueTickets(h)
			h.runStatusChecks()
		}
		if !next.Before(target) {
			return
		}
	}
	require.Fail(h.t, "time does not pass")
}

// dueChecksSQL are the gateways that something is to be asked about, and those that
// fail, which are probed.
const dueChecksSQL = `SELECT gateway FROM payments.intents WHERE state = 'open' AND greatest(next_look_at, leased_until) <= $1
	UNION SELECT gateway FROM payments.gateway_state WHERE failing_since IS NOT NULL ORDER BY gateway`

// runStatusChecks makes the turns of checks that are due, as the periodic job does.
func (h *history) runStatusChecks() {
	rows, err := h.db.Query(context.Background(), dueChecksSQL, h.now())
	require.NoError(h.t, err)
	gateways, err := pgx.CollectRows(rows, pgx.RowTo[gateway.Name])
	require.NoError(h.t, err)
	for _, gateway := range gateways {
		h.process.run(context.Background(), func(ctx context.Context) {
			h.process.many = true
			h.logError("looks", h.payments.Intents().CheckDue(ctx, gateway))
		})
		h.inTime(longestJob)
		h.process.many = false
	}
}

// nextJobSQL is when a job falls due, a check, or an order, which the tickets' sweep finds.
const nextJobSQL = `SELECT least((SELECT min(scheduled_at) FROM jobs.river_job WHERE state IN ('available', 'scheduled', 'retryable') AND scheduled_at > $1),
	(SELECT min(greatest(next_look_at, leased_until)) FROM payments.intents WHERE state = 'open' AND greatest(next_look_at, leased_until) > $1),
	(SELECT min(hold_until) FROM tickets.orders WHERE state = 'reserved' AND NOT intent_open AND hold_until > $1))`

// nextHappening is when something falls due, target at the latest.
func nextHappening(h *history, target time.Time) time.Time {
	var job *time.Time
	require.NoError(h.t, h.db.QueryRow(context.Background(), nextJobSQL, h.now()).Scan(&job))
	next := target
	if job != nil && job.Before(next) {
		next = *job
	}
	for _, clock := range []interface{ Next() (time.Time, bool) }{
		h.gateways.a.Stage().Clock, h.gateways.b.Stage().Clock,
	} {
		if due, ok := clock.Next(); ok && due.Before(next) {
			next = due
		}
	}
	// Whole milliseconds, and at least one: the platform's clock has no finer ones.
	if least := h.now().Add(time.Millisecond); next.Before(least) {
		return least
	}
	return next.Add(time.Millisecond - 1).Truncate(time.Millisecond)
}

func (h *history) moveTo(at time.Time) {
	by := at.Sub(h.now())
	require.NoError(h.t, h.gateways.a.Advance(by))
	_, err := h.gateways.b.Stage().Clock.Advance(by)
	require.NoError(h.t, err)
	h.at.Store(at.UnixMilli())
	if by > finishedFor/24 {
		h.forgetJobs()
	}
}

// rest lets everything come to its end: what is on its way arrives, what was lost
// is found.
func (h *history) rest() {
	h.logStep("rest at %s", h.now().Format(time.DateTime))
	h.process, h.step, h.trouble = &process{}, step{}, 0
	decideRefunds(h)
	h.travel(inOrder)
	h.pass(step{}, 6*time.Hour)
	h.sweep()
	h.sweepTickets()
	h.reconcile(h.now().Sub(starts[0]) + 400*24*time.Hour)
	h.gateways.collect()
	h.travel(inOrder)
	h.sweepTickets()
	h.pass(step{}, 6*time.Hour)
}

// decideRefunds has the gateways end the refunds that they take their time for:
// one that is under way for weeks is a matter for people.
func decideRefunds(h *history) {
	for _, p := range h.paymentsA(func(p object) bool { return str(p, "status") == "REFUND_IN_PROGRESS" }) {
		_, err := h.gateways.a.EndRefund(str(p, "id"), true)
		h.logError("refund", err)
	}
	for _, r := range h.gateways.list(h.t, gateway.GWB, "/v1/refunds") {
		if str(r, "status") == "pending" {
			h.logError("refund", h.gateways.b.FinishRefund(str(r, "id"), true))
		}
	}
	h.gateways.collect()
}

// subscription is what the steps need to know of a row.
type subscription struct {
	ID         objectid.ID `db:"id"`
	CustomerID objectid.ID `db:"customer_id"`
	Gateway    string      `db:"gateway"`
	Method     string      `db:"payment_method"`
	Status     string      `db:"status"`
	Remote     string      `db:"remote"`
}

const subscriptionsSQL = `SELECT id, customer_id, gateway, payment_method, status, coalesce(gwa_subscription_id, gwb_subscription_id, '') AS remote
	FROM subscriptions.subscriptions ORDER BY register_date DESC, id DESC`

// all are the subscriptions of the history, newest first.
func (h *history) all() []subscription {
	rows, err := h.db.Query(context.Background(), subscriptionsSQL)
	require.NoError(h.t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[subscription])
	require.NoError(h.t, err)
	return all
}

// pick takes one of the things that there are.
func pick[T any](all []T, n int) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[n%len(all)], true
}
