package main_test

import (
	"context"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/soak"
)

// exec changes the database as time would.
func (o *outside) exec(query string, args ...any) {
	o.t.Helper()
	_, err := o.db().Exec(context.Background(), query, args...)
	require.NoError(o.t, err)
}

// hurry has a job worked that waits for a later time.
func (o *outside) hurry(kind string) {
	o.t.Helper()
	o.exec(`UPDATE jobs.river_job SET state = 'available', scheduled_at = now() WHERE kind = $1 AND state IN ('scheduled', 'retryable')`, kind)
}

// periodic has a periodic job run now.
func (o *outside) periodic(kind string) {
	o.t.Helper()
	o.exec(`INSERT INTO jobs.river_job (kind, args, max_attempts, queue, state, priority, scheduled_at) VALUES ($1, '{}', 1, 'gateway', 'available', 1, now())`, kind)
}

// runStatusChecksAt has the gateway asked now about every call whose process died.
func (o *outside) runStatusChecksAt(gateway string) {
	o.t.Helper()
	o.exec(`UPDATE payments.intents SET next_look_at = now(), leased_until = NULL, call_ends_at = now() - interval '1 second' WHERE state = 'open' AND leased_until = call_ends_at AND looks = 0`)
	o.exec(`INSERT INTO jobs.river_job (kind, args, max_attempts, queue, state, priority, scheduled_at)
		VALUES ('payments_intents_look', jsonb_build_object('gateway', $1::text), 1, 'gateway', 'available', 1, now())`,
		gateway)
}

// subscribed has the customer be subscribed at gateway B.
func (o *outside) subscribed(token string) {
	o.t.Helper()
	expect(o.t, 201, http.MethodPost, o.api("/gwb/subscribe"), token, map[string]any{
		"plan_id": "plus", "payment_method_id": "pm_card_visa",
	})
	eventually(o.t, "the payment did not reach the ledger",
		func() bool { return o.count(`SELECT count(*) FROM payments.payments`) == 1 })
}

// dies makes a request of which the serving process dies.
func (o *outside) dies(p *process, method, path, token string, body any) {
	o.t.Helper()
	_, raw, err := tryCall(method, o.api(path), token, body)
	require.Error(o.t, err, "the process was to die before it answers: %s", raw)
	<-p.exited
}

// waitAndCheck waits until every event is taken, and checks.
func (o *outside) waitAndCheck() {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(o.t, o.sandbox.Settle(ctx))
	requireInvariants(o.t, o.database)
}

// killings are the steps of everything that moves money but a plain subscription
// (TestKilledAtEachStepSoak), each with a process that is killed there, and what is
// true once others have taken over.
var killings = map[string]func(o *outside, step string){
	"subscribe.after_first_month": killedBetweenTwoPayments,
	"plan_move.committed":         killedMovingPlans,
	"plan_move.after_call":        killedMovingPlans,
	"plan_move.settling":          killedMovingPlans,
	"debit.committed":             killedOrderingADebit,
	"debit.after_call":            killedOrderingADebit,
	"debit.settling":              killedOrderingADebit,
	"renewal_charge.after_intent": killedRenewingByPix,
	"renewal_charge.after_call":   killedRenewingByPix,
	"debit_retry.after_call":      killedRetryingADebit,
	"pause.after_stop":            killedPausing,
	"pause.after_call":            killedPausing,
	"charge_move.after_drop":      killedExtending,
	"charge_move.after_call":      killedExtending,
	"resume.committed":            killedResuming,
	"drop.committed":              killedDropping,
	"drop.after_call":             killedDropping,
	"refund.committed":            killedRefunding,
	"refund.answered":             killedRefunding,
	"refund.settling":             killedRefunding,
	"unapplied.claimed":           killedDeciding,
	"unapplied.claimed_by_itself": killedRefundingByItself,
	"stray.after_call":            killedEndingAStray,
	"purchase.reserved":           killedSelling,
	"purchase.after_call":         killedSelling,
	"purchase.before_commit":      killedSelling,
	"event_cancel.committed":      killedCallingOff,
	"give_back.one_done":          killedCallingOff,
}

// inTest are the killings of every run; the histories' faults show what the others
// do within one process.
var inTest = []string{"plan_move.after_call", "debit.after_call"}

// TestKilledAtMoneySoak kills a process at each of the steps.
func TestKilledAtMoneySoak(t *testing.T) {
	t.Parallel()
	for i, step := range slices.Sorted(maps.Keys(killings)) {
		if !soak.On() && !slices.Contains(inTest, step) || !soak.Has(i) {
			continue
		}
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			o := newOutside(t)
			killings[step](o, step)
			o.waitAndCheck()
		})
	}
}

// killedBetweenTwoPayments: the first month is paid with a discount, and the
// recurrence behind it is made by the recovery, with the same card.
func killedBetweenTwoPayments(o *outside, step string) {
	o.exec(`INSERT INTO promos.promo_codes (code, title, code_type, discount_first_month_cents) VALUES ('TENOFF', 'Less', 'promo', 1990)`)
	p := o.serve(step)
	o.dies(p, http.MethodPost, "/gwa/subscribe", o.login(), map[string]any{
		"plan_id": "plus", "promo_code": "TENOFF", "credit_card": gatewayACard,
		"credit_card_holder_info": cardHolder("52998224725"),
	})
	o.serve("")
	o.start("work", "")
	eventually(o.t, "the recurrence was not made", func() bool {
		return o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active' AND gwa_subscription_id IS NOT NULL`) == 1
	})
	require.Len(o.t, o.listed(o.sandbox.GWAURL()+"/subscriptions"), 1)
	require.Len(o.t, o.listed(o.sandbox.GWAURL()+"/payments?status=CONFIRMED"), 1)
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.payments WHERE amount_cents = 1990`))
}

// killedMovingPlans: the gateway charges the new price, and the subscription is on
// the new plan.
func killedMovingPlans(o *outside, step string) {
	p := o.serve(step)
	o.subscribed(o.login())
	root := o.loginAs("root")
	sub := expect(o.t, 200, http.MethodGet, o.api("/subscriptions"), root, nil)["docs"].([]any)[0].(map[string]any)
	o.dies(p, http.MethodPut, "/subscriptions", root, []any{map[string]any{"_id": sub["_id"], "plan_id": "premium"}})
	require.Equal(o.t, 0, o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE plan_id = 'premium'`))
	o.serve("")
	o.start("work", "")
	eventually(o.t, "the plan was not moved", func() bool {
		return o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE plan_id = 'premium' AND price_cents = 4990`) == 1
	})
	remote := o.gateway(o.sandbox.GWBURL() + "/v1/subscriptions/" + sub["gwb_subscription_id"].(string))
	item := remote["items"].(map[string]any)["data"].([]any)[0].(map[string]any)
	require.EqualValues(o.t, 4990, item["price"].(map[string]any)["unit_amount"])
}

// debitDue is an automatic PIX that was authorized, and is to be debited in four days.
func (o *outside) debitDue() {
	o.t.Helper()
	o.serve("")
	token := o.login()
	expect(o.t, 201, http.MethodPost, o.api("/gwa/subscribe/pix-automatico"), token, map[string]any{"plan_id": "plus"})
	o.payPix(token)
	worker := o.start("work", "") // it asks gateway A for what its unsigned event tells
	eventually(o.t, "the authorization did not become active", func() bool {
		return o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active'`) == 1
	})
	require.NoError(o.t, worker.command.Process.Signal(syscall.SIGTERM))
	<-worker.exited
	o.exec(`UPDATE subscriptions.subscriptions SET next_billing_date = now() + interval '4 days'`)
}

// killedOrderingADebit: the debit that was ordered is found, and none ordered twice. One that was
// not is ordered once that is proved.
func killedOrderingADebit(o *outside, step string) {
	o.debitDue()
	ordered := func() (n int) {
		for _, p := range o.listed(o.sandbox.GWAURL() + "/payments?status=PENDING") {
			if p.(map[string]any)["pixAutomaticAuthorizationId"] != nil {
				n++
			}
		}
		return n
	}
	<-o.start("work", step).exited // its first sweep orders what is due
	made := 1
	if step == "debit.committed" {
		made = 0
	}
	require.Equal(o.t, made, ordered())
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NULL`))
	o.start("work", "")
	eventually(o.t, "the debit was not found", func() bool {
		o.runStatusChecksAt("gwa") // the dead process still leads those that make periodic jobs
		return o.count(`SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL`) == 1
	})
	require.Equal(o.t, 1, ordered())
}

// killedRenewingByPix: a code that was made is found and shown; where none was made,
// its order is given up. Neither moves the end.
func killedRenewingByPix(o *outside, step string) {
	p := o.serve(step)
	token := o.login()
	expect(o.t, 201, http.MethodPost, o.api("/gwa/subscribe/pix"), token, map[string]any{"plan_id": "plus"})
	o.payPix(token)
	eventually(o.t, "the subscription did not become active", func() bool {
		return o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active'`) == 1
	})
	o.exec(`UPDATE subscriptions.subscriptions SET expires_at = now() + interval '3 days'`)
	o.dies(p, http.MethodPost, "/customers/me/subscription/renew/pix", token, nil)
	require.Equal(o.t, 1,
		o.count(`SELECT count(*) FROM subscriptions.renewal_charges WHERE state = 'open' AND intent_open`))
	o.serve("")
	o.start("work", "")
	codes, state := 1, "open"
	if step == "renewal_charge.after_intent" {
		codes, state = 0, "gone"
	}
	eventually(o.t, "nobody found out what became of the code", func() bool {
		o.exec(`UPDATE subscriptions.renewal_charges SET look_at = now() WHERE intent_open`)
		o.periodic("subscriptions_sweep")
		return o.count(`SELECT count(*) FROM subscriptions.renewal_charges WHERE NOT intent_open AND state = '`+state+
			`'`) == 1
	})
	require.Len(o.t, o.listed(o.sandbox.GWAURL()+"/payments?status=PENDING"), codes)
	require.Equal(o.t, 1,
		o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE expires_at < now() + interval '4 days'`))
}

// killedRetryingADebit: the retry that was ordered is found, and none ordered twice.
func killedRetryingADebit(o *outside, step string) {
	o.debitDue()
	worker := o.start("work", "")
	debit := ""
	eventually(o.t, "the debit was not ordered", func() bool {
		for _, p := range o.listed(o.sandbox.GWAURL() + "/payments?status=PENDING") {
			if p := p.(map[string]any); p["pixAutomaticAuthorizationId"] != nil {
				debit = p["id"].(string)
			}
		}
		return debit != "" &&
			o.count(`SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL`) == 1
	})
	require.NoError(o.t, worker.command.Process.Signal(syscall.SIGTERM))
	<-worker.exited
	_, err := o.sandbox.GWA.RefuseDebitNow(debit, "")
	require.NoError(o.t, err)
	eventually(o.t, "the refusal was not told", func() bool {
		return o.count(`SELECT count(*) FROM subscriptions.debit_retries WHERE state = 'planned'`) == 3
	})
	o.exec(`UPDATE subscriptions.debit_retries SET retry_date = (now() AT TIME ZONE 'America/Sao_Paulo')::date + 1, register_date = register_date - interval '20 minutes'
		WHERE retry_date = (SELECT min(retry_date) FROM subscriptions.debit_retries)`)
	<-o.start("work", step).exited // its first sweep orders what is due
	require.Equal(o.t, 3, o.count(`SELECT count(*) FROM subscriptions.debit_retries WHERE state = 'planned'`))
	o.exec(`UPDATE subscriptions.debit_retries SET tried_at = tried_at - interval '20 minutes'`)
	o.exec(`UPDATE payments.intents SET leased_until = NULL WHERE state = 'open'`) // as when the dead check's is over
	o.start("work", "")
	eventually(o.t, "the retry was not found", func() bool {
		o.runStatusChecksAt("gwa")
		return o.count(`SELECT count(*) FROM subscriptions.debit_retries WHERE state = 'ordered'`) == 1
	})
	instructions := o.listed(o.sandbox.GWAURL() + "/pix/automatic/paymentInstructions")
	require.Len(o.t, instructions, 1)
	require.EqualValues(o.t, 1, instructions[0].(map[string]any)["retryAttempt"])
}

// paidByCard is a subscription of gateway A whose first month is paid and whose second charge
// is made, with the token of root.
func (o *outside) paidByCard() (root string, sub map[string]any) {
	o.t.Helper()
	o.serve("")
	expect(o.t, 201, http.MethodPost, o.api("/gwa/subscribe"), o.login(), map[string]any{
		"plan_id": "plus", "credit_card": gatewayACard, "credit_card_holder_info": cardHolder("52998224725"),
	})
	require.NoError(o.t, o.sandbox.GWA.Advance(48*time.Hour)) // charged, and the next charge made
	eventually(o.t, "the payment did not reach the ledger",
		func() bool { return o.count(`SELECT count(*) FROM payments.payments`) == 1 })
	root = o.loginAs("root")
	sub = expect(o.t, 200, http.MethodGet, o.api("/subscriptions"), root, nil)["docs"].([]any)[0].(map[string]any)
	return root, sub
}

// killedPausing: collection of a disputed subscription is paused, and what was made
// ahead is removed.
func killedPausing(o *outside, step string) {
	root, sub := o.paidByCard()
	require.Len(o.t, o.listed(o.sandbox.GWAURL()+"/payments?status=PENDING"), 1)
	dying := o.start("work", step)
	expect(o.t, 200, http.MethodPost, o.api("/subscriptions/"+sub["_id"].(string)+"/chargeback"), root,
		map[string]any{"reason": "told by the bank"})
	<-dying.exited
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM subscriptions.pauses WHERE state = 'pausing'`))
	o.exec(`UPDATE payments.intents SET leased_until = NULL WHERE state = 'open'`) // as when the dead check's is over
	o.start("work", "")
	eventually(o.t, "collection was not paused", func() bool {
		o.runStatusChecksAt("gwa")
		return o.count(`SELECT count(*) FROM subscriptions.pauses WHERE state = 'paused'`) == 1
	})
	require.Empty(o.t, o.listed(o.sandbox.GWAURL()+"/payments?status=PENDING"))
	require.Len(o.t, o.listed(o.sandbox.GWAURL()+"/subscriptions?status=INACTIVE"), 1)
	require.Equal(o.t, 1,
		o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'suspended' AND has_chargeback`))
}

// killedResuming: the customer has said that it goes on, and the checks tell the gateway.
func killedResuming(o *outside, step string) {
	p := o.serve(step)
	token := o.login()
	o.subscribed(token)
	expect(o.t, 200, http.MethodDelete, o.api("/customers/me/subscription?at=period_end"), token, nil)
	o.dies(p, http.MethodPut, "/customers/me/subscription/renew", token, map[string]any{})
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.intents WHERE kind = 'resume' AND state = 'open'`))
	o.serve("")
	o.start("work", "")
	eventually(o.t, "the subscription does not go on", func() bool {
		o.runStatusChecksAt("gwb")
		return o.count(`SELECT count(*) FROM subscriptions.subscriptions
			WHERE status = 'active' AND NOT cancel_at_period_end AND expires_at IS NULL`) == 1
	})
	require.Zero(o.t, o.count(`SELECT count(*) FROM payments.intents WHERE state = 'open'`))
}

// killedDropping: a code that nobody has paid is cancelled, here and at its gateway.
func killedDropping(o *outside, step string) {
	p := o.serve(step)
	token := o.login()
	expect(o.t, 201, http.MethodPost, o.api("/gwa/subscribe/pix"), token, map[string]any{"plan_id": "plus"})
	o.dies(p, http.MethodDelete, "/customers/me/subscription", token, nil)
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'open'`))
	o.serve("")
	o.start("work", "")
	eventually(o.t, "the code is not cancelled", func() bool {
		o.runStatusChecksAt("gwa")
		return o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled'`) == 1
	})
	require.Empty(o.t, o.listed(o.sandbox.GWAURL()+"/payments?status=PENDING"))
	eventually(o.t, "an intent is open", func() bool {
		return o.count(`SELECT count(*) FROM payments.intents WHERE state = 'open'`) == 0
	})
}

// killedRefunding: the money is given back once.
func killedRefunding(o *outside, step string) {
	p := o.serve(step)
	o.subscribed(o.login())
	root := o.loginAs("root")
	sub := expect(o.t, 200, http.MethodGet, o.api("/subscriptions"), root, nil)["docs"].([]any)[0].(map[string]any)
	o.dies(p, http.MethodPost, "/subscriptions/"+sub["_id"].(string)+"/refund", root,
		map[string]any{"reason": "as promised"})
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.refunds WHERE status = 'requested'`))
	o.serve("")
	o.start("work", "")
	eventually(o.t, "the refund was not made", func() bool {
		o.runStatusChecksAt("gwb")
		return o.count(`SELECT count(*) FROM payments.refunds WHERE status = 'done' AND amount_cents = 2990`) == 1 &&
			o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE total_refunded_cents = 2990`) == 1
	})
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.refunds`))
	require.Len(o.t, o.listed(o.sandbox.GWBURL()+"/v1/refunds"), 1)
}

// killedDeciding: a refund that was decided and not asked for is made by whoever looks
// at the list next, once.
func killedDeciding(o *outside, step string) {
	p := o.serve(step)
	o.subscribed(o.login())
	o.unapplied(false)
	root := o.loginAs("root")
	listed := expect(o.t, 200, http.MethodGet, o.api("/admin/finance/unapplied-payments"), root,
		nil)["docs"].([]any)[0].(map[string]any)
	o.dies(p, http.MethodPost, "/admin/finance/unapplied-payments/"+listed["_id"].(string)+"/refund", root, nil)
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunding'`))
	require.Equal(o.t, 0, o.count(`SELECT count(*) FROM payments.refunds`))
	o.exec(`UPDATE payments.unapplied_payments SET updated_at = now() - interval '6 minutes'`)
	o.serve("")
	o.start("work", "")
	eventually(o.t, "the refund was not made", func() bool {
		o.periodic("payments_unapplied_sweep")
		return o.count(`SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunded'`) == 1
	})
	require.Equal(o.t, 1,
		o.count(`SELECT count(*) FROM payments.refunds WHERE status = 'done' AND amount_cents = 2990 AND admin_id IS NOT NULL`))
	require.Equal(o.t, 1, o.count(`SELECT count(*) FROM payments.refunds`))
	require.Len(o.t, o.listed(o.sandbox.GWBURL()+"/v1/refunds"), 1)
}

const premiere = "6b9165ace14cd389dd380001"

// killedSelling: the tickets are paid and there, or nothing was charged and their
// places are free.
func killedSelling(o *outside, step string) {
	o.exec(`INSERT INTO tickets.events (id, title, event_date, location, capacity, ticket_value_cents, is_sale_box_office)
		VALUES ($1, 'Premiere', now() + interval '1 month', 'Cine Ipiranga', 2, 12050, true)`, premiere)
	p := o.serve(step)
	o.dies(p, http.MethodPost, "/store/purchase/gwb/card", o.login(), map[string]any{
		"event_id": premiere, "quantity": 2, "payment_method_id": "pm_card_visa",
	})
	require.Equal(o.t, 2, o.count(`SELECT tickets_issued FROM tickets.events`))
	o.serve("")
	o.start("work", "")
	charges, orders, issued := 1, "paid", 2
	if step == "purchase.reserved" {
		charges, orders, issued = 0, "released", 0
	}
	eventually(o.t, "the order did not end", func() bool {
		o.periodic("tickets_sweep")
		return o.count(`SELECT count(*) FROM tickets.orders WHERE state = '`+orders+`'`) == 1
	})
	require.Len(o.t, o.listed(o.sandbox.GWBURL()+"/v1/charges"), charges)
	require.Equal(o.t, charges, o.count(`SELECT count(*) FROM payments.payments WHERE amount_cents = 24100`))
	require.Equal(o.t, issued, o.count(`SELECT tickets_issued FROM tickets.events`))
}

// TestEveryFaultPointKills: each place that is named in the code is one at which a
// test kills.
func TestEveryFaultPointKills(t *testing.T) {
	t.Parallel()
	hit := regexp.MustCompile(`(?:faultpoint\.Hit\(|\b(?:Committed|FaultPoint|Settling): +)"([^"]+)"`) // in place, or by an intent.Operation
	var named []string
	require.NoError(t, filepath.WalkDir("../../modules", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range hit.FindAllStringSubmatch(string(source), -1) {
			named = append(named, m[1])
		}
		return err
	}))
	require.NotEmpty(t, named)
	for _, name := range named {
		require.True(t, killings[name] != nil || slices.Contains(steps, name), "no test kills at %s", name)
	}
}
