package gwb

import (
	"errors"
	"fmt"
	"net/http"

	"marquee/testutil/sandbox/gwb/account"
	"marquee/testutil/sandbox/stage"
)

// Every control is an exported method; the routes below /_sandbox call the same. All of them return a *stage.Refusal
// for an unknown id (404) or a state that forbids it (409).

func conflict(format string, args ...any) error {
	return &stage.Refusal{Status: http.StatusConflict, Message: fmt.Sprintf(format, args...)}
}

// within runs a control with the objects locked.
func (g *Gateway) within(do func(o *account.Op) error) error {
	g.stage.Lock()
	defer g.stage.Unlock()
	defer g.stage.Changed()
	return do(g.ledger.Background())
}

// CreateCard makes the payment method that a browser would make from a test card, and returns its id. Other numbers
// are declined.
func (g *Gateway) CreateCard(c account.Card) (id string, err error) {
	err = g.within(func(*account.Op) error {
		m, err := g.ledger.Mint(c)
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
	return g.within(func(*account.Op) error {
		m := g.ledger.PaymentMethods.Get(methodID)
		c, known := account.CardByAlias(alias)
		switch {
		case m == nil:
			return stage.NotFound("payment method", methodID)
		case !known:
			return stage.NotFound("test card", alias)
		}
		m.Outcome = c.Outcome
		return nil
	})
}

// PayPIX pays the code that an intent shows, now.
func (g *Gateway) PayPIX(intentID string) error {
	return g.withPIX(intentID, (*account.Op).PayPIX)
}

// ExpirePIX lets the code that an intent shows expire, now.
func (g *Gateway) ExpirePIX(intentID string) error {
	return g.withPIX(intentID, (*account.Op).ExpirePIX)
}

func (g *Gateway) withPIX(id string, do func(*account.Op, *account.PaymentIntent)) error {
	return g.within(func(o *account.Op) error {
		if g.ledger.Intents.Get(id) == nil {
			return stage.NotFound("payment intent", id)
		}
		p := g.ledger.PendingPIX(id)
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
		func(o *account.Op, p *account.PaymentIntent) { o.Succeed(p, g.ledger.PaymentMethods.Get(p.Method)) },
		(*account.Op).SucceedSetup)
}

// FailChallenge ends the 3-D Secure step of a payment intent or setup intent badly.
func (g *Gateway) FailChallenge(id string) error {
	return g.withChallenge(id,
		func(o *account.Op, p *account.PaymentIntent) {
			const code = "payment_intent_authentication_failure"
			o.FailIntent(p, account.Object{
				"code": code, "doc_url": account.DocURL(code), "type": account.TypeRequest,
				"message": "The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new PaymentMethod to attempt to fulfill this PaymentIntent again.",
			}, "")
		},
		func(o *account.Op, s *account.SetupIntent) { _ = o.FailSetup(s, "authentication_required") })
}

func (g *Gateway) withChallenge(id string, payment func(*account.Op, *account.PaymentIntent),
	setup func(*account.Op, *account.SetupIntent),
) error {
	return g.within(func(o *account.Op) error {
		if s := g.ledger.SetupIntents.Get(id); s != nil && s.Status == account.IntentRequiresAction {
			setup(o, s)
			return nil
		}
		p := g.ledger.Intents.Get(id)
		if p == nil && g.ledger.SetupIntents.Get(id) == nil {
			return stage.NotFound("intent", id)
		}
		if p == nil || p.Status != account.IntentRequiresAction || p.PIXCode != "" {
			return conflict("intent %s waits for no authentication", id)
		}
		payment(o, p)
		return nil
	})
}

// Renew ends a subscription's current period now, so that it renews, ends its trial, or ends as asked for, without
// moving the clock.
func (g *Gateway) Renew(subscriptionID string) error {
	return g.within(func(o *account.Op) error {
		s := g.ledger.Subscriptions.Get(subscriptionID)
		switch {
		case s == nil:
			return stage.NotFound("subscription", subscriptionID)
		case s.Over() || s.Status == account.SubIncomplete:
			return conflict("subscription %s is %s", s.ID, s.Status)
		}
		g.stage.Clock.Cancel(account.JobPeriodEnd, s.ID)
		s.PeriodEnd = g.ledger.Now()
		s.Anchor = s.PeriodEnd
		if s.Status == account.SubTrialing {
			s.TrialEnd = s.PeriodEnd
		}
		account.Jobs{Op: o}.EndPeriod(s.ID)
		return nil
	})
}

// RetryInvoice makes the next dunning attempt now.
func (g *Gateway) RetryInvoice(invoiceID string) error {
	return g.within(func(o *account.Op) error {
		inv := g.ledger.Invoices.Get(invoiceID)
		switch {
		case inv == nil:
			return stage.NotFound("invoice", invoiceID)
		case inv.Status != account.InvoiceOpen:
			return conflict("invoice %s is %s", inv.ID, inv.Status)
		}
		g.stage.Clock.Cancel(account.JobInvoiceRetry, inv.ID)
		account.Jobs{Op: o}.RetryInvoice(inv.ID)
		return nil
	})
}

// OpenDispute has a charge disputed, given by its own id or its payment intent's; inquiry opens one that is not a
// chargeback yet. An empty reason is "fraudulent". It returns the dispute's id.
func (g *Gateway) OpenDispute(chargeOrIntent, reason string, inquiry bool) (id string, err error) {
	err = g.within(func(o *account.Op) error {
		c := g.ledger.Charges.Get(chargeOrIntent)
		if p := g.ledger.Intents.Get(chargeOrIntent); p != nil {
			c = g.ledger.Charges.Get(p.LatestCharge)
		}
		switch {
		case c == nil:
			return stage.NotFound("charge", chargeOrIntent)
		case c.Status != account.ChargeSucceeded || c.Disputed:
			return conflict("charge %s has failed or is disputed already", c.ID)
		}
		if reason == "" {
			reason = "fraudulent"
		}
		id = o.OpenDispute(c, reason, inquiry).ID
		return nil
	})
	return id, err
}

// CloseDispute decides a dispute for the merchant (won) or for the card holder.
func (g *Gateway) CloseDispute(disputeID string, won bool) error {
	return g.within(func(o *account.Op) error {
		d := g.ledger.Disputes.Get(disputeID)
		switch {
		case d == nil:
			return stage.NotFound("dispute", disputeID)
		case !d.Open():
			return conflict("dispute %s is %s", d.ID, d.Status)
		}
		o.CloseDispute(d, won)
		return nil
	})
}

// FinishRefund lets a refund end: a pending one succeeds or fails, and also one that succeeded can still fail.
func (g *Gateway) FinishRefund(refundID string, succeeded bool) error {
	return g.within(func(o *account.Op) error {
		r := g.ledger.Refunds.Get(refundID)
		switch {
		case r == nil:
			return stage.NotFound("refund", refundID)
		case r.Status == "failed" || r.Status == "succeeded" && succeeded:
			return conflict("refund %s is %s", r.ID, r.Status)
		}
		g.stage.Clock.Cancel(account.JobRefundFail, r.ID)
		if succeeded {
			o.SucceedRefund(r)
		} else {
			o.FailRefund(r)
		}
		return nil
	})
}

// SendEvent sends an event of any type with the present state of the object, whether or not it fits, and returns the
// event's id.
func (g *Gateway) SendEvent(eventType, objectID string) (id string, err error) {
	err = g.within(func(o *account.Op) error {
		if eventType == "" {
			return errors.New("type is missing")
		}
		if g.ledger.Render(objectID, account.Dahlia) == nil {
			return stage.NotFound("object", objectID)
		}
		id = o.EmitAbout(eventType, objectID)
		return nil
	})
	return id, err
}
