package gwb

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"marquee/testutil/sandbox/stage"
)

// Every control is an exported method; the routes below /_sandbox call the same. All of them return a *stage.Refusal
// for an unknown id (404) or a state that forbids it (409).

func conflict(format string, args ...any) error {
	return &stage.Refusal{Status: http.StatusConflict, Message: fmt.Sprintf(format, args...)}
}

// within runs a control with the objects locked.
func (g *Gateway) within(do func(o *op) error) error {
	g.stage.Lock()
	defer g.stage.Unlock()
	defer g.stage.Changed()
	return do(g.background())
}

// CreateCard makes the payment method that a browser would make from a test card, and returns its id. Other numbers
// are declined.
func (g *Gateway) CreateCard(c Card) (id string, err error) {
	err = g.within(func(*op) error {
		m, err := g.mint(c)
		if err == nil {
			id = m.ID
		}
		return err
	})
	return id, err
}

// SetOutcome makes a payment method behave as a test card from now on; alias is that card's id, such as
// "pm_card_chargeCustomerFail".
func (g *Gateway) SetOutcome(methodID, alias string) error {
	return g.within(func(*op) error {
		m := g.data.PaymentMethods.Get(methodID)
		c, known := cardByAlias(alias)
		switch {
		case m == nil:
			return stage.NotFound("payment method", methodID)
		case !known:
			return stage.NotFound("test card", alias)
		}
		m.Outcome = c.outcome
		return nil
	})
}

// PayPIX pays the code that an intent shows, now.
func (g *Gateway) PayPIX(intentID string) error {
	return g.withPIX(intentID, (*op).payPIX)
}

// ExpirePIX lets the code that an intent shows expire, now.
func (g *Gateway) ExpirePIX(intentID string) error {
	return g.withPIX(intentID, (*op).expirePIX)
}

func (g *Gateway) withPIX(id string, do func(*op, *paymentIntent)) error {
	return g.within(func(o *op) error {
		if g.data.Intents.Get(id) == nil {
			return stage.NotFound("payment intent", id)
		}
		p := g.pendingPIX(id)
		if p == nil {
			return conflict("payment intent %s shows no PIX code", id)
		}
		do(o, p)
		return nil
	})
}

// CompleteChallenge ends the 3-D Secure step of a payment intent or setup intent well, as the customer would in the
// bank's window.
func (g *Gateway) CompleteChallenge(id string) error {
	return g.withChallenge(id,
		func(o *op, p *paymentIntent) { o.succeed(p, g.data.PaymentMethods.Get(p.Method)) },
		(*op).succeedSetup)
}

// FailChallenge ends the 3-D Secure step of a payment intent or setup intent badly.
func (g *Gateway) FailChallenge(id string) error {
	return g.withChallenge(id,
		func(o *op, p *paymentIntent) {
			const code = "payment_intent_authentication_failure"
			o.failIntent(p, object{
				"code": code, "doc_url": docURL(code), "type": typeRequest,
				"message": "The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new PaymentMethod to attempt to fulfill this PaymentIntent again.",
			}, "")
		},
		func(o *op, s *setupIntent) { _ = o.failSetup(s, "authentication_required") })
}

func (g *Gateway) withChallenge(id string, payment func(*op, *paymentIntent), setup func(*op, *setupIntent)) error {
	return g.within(func(o *op) error {
		if s := g.data.SetupIntents.Get(id); s != nil && s.Status == intentRequiresAction {
			setup(o, s)
			return nil
		}
		p := g.data.Intents.Get(id)
		if p == nil && g.data.SetupIntents.Get(id) == nil {
			return stage.NotFound("intent", id)
		}
		if p == nil || p.Status != intentRequiresAction || p.PIXCode != "" {
			return conflict("intent %s waits for no authentication", id)
		}
		payment(o, p)
		return nil
	})
}

// Renew ends a subscription's current period now, so that it renews, ends its trial, or ends as asked for, without
// moving the clock.
func (g *Gateway) Renew(subscriptionID string) error {
	return g.within(func(o *op) error {
		s := g.data.Subscriptions.Get(subscriptionID)
		switch {
		case s == nil:
			return stage.NotFound("subscription", subscriptionID)
		case s.over() || s.Status == subIncomplete:
			return conflict("subscription %s is %s", s.ID, s.Status)
		}
		g.stage.Clock.Cancel(jobPeriodEnd, s.ID)
		s.PeriodEnd = g.now()
		s.Anchor = s.PeriodEnd
		if s.Status == subTrialing {
			s.TrialEnd = s.PeriodEnd
		}
		o.endPeriod(s.ID)
		return nil
	})
}

// RetryInvoice makes the next dunning attempt now.
func (g *Gateway) RetryInvoice(invoiceID string) error {
	return g.within(func(o *op) error {
		inv := g.data.Invoices.Get(invoiceID)
		switch {
		case inv == nil:
			return stage.NotFound("invoice", invoiceID)
		case inv.Status != invoiceOpen:
			return conflict("invoice %s is %s", inv.ID, inv.Status)
		}
		g.stage.Clock.Cancel(jobInvoiceRetry, inv.ID)
		o.retryInvoice(inv.ID)
		return nil
	})
}

// OpenDispute has a charge disputed, given by its own id or its payment intent's; inquiry opens one that is not a
// chargeback yet. An empty reason is "fraudulent". It returns the dispute's id.
func (g *Gateway) OpenDispute(chargeOrIntent, reason string, inquiry bool) (id string, err error) {
	err = g.within(func(o *op) error {
		c := g.data.Charges.Get(chargeOrIntent)
		if p := g.data.Intents.Get(chargeOrIntent); p != nil {
			c = g.data.Charges.Get(p.LatestCharge)
		}
		switch {
		case c == nil:
			return stage.NotFound("charge", chargeOrIntent)
		case c.Status != chargeSucceeded || c.Disputed:
			return conflict("charge %s has failed or is disputed already", c.ID)
		}
		if reason == "" {
			reason = "fraudulent"
		}
		id = o.openDispute(c, reason, inquiry).ID
		return nil
	})
	return id, err
}

// CloseDispute decides a dispute for the merchant (won) or for the card holder.
func (g *Gateway) CloseDispute(disputeID string, won bool) error {
	return g.within(func(o *op) error {
		d := g.data.Disputes.Get(disputeID)
		switch {
		case d == nil:
			return stage.NotFound("dispute", disputeID)
		case !d.open():
			return conflict("dispute %s is %s", d.ID, d.Status)
		}
		o.closeDispute(d, won)
		return nil
	})
}

// FinishRefund lets a refund end: a pending one succeeds or fails, and also one that succeeded can still fail.
func (g *Gateway) FinishRefund(refundID string, succeeded bool) error {
	return g.within(func(o *op) error {
		r := g.data.Refunds.Get(refundID)
		switch {
		case r == nil:
			return stage.NotFound("refund", refundID)
		case r.Status == "failed" || r.Status == "succeeded" && succeeded:
			return conflict("refund %s is %s", r.ID, r.Status)
		}
		g.stage.Clock.Cancel(jobRefundFail, r.ID)
		if succeeded {
			o.succeedRefund(r)
		} else {
			o.failRefund(r)
		}
		return nil
	})
}

// SendEvent sends an event of any type with the present state of the object, whether or not it fits, and returns the
// event's id.
func (g *Gateway) SendEvent(eventType, objectID string) (id string, err error) {
	err = g.within(func(o *op) error {
		if eventType == "" {
			return errors.New("type is missing")
		}
		if g.render(objectID, Dahlia) == nil {
			return stage.NotFound("object", objectID)
		}
		id = o.emitAbout(eventType, objectID)
		return nil
	})
	return id, err
}

// TestCard describes a test card for listings: its shared id and its public test number.
type TestCard struct {
	ID      string `json:"id"`
	Number  string `json:"number"`
	Outcome any    `json:"outcome"`
}

// TestCards lists the cards that the gateway knows.
func TestCards() []TestCard {
	out := make([]TestCard, 0, len(testCards))
	for id, c := range testCards {
		out = append(out, TestCard{ID: id, Number: c.number, Outcome: c.outcome})
	}
	slices.SortFunc(out, func(a, b TestCard) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out
}
