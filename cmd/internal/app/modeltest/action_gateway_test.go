package modeltest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"marquee/modules/payments/gateway"
	sandboxa "marquee/testutil/sandbox/gwa/account"
)

// gatewayActions are what payers, banks and people at the vendors' panels do. What
// a gateway refuses did not happen.
var gatewayActions = []action{
	{name: "pix paid", weight: 8, act: payPix},
	{name: "pix runs out", weight: 2, act: func(h *history, s step) {
		if p, ok := pick(h.paymentsA(isOpenPix), s.Pick); ok && s.Who == 0 {
			_, err := h.gateways.a.ExpirePIX(str(p, "id"))
			h.logError("expire", err)
		} else if i, ok := pick(h.intentsB(hasPix), s.Pick); ok {
			h.logError("expire", h.gateways.b.ExpirePIX(str(i, "id")))
		}
	}},
	{name: "authentication done", weight: 4, act: func(h *history, s step) {
		if i, ok := pick(h.intentsB(isPendingAtBank), s.Pick); ok {
			h.logError("authenticate", h.gateways.b.CompleteChallenge(str(i, "id")))
		}
	}},
	{name: "authentication failed", weight: 1, act: func(h *history, s step) {
		if i, ok := pick(h.intentsB(isPendingAtBank), s.Pick); ok {
			h.logError("authenticate", h.gateways.b.FailChallenge(str(i, "id")))
		}
	}},
	{name: "renewal paid", weight: 4, act: func(h *history, s step) { renewAtGateway(h, s, "pm_card_visa") }},
	{name: "renewal fails", weight: 4, act: func(h *history, s step) {
		renewAtGateway(h, s, "pm_card_chargeCustomerFail")
	}},
	{name: "invoice retried", weight: 2, act: func(h *history, s step) {
		if i, ok := pick(h.gateways.list(h.t, gateway.GWB, "/v1/invoices?status=open"), s.Pick); ok {
			h.logError("retry", h.gateways.b.RetryInvoice(str(i, "id")))
		}
	}},
	{name: "debit fails", weight: 2, act: func(h *history, s step) {
		open := h.paymentsA(func(p object) bool {
			return str(p, "status") == "PENDING" && str(p, "pixAutomaticAuthorizationId") != ""
		})
		if p, ok := pick(open, s.Pick); ok {
			_, err := h.gateways.a.FailDebit(str(p, "id"))
			h.logError("fail debit", err)
		}
	}},
	{name: "overdue", weight: 1, act: func(h *history, s step) {
		if p, ok := pick(h.paymentsA(func(p object) bool { return str(p, "status") == "PENDING" }), s.Pick); ok {
			_, err := h.gateways.a.Overdue(str(p, "id"))
			h.logError("overdue", err)
		}
	}},
	{name: "gateway refunds", weight: 4, act: refundAtPanel},
	{name: "refund fails", weight: 1, act: func(h *history, s step) {
		if r, ok := pick(h.gateways.list(h.t, gateway.GWB, "/v1/refunds"), s.Pick); ok {
			h.logError("refund", h.gateways.b.FinishRefund(str(r, "id"), s.Pick%3 == 0))
		}
	}},
	{name: "refunds take time", weight: 1, act: func(h *history, s step) {
		_, err := h.gateways.a.ChangeSettings(func(o *sandboxa.Settings) { o.RefundsInProgress = s.Pick%2 == 0 })
		h.logError("settings", err)
	}},
	{name: "refund decided", weight: 2, act: func(h *history, s step) {
		if p, ok := pick(h.paymentsA(func(p object) bool { return str(p, "status") == "REFUND_IN_PROGRESS" }),
			s.Who); ok {
			_, err := h.gateways.a.EndRefund(str(p, "id"), s.Pick%2 == 1)
			h.logError("refund", err)
		}
	}},
	{name: "dispute opened", weight: 3, act: openDispute},
	{name: "dispute won", weight: 2, act: func(h *history, s step) { decideDispute(h, s, true) }},
	{name: "dispute lost", weight: 2, act: func(h *history, s step) { decideDispute(h, s, false) }},
	{name: "payment deleted", weight: 1, act: func(h *history, s step) {
		if p, ok := pick(h.paymentsA(func(p object) bool {
			return str(p, "status") == "PENDING" ||
				str(p, "status") == "OVERDUE"
		}), s.Pick); ok {
			h.touched[str(p, "subscription")] = true // a month given away
			callPanel(h, gateway.GWA, http.MethodDelete, "/v3/payments/"+str(p, "id"), nil)
		}
	}},
	{name: "recurrence deleted", weight: 2, act: func(h *history, s step) {
		if s.Who == 0 {
			if r, ok := pick(h.gateways.list(h.t, gateway.GWA, "/v3/subscriptions"), s.Pick); ok {
				callPanel(h, gateway.GWA, http.MethodDelete, "/v3/subscriptions/"+str(r, "id"), nil)
			}
		} else if r, ok := pick(h.gateways.list(h.t, gateway.GWB, "/v1/subscriptions"), s.Pick); ok {
			callPanel(h, gateway.GWB, http.MethodDelete, "/v1/subscriptions/"+str(r, "id"), nil)
		}
	}},
	{name: "authorization cancelled", weight: 2, act: func(h *history, s step) {
		if a, ok := pick(h.gateways.list(h.t, gateway.GWA, "/v3/pix/automatic/authorizations"), s.Pick); ok {
			_, err := h.gateways.a.CancelAuthorization(str(a, "id"), "CANCELLED_BY_PAYER")
			h.logError("authorization", err)
		}
	}},
}

func callPanel(h *history, name gateway.Name, method, path string, form url.Values) {
	status, res := h.gateways.call(h.t, name, method, path, form)
	h.logStep("panel %s %s: %d %.200v", method, path, status, res)
}

// paymentsA are the payments of gateway A that are so, newest first.
func (h *history) paymentsA(is func(object) bool) []object {
	return slices.DeleteFunc(h.gateways.list(h.t, gateway.GWA, "/v3/payments"), func(p object) bool {
		deleted, _ := p["deleted"].(bool)
		return deleted || !is(p)
	})
}

func isOpenPix(p object) bool {
	open := str(p, "status") == "PENDING" || str(p, "status") == "OVERDUE"
	return open && str(p, "billingType") == "PIX" && str(p, "pixAutomaticAuthorizationId") == ""
}

// intentsB are the payment intents of gateway B that are so, newest first.
func (h *history) intentsB(is func(object) bool) []object {
	return slices.DeleteFunc(h.gateways.list(h.t, gateway.GWB, "/v1/payment_intents"), func(i object) bool {
		return str(i, "status") != "requires_action" || !is(i)
	})
}

func hasPix(i object) bool {
	next, _ := i["next_action"].(object)
	return str(next, "type") == "pix_display_qr_code"
}

func isPendingAtBank(i object) bool { return !hasPix(i) }

// payPix pays one of the codes that are shown, at either gateway.
func payPix(h *history, s step) {
	var ways []func() error
	for _, i := range h.intentsB(hasPix) {
		ways = append(ways, func() error { return h.gateways.b.PayPIX(str(i, "id")) })
	}
	for _, p := range h.paymentsA(isOpenPix) {
		ways = append(ways, func() error { _, err := h.gateways.a.Pay(str(p, "id")); return err })
	}
	for _, a := range h.gateways.list(h.t, gateway.GWA, "/v3/pix/automatic/authorizations") {
		if str(a, "status") == "CREATED" {
			ways = append(ways, func() error { _, err := h.gateways.a.ActivateAuthorization(str(a, "id")); return err })
		}
	}
	if pay, ok := pick(ways, s.Pick); ok {
		h.logError("pay", pay())
	}
}

// renewAtGateway brings a renewal forward, with a card that is good or not.
func renewAtGateway(h *history, s step, outcome string) {
	var ways []func() error
	for _, r := range h.gateways.list(h.t, gateway.GWB, "/v1/subscriptions") {
		ways = append(ways, func() error {
			h.touched[str(r, "id")] = true
			method := str(r, "default_payment_method")
			if err := h.gateways.b.SetOutcome(method, outcome); err != nil {
				return fmt.Errorf("outcome of %q: %w", method, err)
			}
			return h.gateways.b.Renew(str(r, "id"))
		})
	}
	for _, r := range h.gateways.list(h.t, gateway.GWA, "/v3/subscriptions") {
		ways = append(ways, func() error {
			h.touched[str(r, "id")] = true
			_, err := h.gateways.a.Renew(str(r, "id"), outcome != "pm_card_visa")
			return err
		})
	}
	if renew, ok := pick(ways, s.Pick); ok {
		h.logError("renew", renew())
	}
}

func settledA(p object) bool {
	return str(p, "status") == "CONFIRMED" || str(p, "status") == "RECEIVED"
}

func (h *history) chargesB() []object {
	return slices.DeleteFunc(h.gateways.list(h.t, gateway.GWB, "/v1/charges"),
		func(c object) bool { return str(c, "status") != "succeeded" })
}

// refundAtPanel gives money back at the gateway, all that is left or a part.
func refundAtPanel(h *history, s step) {
	part := s.Pick%3 != 0
	if s.Who == 0 {
		if p, ok := pick(h.paymentsA(settledA), s.Pick); ok {
			body := `{}`
			if part {
				body = fmt.Sprintf(`{"value":%d.05}`, 5+s.Pick)
			}
			callPanel(h, gateway.GWA, http.MethodPost, "/v3/payments/"+str(p, "id")+"/refund",
				url.Values{"json": {body}})
		}
		return
	}
	if c, ok := pick(h.chargesB(), s.Pick); ok {
		form := url.Values{"charge": {str(c, "id")}}
		if part {
			form.Set("amount", strconv.Itoa(505+100*s.Pick))
		}
		callPanel(h, gateway.GWB, http.MethodPost, "/v1/refunds", form)
	}
}

func openDispute(h *history, s step) {
	if p, ok := pick(h.paymentsA(settledA), s.Pick); ok && s.Pick%2 == 0 {
		_, err := h.gateways.a.Chargeback(str(p, "id"), sandboxa.ChargebackRequested, "")
		h.logError("chargeback", err)
	} else if c, ok := pick(h.chargesB(), s.Pick); ok {
		_, err := h.gateways.b.OpenDispute(str(c, "id"), "", s.Pick%5 == 1)
		h.logError("dispute", err)
	}
}

// decideDispute ends a dispute.
func decideDispute(h *history, s step, won bool) {
	disputed := h.paymentsA(func(p object) bool {
		return str(p, "status") == "CHARGEBACK_REQUESTED" || str(p, "status") == "CHARGEBACK_DISPUTE"
	})
	if p, ok := pick(disputed, s.Pick); ok && s.Pick%2 == 0 {
		way := sandboxa.ChargebackLost
		if won {
			way = sandboxa.ChargebackWon
		}
		_, err := h.gateways.a.Chargeback(str(p, "id"), way, "")
		h.logError("chargeback", err)
	} else if d, ok := pick(h.gateways.list(h.t, gateway.GWB, "/v1/disputes"), s.Pick); ok {
		h.logError("dispute", h.gateways.b.CloseDispute(str(d, "id"), won))
	}
}
