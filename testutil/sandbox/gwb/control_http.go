package gwb

import (
	"net/http"

	"marquee/testutil/sandbox/gwb/account"
	"marquee/testutil/sandbox/stage"
)

// registerControls adds the controls of gateway B to the common ones.
func registerControls(g *Gateway) {
	registerCards(g)
	registerPayments(g)
	registerAfterwards(g)
	registerEvents(g)
}

// onID registers a control without a body on an object.
func onID(g *Gateway, path, about string, do func(id string) error) {
	g.stage.Control(stage.Control{
		Method: http.MethodPost, Path: path, About: about,
		Do: func(r *http.Request) (any, error) { return nil, do(r.PathValue("id")) },
	})
}

func withID(id string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return map[string]string{"id": id}, nil
}

func registerCards(g *Gateway) {
	g.stage.Control(stage.Control{
		Method: "GET", Path: "/_sandbox/test-cards",
		About: "List the test cards: shared id, public test number, behaviour.",
		Do:    func(*http.Request) (any, error) { return account.TestCards(), nil },
	})
	g.stage.Control(stage.Control{
		Method: "POST", Path: "/_sandbox/payment_methods",
		About: "Make the payment method that a browser would make from a test card.",
		Body:  map[string]any{"number": "4242424242424242", "exp_month": 4, "exp_year": 2035, "cvc": "123"},
		Do: func(r *http.Request) (any, error) {
			var c account.Card
			if err := stage.Decode(r, &c); err != nil {
				return nil, err
			}
			return withID(g.CreateCard(c))
		},
	})
	g.stage.Control(stage.Control{
		Method: "PUT", Path: "/_sandbox/payment_methods/{id}/outcome",
		About: "Make a payment method behave as a test card, e.g. decline from now on.",
		Body:  map[string]string{"card": "pm_card_chargeCustomerFail"},
		Do: func(r *http.Request) (any, error) {
			var b struct {
				Card string `json:"card"`
			}
			if err := stage.Decode(r, &b); err != nil {
				return nil, err
			}
			return nil, g.SetOutcome(r.PathValue("id"), b.Card)
		},
	})
}

func registerPayments(g *Gateway) {
	onID(g, "/_sandbox/payment_intents/{id}/pay", "Pay the PIX code that a payment intent shows.", g.PayPIX)
	onID(g, "/_sandbox/payment_intents/{id}/expire", "Let the PIX code of a payment intent expire.", g.ExpirePIX)
	onID(g, "/_sandbox/intents/{id}/authenticate", "Complete the 3-D Secure step of a payment or setup intent.",
		g.CompleteChallenge)
	onID(g, "/_sandbox/intents/{id}/fail-authentication", "Fail the 3-D Secure step of a payment or setup intent.",
		g.FailChallenge)
	onID(g, "/_sandbox/subscriptions/{id}/renew",
		"End a subscription's current period now: it renews, ends its trial, or ends.", g.Renew)
	onID(g, "/_sandbox/invoices/{id}/retry", "Make the next attempt to collect an unpaid invoice now.", g.RetryInvoice)
}

func registerAfterwards(g *Gateway) {
	g.stage.Control(stage.Control{
		Method: "POST", Path: "/_sandbox/charges/{id}/dispute",
		About: "Have a charge disputed, named by its id or its payment intent's; an inquiry is no chargeback yet.",
		Body:  map[string]any{"reason": "fraudulent", "inquiry": false},
		Do: func(r *http.Request) (any, error) {
			var b struct {
				Reason  string `json:"reason"`
				Inquiry bool   `json:"inquiry"`
			}
			if err := stage.Decode(r, &b); err != nil {
				return nil, err
			}
			return withID(g.OpenDispute(r.PathValue("id"), b.Reason, b.Inquiry))
		},
	})
	onID(g, "/_sandbox/disputes/{id}/win", "Decide a dispute for the merchant.",
		func(id string) error { return g.CloseDispute(id, true) })
	onID(g, "/_sandbox/disputes/{id}/lose", "Decide a dispute for the card holder.",
		func(id string) error { return g.CloseDispute(id, false) })
	onID(g, "/_sandbox/refunds/{id}/succeed", "Let a pending refund succeed.",
		func(id string) error { return g.FinishRefund(id, true) })
	onID(g, "/_sandbox/refunds/{id}/fail", "Let a refund fail, also one that had succeeded.",
		func(id string) error { return g.FinishRefund(id, false) })
}

func registerEvents(g *Gateway) {
	g.stage.Control(stage.Control{
		Method: "POST", Path: "/_sandbox/events",
		About: "Send an event of any type with the present state of an object.",
		Body:  map[string]string{"type": "invoice.paid", "object": "in_…"},
		Do: func(r *http.Request) (any, error) {
			var b struct {
				Type   string `json:"type"`
				Object string `json:"object"`
			}
			if err := stage.Decode(r, &b); err != nil {
				return nil, err
			}
			return withID(g.SendEvent(b.Type, b.Object))
		},
	})
	g.stage.Control(stage.Control{
		Method: "PUT", Path: "/_sandbox/shape",
		About: "Choose the form of objects in later events: dahlia or pre-basil.",
		Body:  map[string]string{"shape": "pre-basil"},
		Do: func(r *http.Request) (any, error) {
			var b struct {
				Shape account.Shape `json:"shape"`
			}
			if err := stage.Decode(r, &b); err != nil {
				return nil, err
			}
			return nil, g.SetShape(b.Shape)
		},
	})
	g.stage.Control(stage.Control{
		Method: "PUT", Path: "/_sandbox/webhooks/endpoint",
		About: "Set where events are sent and the secret that signs them.",
		Body:  map[string]string{"url": "http://127.0.0.1:8080/webhooks/gwb", "secret": "whsec_…"},
		Do: func(r *http.Request) (any, error) {
			var b struct {
				URL    string `json:"url"`
				Secret string `json:"secret"`
			}
			if err := stage.Decode(r, &b); err != nil {
				return nil, err
			}
			g.SetWebhook(b.URL, b.Secret)
			return nil, nil
		},
	})
}
