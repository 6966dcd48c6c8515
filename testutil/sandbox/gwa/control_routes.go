package gwa

import (
	"net/http"
	"time"

	"marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// registerControls puts the controls under /_sandbox; the clock, faults, the webhook queue and the journal are the
// stage's own.
func registerControls(g *Gateway) {
	registerPaymentControls(g)
	registerSubscriptionControls(g)
	registerAuthorizationControls(g)
	registerAccountControls(g)
}

// byID registers a control without a body on one object.
func byID(g *Gateway, path, about string, do func(id string) (any, error)) {
	g.stage.Control(stage.Control{
		Method: "POST", Path: path, About: about,
		Do: func(r *http.Request) (any, error) { return do(r.PathValue("id")) },
	})
}

// withBody registers a control whose body is a B; example is shown in the list of controls.
func withBody[B any](g *Gateway, method, path, about string, example B, do func(id string, body B) (any, error)) {
	g.stage.Control(stage.Control{
		Method: method, Path: path, About: about, Body: example,
		Do: func(r *http.Request) (any, error) {
			var body B
			if err := stage.Decode(r, &body); err != nil {
				return nil, err
			}
			return do(r.PathValue("id"), body)
		},
	})
}

type codeBody struct {
	Payload string `json:"payload"`
}

type valueBody struct {
	Value account.Cents `json:"value"`
}

type refusalBody struct {
	Reason string `json:"reason,omitempty"`
	Times  int    `json:"times,omitempty"`
}

type chargebackBody struct {
	Step   account.ChargebackStep `json:"step"`
	Reason string                 `json:"reason,omitempty"`
}

func registerPaymentControls(g *Gateway) {
	byID(g, "/_sandbox/payments/{id}/pay", "Pay an open payment: PIX is received, a card confirmed.", g.Pay)
	withBody(g, "POST", "/_sandbox/pix/pay",
		"Pay what a copy-and-paste text stands for, a payment or an authorization's first code.",
		codeBody{"00020101021226…"}, func(_ string, b codeBody) (any, error) { return g.PayPIX(b.Payload) })
	byID(g, "/_sandbox/payments/{id}/expire", "Make the PIX code of a payment unpayable and the payment overdue.",
		g.ExpirePIX)
	byID(g, "/_sandbox/payments/{id}/overdue", "Make a pending payment overdue.", g.Overdue)
	withBody(g, "POST", "/_sandbox/pix/transfer", "Receive a PIX that has nothing to do with any charge.",
		valueBody{1250}, func(_ string, b valueBody) (any, error) { return g.Transfer(b.Value) })
	withBody(g, "POST", "/_sandbox/payments/{id}/chargeback",
		"Take a chargeback one step on: requested, disputed, lost, won.",
		chargebackBody{account.ChargebackRequested, account.DefaultChargebackReason},
		func(id string, b chargebackBody) (any, error) { return g.Chargeback(id, b.Step, b.Reason) })
	withBody(g, "POST", "/_sandbox/payments/{id}/take-back",
		"Have the payer's bank take a received PIX back (MED), a part with a value.",
		valueBody{}, func(id string, b valueBody) (any, error) { return g.TakeBack(id, b.Value) })
	byID(g, "/_sandbox/payments/{id}/refund/complete", "Complete a refund in progress.",
		func(id string) (any, error) { return g.EndRefund(id, false) })
	byID(g, "/_sandbox/payments/{id}/refund/deny", "Deny a refund in progress.",
		func(id string) (any, error) { return g.EndRefund(id, true) })
	byID(g, "/_sandbox/payments/{id}/risk/approve", "Approve a payment in risk analysis.",
		func(id string) (any, error) { return g.EndRiskAnalysis(id, true) })
	byID(g, "/_sandbox/payments/{id}/risk/reprove", "Reprove a payment in risk analysis.",
		func(id string) (any, error) { return g.EndRiskAnalysis(id, false) })
	withBody(g, "POST", "/_sandbox/payments/{id}/fail-debit",
		"Refuse the next debits of a payment under an authorization, one a day.",
		refusalBody{"INSUFFICIENT_FUNDS", 1}, func(id string, b refusalBody) (any, error) {
			return g.RefuseDebits(id, b.Reason, max(b.Times, 1))
		})
	withBody(g, "POST", "/_sandbox/payments/{id}/refuse-debit", "Refuse the open order of a debit now, before its day.",
		reasonBody{account.ReasonFunds},
		func(id string, b reasonBody) (any, error) { return g.RefuseDebitNow(id, b.Reason) })
	withBody(g, "POST", "/_sandbox/payments/{id}/cancel-debit", "Take one debit back in the payer's bank app.",
		reasonBody{account.ReasonByPayer},
		func(id string, b reasonBody) (any, error) { return g.CancelDebit(id, b.Reason) })
}

type renewBody struct {
	Fail bool `json:"fail"`
}

type declineBody struct {
	Declines bool `json:"declines"`
}

func registerSubscriptionControls(g *Gateway) {
	withBody(g, "POST", "/_sandbox/subscriptions/{id}/renew",
		"Bring the next charge forward to now and collect it; fail refuses the card.",
		renewBody{}, func(id string, b renewBody) (any, error) { return g.Renew(id, b.Fail) })
	byID(g, "/_sandbox/subscriptions/{id}/fail-next-charge", "Refuse the next charge that falls due.", g.FailNextCharge)
	withBody(g, "PUT", "/_sandbox/subscriptions/{id}/card", "Make the card refuse every charge, or accept them again.",
		declineBody{true}, func(id string, b declineBody) (any, error) { return g.DeclineCard(id, b.Declines) })
}

type reasonBody struct {
	Reason string `json:"reason,omitempty"`
}

func registerAuthorizationControls(g *Gateway) {
	byID(g, "/_sandbox/authorizations/{id}/activate", "Pay the first code and consent.", g.ActivateAuthorization)
	byID(g, "/_sandbox/authorizations/{id}/refuse", "Let the first code run out unpaid.", g.RefuseAuthorization)
	withBody(g, "POST", "/_sandbox/authorizations/{id}/cancel", "Cancel in the payer's bank app.",
		reasonBody{"CANCELLED_BY_PAYER"},
		func(id string, b reasonBody) (any, error) { return g.CancelAuthorization(id, b.Reason) })
	byID(g, "/_sandbox/authorizations/{id}/expire", "Let the finish date go by.", g.ExpireAuthorization)
}

type eventBody struct {
	Event string `json:"event"`
	ID    string `json:"id"`
}

type rateBody struct {
	Reset stage.Duration `json:"reset"`
}

func registerAccountControls(g *Gateway) {
	withBody(g, "POST", "/_sandbox/events",
		"Send a named event for an object as it stands; unknown names are sent, too.",
		eventBody{"PAYMENT_CONFIRMED", "pay_…"},
		func(_ string, b eventBody) (any, error) { return nil, g.SendEvent(b.Event, b.ID) })
	g.stage.Control(stage.Control{
		Method: "GET", Path: "/_sandbox/settings", About: "Show the switches of the account.",
		Do: func(*http.Request) (any, error) { return g.ChangeSettings(func(*account.Settings) {}) },
	})
	g.stage.Control(stage.Control{
		Method: "PATCH", Path: "/_sandbox/settings", About: "Change the switches that are named.",
		Body: account.DefaultSettings(),
		Do:   func(r *http.Request) (any, error) { return patchSettings(g, r) },
	})
	withBody(g, "PUT", "/_sandbox/balance", "Set the account's money (reais), against which refunds are checked.",
		valueBody{DefaultBalanceCents},
		func(_ string, b valueBody) (any, error) { g.SetBalance(b.Value); return b, nil })
	withBody(g, "POST", "/_sandbox/rate-limit", "Answer 429 to every call until reset has passed.",
		rateBody{stage.Duration(30 * time.Second)}, func(_ string, b rateBody) (any, error) {
			g.ExhaustRateLimit(time.Duration(b.Reset))
			return nil, nil
		})
}

func patchSettings(g *Gateway, r *http.Request) (any, error) {
	settings, err := g.ChangeSettings(func(*account.Settings) {})
	if err != nil {
		return nil, err
	}
	if err := stage.Decode(r, &settings); err != nil {
		return nil, err
	}
	return g.ChangeSettings(func(s *account.Settings) { *s = settings })
}
