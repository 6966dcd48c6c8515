package modeltest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"marquee/modules/payments/gateway"
)

// unapplied puts the payment that was made on the list of those that gave nobody
// anything: for a person, or to be refunded by itself.
func unapplied(automatic bool) func(h *history) {
	return func(h *history) {
		h.exec(fmt.Sprintf(`WITH listed AS (
			INSERT INTO payments.unapplied_payments (kind, gateway, subject, gateway_payment_id, amount_cents, customer_id, subscription_id, automatic, created_at, updated_at)
			SELECT 'duplicate', gateway, gateway_payment_id, gateway_payment_id, amount_cents, customer_id, local_id, %t, settled_at, settled_at FROM payments.payments
			RETURNING id, amount_cents, created_at
		) INSERT INTO payments.unapplied_decisions (unapplied_id, at, to_state, source, amount_cents) SELECT id, created_at, 'open', 'platform', amount_cents FROM listed`, automatic))
	}
}

// decide decides as an admin about what is on the list.
func decide(how string) func(h *history) response {
	return func(h *history) response {
		var id string
		if err := h.db.QueryRow(context.Background(), `SELECT id FROM payments.unapplied_payments`).
			Scan(&id); err != nil {
			h.fail("the database refuses", "%v", err)
		}
		return h.request(http.MethodPost, "/admin/finance/unapplied-payments/"+id+how, h.admin, nil)
	}
}

// sweepUnapplied is an hour of the periodic job that refunds by itself what may be.
func sweepUnapplied(h *history) response {
	for range 12 {
		turnOfUnapplied(h, 5*time.Minute)
	}
	return response{}
}

// unappliedForDays is the same for as long as a check may wait for another.
func unappliedForDays(h *history) {
	for range 26 {
		turnOfUnapplied(h, time.Hour)
	}
}

func turnOfUnapplied(h *history, span time.Duration) {
	h.pass(step{}, span)
	h.process.run(context.Background(),
		func(ctx context.Context) { h.logError("unapplied", h.payments.Cases().Sweep(ctx)) })
	h.inTime(longestJob)
	h.workJobs(h.t, h.process)
}

// strayA has gateway A charge for a recurrence that names the subscription and that it
// does not own, as a call makes it whose answer was taken for none.
func strayA(h *history) {
	h.touched[h.all()[0].ID.String()] = true // a charge more than months
	recurrence := h.gateways.list(h.t, gateway.GWA, "/v3/subscriptions")[0]
	body := fmt.Sprintf(`{"customer":%q,"billingType":"CREDIT_CARD","cycle":"MONTHLY","value":49.90,"nextDueDate":%q,"externalReference":%q,"remoteIp":"203.0.113.7","creditCardToken":%q}`,
		str(recurrence, "customer"), h.now().In(h.zone).Format(time.DateOnly), str(recurrence, "externalReference"),
		str(recurrence["creditCard"].(object), "creditCardToken"))
	status, made := h.gateways.call(h.t, gateway.GWA, http.MethodPost, "/v3/subscriptions", url.Values{"json": {body}})
	if status != http.StatusOK {
		h.fail("what comes before does not work", "%d %v", status, made)
	}
}

// strayB is strayA at gateway B.
func strayB(h *history) {
	h.touched[h.all()[0].ID.String()] = true
	recurrence := h.gateways.list(h.t, gateway.GWB, "/v1/subscriptions")[0]
	item := recurrence["items"].(object)["data"].([]any)[0].(object)
	form := url.Values{
		"customer":               {str(recurrence, "customer")},
		"items[0][price]":        {str(item["price"].(object), "id")},
		"default_payment_method": {str(recurrence, "default_payment_method")},
	}
	for name, value := range recurrence["metadata"].(object) {
		form.Set("metadata["+name+"]", fmt.Sprint(value))
	}
	status, made := h.gateways.call(h.t, gateway.GWB, http.MethodPost, "/v1/subscriptions", form)
	if status != http.StatusOK {
		h.fail("what comes before does not work", "%d %v", status, made)
	}
}

// strayEnded: its money is back, and it charges no more; the subscription's own goes on.
func strayEnded(h *history) bool {
	runs := 0
	for _, s := range h.gateways.list(h.t, gateway.GWA, "/v3/subscriptions") {
		if str(s, "status") == "ACTIVE" && s["deleted"] != true {
			runs++
		}
	}
	for _, s := range h.gateways.list(h.t, gateway.GWB, "/v1/subscriptions") {
		if str(s, "status") == "active" {
			runs++
		}
	}
	return runs == 1 && h.givenBack() == 4990 && oneLive("active")(h)
}
