package app_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
)

// queuedOrders are the jobs of the release before that carry an order out, each with a row that is open for it and what
// has become of the row, or of what it is of, once the job is worked.
var queuedOrders = map[string]struct {
	open func(o *office) (row string)
	done string
	with string // what its arguments say in place of told
}{
	"subscriptions_pause": {open: func(o *office) string {
		o.act("/subscriptions/", o.subscribed("gwb"), "/chargeback", obj{"reason": "told by the bank"})
		return o.text("SELECT id FROM subscriptions.pauses WHERE state = 'pausing'")
	}, done: "SELECT state = 'paused' FROM subscriptions.pauses WHERE id = $1"},
	"subscriptions_charge_move": {open: func(o *office) string {
		o.act("/admin/subscriptions/", o.subscribed("gwb"), "/extend", obj{"days": 60})
		return o.text("SELECT id FROM subscriptions.charge_moves WHERE state = 'open'")
	}, done: "SELECT state = 'done' FROM subscriptions.charge_moves WHERE id = $1"},
	"subscriptions_plan_move": {open: func(o *office) string {
		id := o.subscribed("gwb")
		subscriptionstest.Plan(o.t, o.DB, "dearer", 9990)
		return o.Insert(`INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, from_cents, next_try_at, register_date)
			VALUES (platform.new_object_id(), $1, 'dearer', 4990, now() + interval '1 hour', now())`, id).String()
	}, done: "SELECT m.state = 'done' AND s.plan_id = 'dearer' FROM subscriptions.plan_moves m JOIN subscriptions.subscriptions s ON s.id = m.subscription_id WHERE m.id = $1"},
	"subscriptions_recover": {open: func(o *office) string {
		id := o.lost("/v1/subscriptions", func() string { return o.subscribed("gwb") })
		o.Exec("UPDATE payments.intents SET next_look_at = now() + interval '1 hour', leased_until = NULL WHERE state = 'open'")
		return id
	}, done: "SELECT status = 'active' AND NOT intent_open FROM subscriptions.subscriptions WHERE id = $1"},
	"subscriptions_end_at_gateway":      {open: notEndedThere, done: endedThere},
	"subscriptions_end_at_gateway told": {open: notEndedThere, done: endedThere, with: `, "told": true`},
	"subscriptions_stop_recurrence": {open: func(o *office) string {
		id := o.subscribed("gwa")
		o.Exec("UPDATE subscriptions.subscriptions SET cancel_at_period_end = true, expires_at = now() + interval '20 days' WHERE id = $1", id)
		return id
	}, done: "SELECT status = 'active' AND gateway_deleted_at IS NOT NULL FROM subscriptions.subscriptions WHERE id = $1"},
	"subscriptions_renewal_charge": {open: func(o *office) string {
		_, client := o.NewCustomer()
		id := idIn(client.Post("/gwb/subscribe/pix", obj{"plan_id": subscriptionstest.PlanID}).Expect(http.StatusCreated))
		code := o.text("SELECT pix_payment_id FROM subscriptions.subscriptions WHERE id = '" + id + "'")
		require.NoError(o.t, o.Gateways.Sandbox.GWB.PayPIX(code))
		o.Settle()
		o.Exec("UPDATE subscriptions.subscriptions SET expires_at = now() + interval '2 days' WHERE id = $1", id)
		client.Post("/customers/me/subscription/renew/pix", nil).Expect(http.StatusCreated)
		o.Exec("UPDATE subscriptions.renewal_charges SET payable_until = now() - interval '1 hour'")
		return o.text("SELECT id FROM subscriptions.renewal_charges WHERE state = 'open'")
	}, done: "SELECT state = 'gone' FROM subscriptions.renewal_charges WHERE id = $1"},
	"payments_refund_recover": {open: func(o *office) string {
		id := o.subscribed("gwb")
		o.Gateways.Sandbox.SetWebhooks(sandbox.Webhooks{}) // which would tell of it
		return o.lost("/v1/refunds", func() string {
			o.root.Post("/subscriptions/"+id+"/refund", obj{"reason": "as promised"}).Expect(http.StatusServiceUnavailable)
			o.Exec("UPDATE payments.refunds SET requested_at = now() - interval '1 hour'")
			return o.text("SELECT id FROM payments.refunds WHERE status = 'requested'")
		})
	}, done: "SELECT status = 'done' FROM payments.refunds WHERE id = $1"},
}

// notEndedThere is a subscription that was cancelled while gateway B did not answer.
func notEndedThere(o *office) string {
	id := o.subscribed("gwb")
	require.NoError(o.t, o.Gateways.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
		Method: http.MethodDelete, Path: "/v1/subscriptions", Kind: stage.FaultResetBefore, Times: 9,
	}))
	o.act("/subscriptions/", id, "/cancel", nil)
	o.Gateways.Sandbox.GWB.Stage().Faults.Clear()
	return id
}

const endedThere = "SELECT status = 'cancelled' AND gateway_ended_at IS NOT NULL FROM subscriptions.subscriptions WHERE id = $1"

// lost has the answers of a call at gateway B be lost, once it has acted.
func (o *office) lost(path string, call func() string) string {
	o.t.Helper()
	faults := o.Gateways.Sandbox.GWB.Stage().Faults
	require.NoError(o.t,
		faults.Plan(stage.Fault{Method: http.MethodPost, Path: path, Kind: stage.FaultResetAfter, Times: 9}))
	defer faults.Clear()
	return call()
}

func (o *office) text(sql string) (s string) {
	o.t.Helper()
	require.NoError(o.t, o.DB.QueryRow(o.t.Context(), sql).Scan(&s))
	return s
}

// TestQueuedJobsCarryTheirOrdersOut: the release before may have made their rows without intents, and nothing but its job
// knows of them.
func TestQueuedJobsCarryTheirOrdersOut(t *testing.T) {
	t.Parallel()
	for name, order := range queuedOrders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, _, _ := strings.Cut(name, " ")
			o := openOffice(t)
			row := order.open(o)
			if kind != "subscriptions_recover" { // made with its intent by that release, too
				o.Exec("DELETE FROM payments.intents")
			}
			o.Exec("DELETE FROM jobs.river_job")
			args := regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(queuedJobs[kind], row)
			args = strings.ReplaceAll(args, `, "told": true`, order.with)
			o.Exec(`INSERT INTO jobs.river_job (kind, args, max_attempts, queue, state, priority, scheduled_at) VALUES ($1, $2, 10, 'gateway', 'available', 1, now())`, kind, args)
			o.Work()
			require.Eventually(t, func() bool { return o.is(order.done, row) }, 2*time.Minute, 100*time.Millisecond)
		})
	}
}

func (o *office) is(sql string, args ...any) (is bool) {
	o.t.Helper()
	require.NoError(o.t, o.DB.QueryRow(o.t.Context(), sql, args...).Scan(&is))
	return is
}
