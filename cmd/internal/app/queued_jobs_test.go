package app_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/objectid"
)

// queuedJobs are all kinds of jobs that a release before may have left in the queue, with
// their arguments as it wrote them: a kind or field that is renamed needs an alias. Ids in
// braces are those of the test's own rows.
var queuedJobs = map[string]string{
	"accounts_erase_customer":             `{"customer_id": "{none}"}`,
	"accounts_fill_skeletons":             `{}`,
	"accounts_resend_verification":        `{"user_id": "{customer}"}`,
	"accounts_send_code":                  `{"code_id": "{none}"}`,
	"accounts_send_email_notice":          `{"change_id": "{none}", "changed": true, "username": "changed"}`,
	"accounts_send_reset":                 `{"user_id": "{customer}"}`,
	"accounts_sweep_codes":                `{}`,
	"accounts_sweep_deletions":            `{}`,
	"accounts_sync_subscription":          `{"customer_id": "{customer}"}`,
	"files_sweep_archive_tokens":          `{}`,
	"files_sweep_orphans":                 `{}`,
	"finance_check":                       `{}`,
	"finance_fold":                        `{}`,
	"finance_invariants":                  `{}`,
	"finance_sweep_exports":               `{}`,
	"finance_write_export":                `{"export_id": "{none}"}`,
	"idempotency_purge":                   `{}`,
	"operators_mail":                      `{"to": "ops@example.com", "subject": "A word", "text": "Said."}`,
	"payments_event_retry":                `{"gateway": "gwb", "event_id": "evt_none"}`,
	"payments_event_told":                 `{"gateway": "gwa", "event_id": "evt_none", "misses": 1}`,
	"payments_events_replay":              `{"gateway": "gwb", "subjects": ["{subscription}"]}`,
	"payments_forget_person":              `{"subjects": ["{none}"]}`,
	"payments_intents_look":               `{"gateway": "gwa"}`,
	"payments_refund_recover":             `{"refund_id": "{refund}"}`,
	"payments_refunds_adopt":              `{}`,
	"payments_unapplied":                  `{"id": "{none}"}`,
	"payments_unapplied_mail":             `{"id": "{unapplied}"}`,
	"payments_unapplied_sweep":            `{}`,
	"payments_webhook_log_months":         `{}`,
	"catalog_run_import":                  `{"import_id": "{none}"}`,
	"catalog_sweep_imports":               `{}`,
	"platform_bulk_act":                   `{"bulk_id": "{none}"}`,
	"platform_bulk_purge":                 `{}`,
	"subscriptions_authorization_refused": `{"subscription_id": "{subscription}", "event_id": "evt_none", "authorization_id": "aut_none"}`,
	"subscriptions_charge_move":           `{"move_id": "{charge_move}", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_debit":                 `{"subscription_id": "{subscription}", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_debit_retry":           `{"subscription_id": "{subscription}", "cycle": "2026-12-10", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_drop_pix":              `{"subscription_id": "{subscription}", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_dunning_mail":          `{"subscription_id": "{subscription}", "payment_id": "in_none", "day": 3}`,
	"subscriptions_end_at_gateway":        `{"subscription_id": "{subscription}", "told": true}`,
	"subscriptions_end_stray":             `{"gateway": "gwb", "recurrence_id": "sub_none", "subscription_id": "{none}", "payment_id": "in_none", "customer_id": "cus_none"}`,
	"subscriptions_expire":                `{"subscription_id": "{subscription}", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_follow_recurrence":     `{"subscription_id": "{subscription}", "event_id": "evt_none", "moved": true}`,
	"subscriptions_give_back":             `{"subscription_id": "{subscription}"}`,
	"subscriptions_late_money":            `{"subscription_id": "{subscription}", "payment_id": "in_none", "event_id": "evt_none", "first": false, "misses": 1}`,
	"subscriptions_pause":                 `{"pause_id": "{pause}", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_plan_move":             `{"move_id": "{plan_move}", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_reconcile":             `{}`,
	"subscriptions_recover":               `{"subscription_id": "{subscription}", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_renewal_charge":        `{"charge_id": "{renewal_charge}", "at": "2026-11-01T10:00:00Z"}`,
	"subscriptions_stop_recurrence":       `{"subscription_id": "{subscription}"}`,
	"subscriptions_stray_money":           `{"gateway": "gwb", "payment_id": "in_none", "customer_id": "cus_none", "reference": "{none}"}`,
	"subscriptions_sweep":                 `{}`,
	"subscriptions_trial_uses":            `{}`,
	"tickets_event_mail":                  `{"event_id": "{event}", "customer_id": "{customer}", "template": "ticket-event-moved", "old": {"start": "2098-12-01T20:00:00Z", "location": "Sala 1"}}`,
	"tickets_give_back":                   `{}`,
	"tickets_live_money":                  `{"order_id": "{order}", "payment_id": "pay_none", "event_id": "evt_none", "misses": 1}`,
	"tickets_mail":                        `{"order_id": "{order}", "template": "ticket-confirmation"}`,
	"tickets_refund":                      `{"order_id": "{order}", "payment_id": "pay_none", "after": "{none}"}`,
	"tickets_refund_shares":               `{"order_id": "{order}", "ticket_ids": ["{ticket}"]}`,
	"tickets_sweep":                       `{}`,
}

// A new kind of job is left in the queue by the next update: it takes its place in the list at once.
func TestEveryKindOfJobIsListed(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, slices.Collect(maps.Keys(queuedJobs)), platformtest.New(t).JobKinds())
}

// TestJobsOfTheReleaseBeforeAreWorked: an update finds them in the queue.
func TestJobsOfTheReleaseBeforeAreWorked(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.patron()
	var refund, event, ticket string
	require.NoError(t,
		o.DB.QueryRow(t.Context(),
			`SELECT (SELECT id FROM payments.refunds LIMIT 1), (SELECT id FROM tickets.events LIMIT 1),
		(SELECT id FROM tickets.tickets WHERE order_id = $1 LIMIT 1)`, p.order).Scan(&refund, &event, &ticket))
	pause := o.Insert(`INSERT INTO subscriptions.pauses (id, subscription_id, since, register_date)
		VALUES (platform.new_object_id(), $1, now(), now())`, p.subscription)
	chargeMove := o.Insert(`INSERT INTO subscriptions.charge_moves (id, subscription_id, from_at, to_at, register_date)
		VALUES (platform.new_object_id(), $1, now() + interval '30 days', now() + interval '60 days', now())`, p.subscription)
	planMove := o.Insert(`INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, register_date)
		VALUES (platform.new_object_id(), $1, 'fixture-plan', now())`, p.subscription)
	charge := o.Insert(`INSERT INTO subscriptions.renewal_charges (id, subscription_id, customer_id, gateway, amount_cents,
			state, payable_until, intent_open, register_date, register_update_date)
		VALUES (platform.new_object_id(), $1, $2, 'gwb', 4990, 'open', now() + interval '1 hour', false, now(), now())`,
		p.subscription, p.id)
	unapplied := o.unapplied("gwb")
	o.Exec(`INSERT INTO payments.unapplied_decisions (unapplied_id, at, to_state, source) VALUES ($1, now(), 'open', 'platform')`, unapplied)
	ids := strings.NewReplacer("{customer}", p.id.String(), "{subscription}", p.subscription, "{order}", p.order,
		"{refund}", refund, "{event}", event, "{ticket}", ticket,
		"{pause}", pause.String(), "{charge_move}", chargeMove.String(), "{plan_move}", planMove.String(),
		"{renewal_charge}", charge.String(), "{unapplied}", unapplied, "{none}", objectid.New().String())
	o.Exec(`DELETE FROM jobs.river_job`)
	for kind, args := range queuedJobs {
		o.Exec(`INSERT INTO jobs.river_job (kind, args, max_attempts, queue, state, priority, scheduled_at) VALUES ($1, $2, 10, 'gateway', 'available', 1, now())`, kind, ids.Replace(args))
	}
	o.Work()
	states := func() map[string]string {
		rows, err := o.DB.Query(t.Context(),
			`SELECT DISTINCT ON (kind) kind, CASE WHEN errors IS NULL THEN state::text ELSE errors[1]->>'error' END FROM jobs.river_job ORDER BY kind, id`)
		require.NoError(t, err)
		found := map[string]string{}
		var kind, state string
		_, err = pgx.ForEachRow(rows, []any{&kind, &state}, func() error { found[kind] = state; return nil })
		require.NoError(t, err)
		return found
	}
	isOpen := func(state string) bool { return state == "available" || state == "running" || state == "retryable" }
	require.Eventually(t, func() bool {
		for kind, state := range states() {
			if queuedJobs[kind] != "" && isOpen(state) {
				return false
			}
		}
		return true
	}, 2*time.Minute, 100*time.Millisecond)
	found := states()
	for kind := range queuedJobs {
		require.Equal(t, "completed", found[kind], kind)
	}
}
