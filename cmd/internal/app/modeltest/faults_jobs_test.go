package modeltest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

// jobScenarios are what jobs and webhooks do by themselves.
var jobScenarios = []scenario{
	{
		name: "payments_intents_look", what: "gwa card",
		given: lost(customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, "")), "POST /v3/subscriptions"),
		do:    inSilence(10 * time.Minute), done: oneLive("active"),
	},
	{
		name: "payments_intents_look", what: "gwa discounted card",
		given: lost(customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, codeTen)), "POST /v3/payments"),
		do:    during(10 * time.Minute), done: oneLive("active"),
	},
	{
		name: "payments_intents_look", what: "gwa PIX",
		given: lost(customerRequest(http.MethodPost, "/gwa/subscribe/pix", pixBody("")), "POST /v3/payments"),
		do:    during(10 * time.Minute), lapses: true, done: oneCode,
	},
	{
		name: "payments_intents_look", what: "gwa automatic PIX",
		given: lost(customerRequest(http.MethodPost, "/gwa/subscribe/pix-automatico", pixBody("")),
			"POST /v3/pix/automatic/authorizations"),
		do: during(10 * time.Minute), lapses: true, done: oneCode,
	},
	{
		name: "payments_intents_look", what: "gwb card",
		given: a(lost(customerRequest(http.MethodPost, "/gwb/subscribe", tokenBody(visa)), "POST /v1/subscriptions"),
			deaf),
		do: during(10 * time.Minute), done: oneLive("active"),
	},
	{
		name: "payments_intents_look", what: "gwb PIX",
		given: lost(customerRequest(http.MethodPost, "/gwb/subscribe/pix", pixBody("")), "POST /v1/payment_intents"),
		do:    during(10 * time.Minute), lapses: true, done: oneCode,
	},
	{name: "subscriptions_drop_pix", what: "gwa", given: pixA, do: during(25 * time.Hour), done: noneLive},
	{
		name: "subscriptions_drop_pix", what: "gwa automatic", given: automatic, do: during(25 * time.Hour),
		done: noneLive,
	},
	{name: "subscriptions_drop_pix", what: "gwb", given: pixB, do: during(25 * time.Hour), done: noneLive},
	{
		name: "subscriptions_authorization_refused", given: a(automatic, paid, refusalReported),
		do: during(2 * time.Hour), done: oneLive("active"),
	},
	{
		name: "subscriptions_follow_recurrence", given: a(cardA, deletionReported), do: during(2 * time.Hour),
		done: oneLive("active"),
	},
	{
		name: "subscriptions_debit", given: a(automatic, paid, pass(20*24*time.Hour)),
		do: during(10 * 24 * time.Hour), rests: 5 * 24 * time.Hour, done: oneLive("active"),
	},
	{
		name: "subscriptions_debit_retry", given: a(automatic, paid, pass(26*24*time.Hour), bankRefuses),
		do: during(12 * 24 * time.Hour), rests: 3 * 24 * time.Hour, done: debitRetried,
	},
	{
		name: "subscriptions_end_at_gateway", what: "gwa", given: a(cardA, notEnded("DELETE /v3/subscriptions/{id}")),
		do: during(2 * time.Hour), done: noneLive,
	},
	{
		name: "subscriptions_end_at_gateway", what: "gwb", given: a(cardB, notEnded("DELETE /v1/subscriptions/{id}")),
		do: during(2 * time.Hour), done: noneLive,
	},
	{
		name: "subscriptions_renewal_charge", what: "gwa",
		given: a(pixA, paid, nearTheEnd,
			lost(customerRequest(http.MethodPost, "/customers/me/subscription/renew/pix", nil), "POST /v3/payments")),
		do: during(time.Hour), done: oneRenewalCode,
	},
	{
		name: "subscriptions_renewal_charge", what: "gwb",
		given: a(pixB, paid, nearTheEnd,
			lost(customerRequest(http.MethodPost, "/customers/me/subscription/renew/pix", nil),
				"POST /v1/payment_intents")),
		do: during(time.Hour), done: oneRenewalCode,
	},
	{
		name: "subscriptions_renewal_charge", what: "of what has ended",
		given: a(pixA, paid, nearTheEnd,
			before(customerRequest(http.MethodPost, "/customers/me/subscription/renew/pix", nil))),
		do: during(10 * 24 * time.Hour), done: noneLive,
	},
	{
		name: "subscriptions_stop_recurrence", what: "gwa card",
		given: a(cardA, notStopped("DELETE /v3/subscriptions/{id}")), do: during(2 * time.Hour), done: endsWithPeriod,
	},
	{
		name: "subscriptions_stop_recurrence", what: "automatic PIX",
		given: a(automatic, paid, notStopped("DELETE /v3/pix/automatic/authorizations/{id}")),
		do:    during(2 * time.Hour), done: endsWithPeriod,
	},
	{
		name: "subscriptions_pause", what: "gwa", given: a(cardA, pass(48*time.Hour), disputed),
		do: during(2 * time.Hour), done: collects(false),
	},
	{
		name: "subscriptions_pause", what: "gwb", given: a(cardB, disputed), do: during(2 * time.Hour),
		done: collects(false),
	},
	{
		name: "subscriptions_pause", what: "gwa, lifted",
		given: a(cardA, pass(48*time.Hour), disputed, pass(2*time.Hour), lifted), do: during(2 * time.Hour),
		done: collects(true),
	},
	{
		name: "subscriptions_pause", what: "gwb, lifted", given: a(cardB, disputed, pass(2*time.Hour), lifted),
		do: during(2 * time.Hour), done: collects(true),
	},
	{
		name: "subscriptions_plan_move", what: "gwa",
		given: a(newPlan, cardA, lost(movePlan, "PUT /v3/subscriptions/{id}")), do: during(2 * time.Hour),
		done: onPremium,
	},
	{
		name: "subscriptions_plan_move", what: "gwb",
		given: a(newPlan, cardB, lost(movePlan, "POST /v1/subscriptions/{id}")), do: during(2 * time.Hour),
		done: onPremium,
	},
	{name: "subscriptions_reconcile", given: unheardOf, do: reconcileAll, done: oneLive("active")},
	{
		name: "payments_refund_recover", what: "gwa",
		given: a(cardA, lost(admin(http.MethodPost, "/subscriptions/%s/refund", why), "POST /v3/payments/{id}/refund"),
			deaf),
		do: during(time.Hour), done: givenBack(4990),
	},
	{
		name: "payments_refund_recover", what: "gwb", rests: 26 * time.Hour,
		given: a(cardB, lost(admin(http.MethodPost, "/subscriptions/%s/refund", why), "POST /v1/refunds"), deaf),
		do:    during(time.Hour), done: givenBack(4990),
	},
	{
		name: "subscriptions_give_back", what: "gwa",
		given: a(cardA, lost(customerRequest(http.MethodPost, "/customers/me/subscription/withdraw", nil),
			"GET /v3/payments/{id}"), deaf),
		do: during(2 * time.Hour), done: givenBack(4990),
	},
	{
		name: "subscriptions_charge_move", what: "gwa", given: cardA, do: extended, after: sweptForDays,
		done: chargeMoved,
	},
	{
		name: "subscriptions_charge_move", what: "gwb", given: cardB, do: extended, after: sweptForDays,
		done: chargeMoved,
	},
	{
		name: "subscriptions_late_money", given: a(pixA, paid, pass(40*24*time.Hour), paidAgain),
		do: during(2 * time.Hour), done: oneLive("active"),
	},
	{
		name: "payments_unapplied_sweep", what: "gwa", given: a(cardA, unapplied(true)), do: sweepUnapplied,
		after: unappliedForDays, done: givenBack(4990),
	},
	{
		name: "payments_unapplied_sweep", what: "gwb", given: a(cardB, unapplied(true)), do: sweepUnapplied,
		after: unappliedForDays, rests: 26 * time.Hour, done: givenBack(4990),
	},
	{
		name: "subscriptions_end_stray", what: "gwa", given: a(cardA, strayA), do: during(2 * time.Hour),
		after: unappliedForDays, done: strayEnded,
	},
	{
		name: "subscriptions_end_stray", what: "gwb", given: a(cardB, strayB), do: during(2 * time.Hour),
		after: unappliedForDays, rests: 26 * time.Hour, done: strayEnded,
	},
	{
		name: "payments_event_retry", what: "a refund of an unknown intent", given: a(cardB, refundedAtPanel),
		do: during(time.Hour),
	},
	{name: "accounts_erase_customer", what: "gwa", given: a(cardA, erase), do: during(2 * time.Hour), done: noneLive},
	{name: "accounts_erase_customer", what: "gwb", given: a(cardB, erase), do: during(2 * time.Hour), done: noneLive},
	{
		name: "accounts_erase_customer", what: "gwa PIX", given: a(pixA, erase), do: during(2 * time.Hour),
		done: noneLive,
	},
	{name: "accounts_sync_subscription", given: a(cardA, slowLogin), do: during(time.Hour), done: oneLive("active")},
	{
		name: "payments_intents_look", what: "order, gwa card",
		given: a(lost(customerRequest(http.MethodPost, "/store/purchase/gwa/card", ticketsBy(object{
			"credit_card": card(0), "credit_card_holder_info": holder(),
		})), "POST /v3/payments"), deaf),
		do: sweepTickets, after: sweepAll, done: seated("paid"),
	},
	{
		name: "payments_intents_look", what: "order, gwb card",
		given: a(lost(customerRequest(http.MethodPost, "/store/purchase/gwb/card",
			ticketsBy(object{"payment_method_id": visa})), "POST /v1/payment_intents"), deaf),
		do: sweepTickets, after: sweepAll, done: seated("paid"),
	},
	{
		name: "payments_intents_look", what: "order, gwa PIX",
		given: a(lost(customerRequest(http.MethodPost, "/store/purchase/gwa/pix", ticketsBy(nil)),
			"POST /v3/payments")),
		do: sweepTickets, after: sweepAll, done: noTickets,
	},
	{
		name: "payments_intents_look", what: "order, gwb PIX",
		given: a(lost(customerRequest(http.MethodPost, "/store/purchase/gwb/pix", ticketsBy(nil)),
			"POST /v1/payment_intents")),
		do: sweepTickets, after: sweepAll, done: noTickets,
	},
	{
		name: "tickets_sweep", what: "unpaid, gwa",
		given: a(before(customerRequest(http.MethodPost, "/store/purchase/gwa/pix", ticketsBy(nil)))), do: sweepTickets,
		after: sweepAll, done: noTickets,
	},
	{
		name: "tickets_refund", what: "gwa",
		given: a(onSaleNow, before(customerRequest(http.MethodPost, "/store/purchase/gwa/pix", ticketsBy(nil))),
			paidLate),
		do: sweepTickets, after: sweepAll, done: givenBack(6000),
	},
	{
		name: "tickets_refund", what: "gwb", rests: 26 * time.Hour,
		given: a(onSaleNow, before(customerRequest(http.MethodPost, "/store/purchase/gwb/pix", ticketsBy(nil))),
			paidLate),
		do: sweepTickets, after: sweepAll, done: givenBack(6000),
	},
}

// paidAgain pays a month of what has ended by a payment that is made at gateway A's
// panel and names the subscription.
func paidAgain(h *history) {
	h.touched[h.all()[0].ID.String()] = true // a payment of no order
	first := h.paymentsA(settledA)[0]
	body := fmt.Sprintf(`{"customer":%q,"billingType":"PIX","value":49.90,"dueDate":%q,"externalReference":%q}`,
		str(first, "customer"), h.now().In(h.zone).Format(time.DateOnly), str(first, "externalReference"))
	status, made := h.gateways.call(h.t, gateway.GWA, http.MethodPost, "/v3/payments", url.Values{"json": {body}})
	require.Equal(h.t, http.StatusOK, status, "%v", made)
	_, err := h.gateways.a.Pay(str(made, "id"))
	require.NoError(h.t, err)
}

// bankRefuses has the bank refuse the debit that is ordered on its day, and pay after it.
func bankRefuses(h *history) {
	p, ok := pick(h.paymentsA(func(p object) bool {
		return str(p, "status") == "PENDING" && str(p, "pixAutomaticAuthorizationId") != ""
	}), 0)
	require.True(h.t, ok, "no debit is ordered")
	_, err := h.gateways.a.FailDebit(str(p, "id"))
	require.NoError(h.t, err)
}

// debitRetried: the debit was refused, and a retry has paid it, unless the gateway could
// not be asked before any of their days.
func debitRetried(h *history) (paid bool) {
	err := h.db.QueryRow(context.Background(),
		`SELECT count(*) = 1 FROM subscriptions.debits d WHERE failed_at IS NOT NULL AND (paid_at IS NOT NULL OR 3 =
		(SELECT count(*) FROM subscriptions.debit_retries r WHERE r.subscription_id = d.subscription_id AND r.cycle = d.cycle AND r.state = 'dropped' AND r.reason = 'too late'))`).Scan(&paid)
	if err != nil {
		h.fail("the database refuses", "%v", err)
	}
	return paid
}

// during lets the platform work for some time.
func during(span time.Duration) func(h *history) response {
	return func(h *history) response {
		h.pass(step{}, span)
		return response{}
	}
}

// inSilence is during, while no webhook arrives.
func inSilence(span time.Duration) func(h *history) response {
	return func(h *history) response {
		for range span / time.Minute {
			h.moveTo(h.now().Add(time.Minute))
			deaf(h)
			h.workJobs(h.t, h.process)
			h.runStatusChecks()
		}
		return response{}
	}
}

// lost does something of which the answer of the gateway's call never comes.
func lost(do func(h *history) response, call string) func(h *history) {
	return func(h *history) { troubled(h, do, resetAfter, call) }
}

// troubled does something while a call fails, and lets neither jobs nor webhooks
// follow.
func troubled(h *history, do func(h *history) response, f fault, call string) {
	h.calls = &calls{fault: f, named: call}
	do(h)
	h.calls = &calls{over: true}
}

// notEnded cancels here while the gateway does not hear of it.
func notEnded(call string) func(h *history) {
	return func(h *history) {
		troubled(h, customerRequest(http.MethodDelete, "/customers/me/subscription", nil), timeoutBefore, call)
	}
}

// notStopped cancels with the period while the gateway does not hear of it.
func notStopped(call string) func(h *history) {
	return func(h *history) { troubled(h, cancelAtEnd, timeoutBefore, call) }
}

func slowLogin(h *history) { troubled(h, logIn, timeoutBefore, "GET /v3/subscriptions/{id}") }

func erase(h *history) {
	customerRequest(http.MethodDelete, "/customers/me", nil)(h)
	h.persons[0].gone = true
}

// unheardOf has both customers subscribe, and no webhook of it ever arrive.
func unheardOf(h *history) {
	customerRequest(http.MethodPost, "/gwa/subscribe", cardBody(0, ""))(h)
	h.request(http.MethodPost, "/gwb/subscribe", h.persons[1].token, tokenBody(visa))
	h.moveTo(h.now().Add(time.Hour))
	deaf(h)
}

// deaf has the webhooks that are on their way never arrive.
func deaf(h *history) {
	h.gateways.collect()
	for _, d := range h.gateways.inbox {
		d.taken = true
	}
}

func reconcileAll(h *history) response {
	h.reconcile(48 * time.Hour)
	h.inTime(longestReconcile)
	h.workJobs(h.t, h.process)
	return response{}
}

// refundedAtPanel gives a payment back at gateway B, which tells its payment
// intent; the ledger knows its invoice.
func refundedAtPanel(h *history) {
	h.exec(`UPDATE payments.payments SET payment_intent_id = NULL`)
	refundAtPanel(h, step{Who: 1})
}

// refusalReported is an event about an authorization that was never refused.
func refusalReported(h *history) {
	var auth string
	h.logError("authorization",
		h.db.QueryRow(context.Background(),
			`SELECT gwa_pix_auth_id FROM subscriptions.subscriptions WHERE pix_automatic`).Scan(&auth))
	h.logError("refusal", h.gateways.a.SendEvent("PIX_AUTOMATIC_RECURRING_AUTHORIZATION_REFUSED", auth))
}

// deletionReported is an event about a recurrence that was never deleted.
func deletionReported(h *history) {
	var recurrence string
	h.logError("recurrence",
		h.db.QueryRow(context.Background(), `SELECT gwa_subscription_id FROM subscriptions.subscriptions`).
			Scan(&recurrence))
	h.logError("deletion", h.gateways.a.SendEvent("SUBSCRIPTION_DELETED", recurrence))
}

func disputed(h *history) { admin(http.MethodPost, "/subscriptions/%s/chargeback", why)(h) }

func lifted(h *history) { admin(http.MethodPost, "/admin/subscriptions/%s/activate", why)(h) }

// extended gives ten days as an admin, and lets the platform tell the gateway.
func extended(h *history) response {
	h.touched[h.all()[0].ID.String()] = true
	admin(http.MethodPost, "/admin/subscriptions/%s/extend", object{"days": 10})(h)
	return during(2 * time.Hour)(h)
}

// sweptForDays lets the platform's sweep run for as long as a try may wait for the next.
func sweptForDays(h *history) {
	for range 26 {
		h.pass(step{}, time.Hour)
		h.sweep()
		h.workJobs(h.t, h.process)
	}
}

func chargeMoved(h *history) (moved bool) {
	err := h.db.QueryRow(context.Background(),
		`SELECT count(*) = 1 FROM subscriptions.charge_moves WHERE state = 'done'`).Scan(&moved)
	return err == nil && moved
}

// collects tells what we know of the collection, and what the gateway does: paused, it
// has nothing that it would charge.
func collects(again bool) func(h *history) bool {
	return func(h *history) bool {
		var state string
		if err := h.db.QueryRow(context.Background(), `SELECT state FROM subscriptions.pauses`).
			Scan(&state); err != nil {
			return false
		}
		for _, s := range h.gateways.list(h.t, gateway.GWA, "/v3/subscriptions") {
			if (str(s, "status") == "ACTIVE") != again ||
				!again && len(h.gateways.list(h.t, gateway.GWA, "/v3/payments?status=PENDING")) > 0 {
				return false
			}
		}
		for _, s := range h.gateways.list(h.t, gateway.GWB, "/v1/subscriptions") {
			if (s["pause_collection"] == nil) != again {
				return false
			}
		}
		return state == map[bool]string{false: "paused", true: "resumed"}[again]
	}
}

// sweepTickets is half an hour and more of the ticket store's periodic job.
func sweepTickets(h *history) response {
	for range 8 {
		h.pass(step{}, 5*time.Minute)
		h.process.run(context.Background(), func(ctx context.Context) { h.logError("sweep", h.tickets.Sweep(ctx)) })
		h.inTime(longestJob)
		h.workJobs(h.t, h.process)
	}
	return response{}
}

func sweepAll(h *history) { sweepTickets(h) }

// onSaleNow makes the event one that is over in half an hour.
func onSaleNow(h *history) {
	_, err := h.db.Exec(context.Background(), `UPDATE tickets.events SET event_date = $1`,
		h.now().Add(-150*time.Minute))
	h.logError("event", err)
}

// paidLate pays a code in time; the platform hears of it when the event is over.
func paidLate(h *history) {
	actionsByName["pix paid"].act(h, step{})
	h.moveTo(h.now().Add(45 * time.Minute))
}
