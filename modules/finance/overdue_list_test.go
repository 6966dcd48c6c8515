package finance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/platform/clock"
	"marquee/platform/objectid"
)

// overdueSubscription is one of a customer of its own, whose full name is the case's.
type overdueSubscription struct {
	name, gateway string
	set           string   // of its columns, beside three failures
	mails         []string // day, due, sent, dropped of dunning mails
	retries       []string // day and state of retries of a debit
	step, next    string
	at            any
	sent, planned float64
	failures      float64
}

// TestEachOverdueSubscriptionHasItsStep: where dunning stands, and what happens next, in every case that its rules tell
// apart; the list is filtered, sorted and paged by both.
func TestEachOverdueSubscriptionHasItsStep(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *finance.Deps) {
		d.Clock, d.EndsWithPeriod = clock.NewFake(at("2026-06-15T12:00:00Z")), []string{"gwb"}
	})
	const first, second, third = "0 '2026-06-05T12:00:00Z'", "3 '2026-06-08T12:00:00Z'", "7 '2026-06-18T12:00:00Z'"
	sentBoth := []string{first + " '2026-06-05T12:00:01Z' NULL", second + " '2026-06-08T12:00:01Z' NULL"}
	cases := []overdueSubscription{
		{name: "nobody was written to", gateway: "gwa", step: "not_notified", next: "staff_decision", failures: 3},
		{
			name: "a mail waits", gateway: "gwa", mails: []string{first + " NULL NULL"}, step: "not_notified", next: "notice",
			at: "2026-06-05T12:00:00.000Z", planned: 1, failures: 3,
		},
		{
			name: "one was sent", gateway: "gwb", mails: []string{sentBoth[0], third + " NULL NULL"}, step: "notified",
			next: "notice", at: "2026-06-18T12:00:00.000Z", sent: 1, planned: 1, failures: 3,
		},
		{
			name: "and a reminder", gateway: "gwb", mails: append(sentBoth[:2:2], third+" NULL NULL"), step: "reminded",
			next: "notice", at: "2026-06-18T12:00:00.000Z", sent: 2, planned: 1, failures: 3,
		},
		{
			name: "all were sent", gateway: "gwb", mails: append(sentBoth[:2:2], third+" NULL '2026-06-09T12:00:00Z'"),
			step: "last_notice", next: "staff_decision", sent: 2, failures: 3,
		},
		{
			name: "the bank is asked before the next mail", gateway: "gwa", set: "pix_automatic = true, payment_method = 'pix'",
			mails: []string{sentBoth[0], third + " NULL NULL"}, retries: []string{"2026-06-11 refused", "2026-06-17 planned"},
			step: "notified", next: "debit_retry", at: "2026-06-17T03:00:00.000Z", sent: 1, planned: 1, failures: 3,
		},
		{
			name: "the mail comes before the bank is asked", gateway: "gwa", set: "pix_automatic = true, payment_method = 'pix'",
			mails: []string{sentBoth[0], third + " NULL NULL"}, retries: []string{"2026-06-19 planned"},
			step: "notified", next: "notice", at: "2026-06-18T12:00:00.000Z", sent: 1, planned: 1, failures: 3,
		},
		{
			name: "the bank was asked", gateway: "gwa", set: "pix_automatic = true, payment_method = 'pix'",
			mails: []string{sentBoth[0]}, retries: []string{"2026-06-16 ordered", "2026-06-19 planned"}, step: "last_notice",
			next: "bank_answer", at: "2026-06-16T03:00:00.000Z", sent: 1, failures: 3,
		},
		{
			name: "disputed", gateway: "gwb", set: "has_chargeback = true, status = 'suspended'",
			mails: append(sentBoth[:1:1], third+" NULL NULL"), step: "last_notice", next: "dispute_decision", sent: 1, failures: 3,
		},
		{
			name: "ends with its paid time", gateway: "gwa", set: "cancel_at_period_end = true, expires_at = '2026-07-01T12:00:00Z'",
			mails: []string{first + " NULL NULL"}, step: "not_notified", next: "period_end", at: "2026-07-01T12:00:00.000Z", failures: 3,
		},
		{
			name: "asked for until its end", gateway: "gwb", set: "cancel_at_period_end = true, expires_at = '2026-07-01T12:00:00Z'",
			mails: []string{third + " NULL NULL"}, step: "not_notified", next: "notice", at: "2026-06-18T12:00:00.000Z", planned: 1, failures: 3,
		},
		{
			name: "suspended without a failure", gateway: "gwa", set: "payment_failures = 0, status = 'suspended'",
			mails: []string{third + " NULL NULL"}, step: "not_notified", next: "staff_decision",
		},
		{
			name: "what was sent before the last payment", gateway: "gwa", set: "last_payment_at = '2026-06-07T12:00:00Z'",
			mails: sentBoth, step: "last_notice", next: "staff_decision", sent: 1, failures: 3,
		},
	}
	b.exec(`INSERT INTO subscriptions.plans (plan_id, name, amount_cents, tier, register_date, register_update_date)
		VALUES ('basic', 'Basic', 1990, 1, '2026-01-01', '2026-01-01')`)
	for i, c := range cases {
		b.overdue(i, c)
	}
	const list = "/admin/finance/overdue-subscriptions"
	got := map[any]doc{}
	for _, one := range b.get(list + "?qty_docs_page=100")["docs"].([]any) {
		got[one.(doc)["full_name"]] = one.(doc)
	}
	require.Len(t, got, len(cases))
	for _, c := range cases {
		one := got[c.name]
		require.Equal(t, doc{
			"dunning_step": c.step, "next_step": c.next, "next_step_at": c.at, "notices_sent": c.sent, "notices_planned": c.planned,
			"payment_failures": c.failures,
		}, doc{
			"dunning_step": one["dunning_step"], "next_step": one["next_step"], "next_step_at": one["next_step_at"],
			"notices_sent": one["notices_sent"], "notices_planned": one["notices_planned"], "payment_failures": one["payment_failures"],
		}, c.name)
	}
	require.Equal(t, []any{"basic", "Basic", 1990.0, "2026-06-08T12:00:01.000Z"}, []any{
		got["all were sent"]["plan_id"], got["all were sent"]["plan_name"], got["all were sent"]["amount"], got["all were sent"]["last_notice_at"],
	})

	names := func(query, sort string) (all []any) {
		page := b.get(list + "?" + url.Values{"query": {query}, "sort": {sort}, "qty_docs_page": {"3"}}.Encode())
		for _, one := range page["docs"].([]any) {
			all = append(all, one.(doc)["full_name"])
		}
		return all
	}
	require.Equal(t, []any{"disputed"}, names(`{"next_step":"dispute_decision"}`, ""))
	require.Equal(t, []any{"and a reminder", "all were sent"}, names(`{"notices_sent":{"$gte":2}}`, `{"notices_planned":-1}`))
	require.Equal(t, []any{"a mail waits", "the bank was asked", "the bank is asked before the next mail"},
		names(`{"next_step_at":{"$ne":null}}`, `{"next_step_at":1}`))
	days := b.get(list + "?qty_docs_page=1")["docs"].([]any)[0].(doc)["days_overdue"]
	old := b.get("/admin/finance/overdue?limit=1")["customers"].([]any)[0].(doc)["days_overdue"]
	require.Equal(t, old, days, "the longest first, as of the same clock as the report")
	res := b.admin.Get(list + "?" + url.Values{"query": {`{"next_step":{"$near":1}}`}}.Encode())
	require.Equal(t, http.StatusUnprocessableEntity, res.Status)
	require.Equal(t, "query", res.Field())
	b.nobody.Get(list).Expect(http.StatusUnauthorized)
}

// overdue makes the subscription of a case.
func (b *bundle) overdue(n int, c overdueSubscription) {
	b.t.Helper()
	id, customer := objectid.New(), objectid.New()
	b.exec(`INSERT INTO accounts.users (id, user_type, username, email, full_name, created_at, updated_at)
		VALUES ($1, 'customer', $2, $2 || '@example.com', $3, now(), now())`, customer, fmt.Sprintf("late%d", n), c.name)
	b.exec(`INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months,
			started_at, last_payment_at, payment_failures, intent_open, register_date, register_update_date)
		VALUES ($1, $2, 'basic', $3, 'credit_card', 'active', 1990, 1, '2026-05-05', '2026-05-05', 3, false, '2026-05-05', '2026-05-05')`,
		id, customer, c.gateway)
	if c.set != "" {
		b.exec(`UPDATE subscriptions.subscriptions SET `+c.set+` WHERE id = $1`, id)
	}
	for _, mail := range c.mails {
		var day int
		var due, sent, dropped string
		_, err := fmt.Sscan(mail, &day, &due, &sent, &dropped)
		require.NoError(b.t, err)
		b.exec(`INSERT INTO subscriptions.dunning_mails (subscription_id, payment_id, day, amount_cents, due_at, sent_at, dropped_at, register_date)
			VALUES ($1, 'pay_1', $2, 1990, `+due+`, `+sent+`, `+dropped+`, '2026-06-05')`, id, day)
	}
	if len(c.retries) > 0 {
		b.exec(`INSERT INTO subscriptions.debits (subscription_id, cycle, due_date, amount_cents, register_date, tried_at, failed_at, retryable)
			VALUES ($1, '2026-06-05', '2026-06-10', 1990, '2026-06-05', '2026-06-05', '2026-06-10', true)`, id)
	}
	for _, retry := range c.retries {
		var day, state string
		_, err := fmt.Sscan(retry, &day, &state)
		require.NoError(b.t, err)
		b.exec(`INSERT INTO subscriptions.debit_retries (subscription_id, cycle, retry_date, state, ordered_at, ended_at, register_date)
			VALUES ($1, '2026-06-05', $2::date, $3, '2026-06-10', CASE WHEN $3 NOT IN ('planned', 'ordered') THEN timestamptz '2026-06-12' END, '2026-06-05')`,
			id, day, state)
	}
}
