package main_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
)

// unapplied puts the payment that was made on the list of those that gave nobody
// anything.
func (o *outside) unapplied(automatic bool) {
	o.t.Helper()
	o.exec(`WITH listed AS (
			INSERT INTO payments.unapplied_payments (kind, gateway, subject, gateway_payment_id, amount_cents, customer_id, subscription_id, automatic, created_at, updated_at)
			SELECT 'duplicate', gateway, gateway_payment_id, gateway_payment_id, amount_cents, customer_id, local_id, $1, now(), now() FROM payments.payments
			RETURNING id, amount_cents
		) INSERT INTO payments.unapplied_decisions (unapplied_id, at, to_state, source, amount_cents) SELECT id, now(), 'open', 'platform', amount_cents FROM listed`, automatic)
}

// killedRefundingByItself: a refund that the platform decided and did not ask for is
// made by the next sweep, once.
func killedRefundingByItself(o *outside, step string) {
	o.serve("")
	o.subscribed(o.login())
	o.unapplied(true)
	dying := o.start("work", step)
	o.periodic("payments_unapplied_sweep")
	<-dying.exited
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunding'`))
	require.Equal(o.t, 0, o.count(`SELECT count(*) FROM payments.refunds`))
	o.exec(`UPDATE payments.unapplied_payments SET updated_at = now() - interval '6 minutes'`)
	o.start("work", "")
	eventually(o.t, "the refund was not made", func() bool {
		o.periodic("payments_unapplied_sweep")
		return o.count(`SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunded'`) == 1
	})
	require.Equal(o.t, 1,
		o.count(`SELECT count(*) FROM payments.refunds WHERE status = 'done' AND amount_cents = 2990 AND admin_id IS NULL`))
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.refunds`))
	require.Len(o.t, o.listed(o.sandbox.GWBURL()+"/v1/refunds"), 1)
}

// killedEndingAStray: a recurrence that names a subscription and that it does not own is
// ended and its charge given back; the subscription's own goes on.
func killedEndingAStray(o *outside, step string) {
	o.serve("")
	o.subscribed(o.login())
	o.stray()
	eventually(o.t, "nobody heard of the charge", func() bool {
		return o.count(`SELECT count(*) FROM payments.unapplied_payments WHERE automatic`) == 1
	})
	dying := o.start("work", step)
	eventually(o.t, "the process did not come to the end of the recurrence", func() bool {
		o.hurry("subscriptions_end_stray") // it waits until the refund is decided
		select {
		case <-dying.exited:
			return true
		default:
			return false
		}
	})
	o.exec(`UPDATE jobs.river_job SET state = 'available', scheduled_at = now() WHERE kind = 'subscriptions_end_stray' AND state = 'running'`) // as River does after an hour
	o.start("work", "")
	eventually(o.t, "the recurrence was not looked at again", func() bool {
		o.hurry("subscriptions_end_stray")
		o.runStatusChecksAt("gwb")
		o.periodic("payments_unapplied_sweep")
		return o.count(`SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_end_stray' AND state = 'completed'`) == 1 &&
			o.count(`SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunded'`) == 1
	})
	require.Len(o.t, o.listed(o.sandbox.GWBURL()+"/v1/subscriptions?status=active"), 1)
	require.Len(o.t, o.listed(o.sandbox.GWBURL()+"/v1/refunds"), 1)
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active'`))
}

// stray has gateway B charge for a second recurrence that names the subscription.
func (o *outside) stray() {
	o.t.Helper()
	recurrence := o.listed(o.sandbox.GWBURL() + "/v1/subscriptions")[0].(map[string]any)
	item := recurrence["items"].(map[string]any)["data"].([]any)[0].(map[string]any)
	form := url.Values{
		"customer": {recurrence["customer"].(string)}, "items[0][price]": {item["price"].(map[string]any)["id"].(string)},
		"default_payment_method": {recurrence["default_payment_method"].(string)},
	}
	for name, value := range recurrence["metadata"].(map[string]any) {
		form.Set("metadata["+name+"]", value.(string))
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, o.sandbox.GWBURL()+"/v1/subscriptions",
		strings.NewReader(form.Encode()))
	require.NoError(o.t, err)
	r.Header.Set("Authorization", "Bearer "+o.gwbKey)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(r)
	require.NoError(o.t, err)
	require.NoError(o.t, res.Body.Close())
	require.Equal(o.t, http.StatusOK, res.StatusCode)
}

// killedExtending: the next charge of an extended subscription is at the extension's end,
// and what was made for the old date is gone.
func killedExtending(o *outside, step string) {
	root, sub := o.paidByCard()
	made := o.listed(o.sandbox.GWAURL() + "/payments?status=PENDING")
	require.Len(o.t, made, 1)
	dying := o.start("work", step)
	expect(o.t, 200, http.MethodPost, o.api("/admin/subscriptions/"+sub["_id"].(string)+"/extend"), root,
		map[string]any{"days": 60})
	<-dying.exited
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM subscriptions.charge_moves WHERE state = 'open'`))
	o.exec(`UPDATE payments.intents SET leased_until = NULL WHERE state = 'open'`) // as when the dead check's is over
	o.start("work", "")
	eventually(o.t, "the next charge was not moved", func() bool {
		o.runStatusChecksAt("gwa")
		return o.count(`SELECT count(*) FROM subscriptions.charge_moves WHERE state = 'done'`) == 1
	})
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM subscriptions.charge_moves`))
	for _, charge := range o.listed(o.sandbox.GWAURL() + "/payments?status=PENDING") {
		require.Greater(o.t, charge.(map[string]any)["dueDate"], made[0].(map[string]any)["dueDate"])
	}
}
