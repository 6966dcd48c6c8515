package gwa

import (
	"context"
	"errors"
	"net/http"
	"time"

	"marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// change runs an operation outside of any call of the API: its events are sent at once.
func change[T any](g *Gateway, f func(now time.Time) (T, *account.APIError)) (T, error) {
	v, refused := do(context.Background(), g, f)
	if refused == nil {
		return v, nil
	}
	if refused.Status == http.StatusNotFound {
		return v, &stage.Refusal{Status: refused.Status, Message: "no such object"}
	}
	return v, errors.New(refused.Description)
}

// changePayment is change for what answers a payment.
func (g *Gateway) changePayment(f func(now time.Time) (*account.Payment, *account.APIError)) (any, error) {
	return change(g, func(now time.Time) (account.PaymentView, *account.APIError) {
		return g.ledger.WritePayment(f(now))
	})
}

// Advance moves the gateway's clock forward; what falls due on the way happens in order.
func (g *Gateway) Advance(by time.Duration) error {
	_, err := g.stage.Clock.Advance(by)
	return err
}

// Now is the gateway's time, in UTC.
func (g *Gateway) Now() time.Time { return g.stage.Clock.Now() }

// Pay pays an open payment: PIX and boleto are received, a card is confirmed.
func (g *Gateway) Pay(payment string) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.payments.Pay(payment, now)
	})
}

// PayPIX pays what a copy-and-paste text stands for, as a bank's app would: a payment, or the code of an
// authorization, which is thereby activated.
func (g *Gateway) PayPIX(payload string) (any, error) {
	g.stage.Lock()
	payment, authorization := g.payments.PaidBy(payload)
	g.stage.Unlock()
	switch {
	case payment != "":
		return g.Pay(payment)
	case authorization != "":
		return g.ActivateAuthorization(authorization)
	}
	return nil, stage.NotFound("PIX code", payload)
}

// ExpirePIX makes the code of a payment unpayable and the payment overdue.
func (g *Gateway) ExpirePIX(payment string) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.payments.ExpireQR(payment, now)
	})
}

// Overdue makes a pending payment overdue, as the vendor's helper does.
func (g *Gateway) Overdue(payment string) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.payments.ForceOverdue(payment, now)
	})
}

// Transfer is a PIX of value (cents) that has nothing to do with any charge.
func (g *Gateway) Transfer(value account.Cents) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.payments.Transfer(value, now)
	})
}

// Chargeback takes a cardholder's objection one step on; reason is for ChargebackRequested and may be empty.
func (g *Gateway) Chargeback(payment string, step account.ChargebackStep, reason string) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.payments.Chargeback(payment, step, reason, now)
	})
}

// TakeBack has the payer's bank take a received PIX back, value of it, all that is left when value is 0.
func (g *Gateway) TakeBack(payment string, value account.Cents) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.payments.TakeBack(payment, value, now)
	})
}

// EndRefund completes or denies a refund that Settings.RefundsInProgress left open.
func (g *Gateway) EndRefund(payment string, denied bool) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.payments.EndRefund(payment, denied, now)
	})
}

// EndRiskAnalysis approves or reproves a payment that Settings.RiskAnalysis left open. A reproved one is pending
// again (unverified).
func (g *Gateway) EndRiskAnalysis(payment string, approved bool) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.payments.EndRiskAnalysis(payment, approved, now)
	})
}

// FailDebit makes the next debit of a payment under an authorization be refused.
func (g *Gateway) FailDebit(payment string) (any, error) { return g.RefuseDebits(payment, "", 1) }

// RefuseDebits makes the payer's bank refuse a payment under an authorization on the next days on which it is tried;
// reason is a word of the bank's, INSUFFICIENT_FUNDS when empty. No times: it pays again.
func (g *Gateway) RefuseDebits(payment, reason string, times int) (any, error) {
	return g.changePayment(func(time.Time) (*account.Payment, *account.APIError) {
		return g.debits.FailDebit(payment, reason, times)
	})
}

// RefuseDebitNow makes the payer's bank refuse the open order of a payment before its day.
func (g *Gateway) RefuseDebitNow(payment, reason string) (any, error) {
	if reason == "" {
		reason = account.ReasonFunds
	}
	return change(g, func(now time.Time) (v account.InstructionView, _ *account.APIError) {
		i, err := g.debits.RefuseNow(payment, reason, now)
		if err != nil {
			return v, err
		}
		return i.View(account.ISOText), nil
	})
}

// CancelDebit is the payer taking one debit back in the bank's app, which leaves the authorization as it is; reason is
// REQUESTED_BY_PAYER_USER when empty.
func (g *Gateway) CancelDebit(payment, reason string) (any, error) {
	if reason == "" {
		reason = account.ReasonByPayer
	}
	return change(g, func(now time.Time) (v account.InstructionView, _ *account.APIError) {
		i, err := g.debits.CancelByPayer(payment, reason, now)
		if err != nil {
			return v, err
		}
		return i.View(account.ISOText), nil
	})
}

// Renew brings the next charge of a subscription forward to now and collects it, with the events of a renewal; the
// oldest charge that is still open if there is one, else a new one. With fail the card is refused.
func (g *Gateway) Renew(subscription string, fail bool) (any, error) {
	return g.changePayment(func(now time.Time) (*account.Payment, *account.APIError) {
		return g.subscriptions.Renew(subscription, fail, now)
	})
}

// FailNextCharge makes the next charge of a subscription that falls due be refused.
func (g *Gateway) FailNextCharge(subscription string) (any, error) {
	return g.changeSubscription(subscription, func(sub *account.Subscription) { sub.FailNext = true })
}

// DeclineCard makes the card under a subscription refuse every charge, or accept them again.
func (g *Gateway) DeclineCard(subscription string, declines bool) (any, error) {
	return g.changeSubscription(subscription, func(sub *account.Subscription) {
		if card, ok := g.ledger.Cards.Find(sub.CardToken); ok {
			card.Declines = declines
		}
	})
}

func (g *Gateway) changeSubscription(id string, f func(sub *account.Subscription)) (any, error) {
	return change(g, func(time.Time) (v account.SubscriptionView, err *account.APIError) {
		sub, err := g.ledger.LiveSubscription(id)
		if err != nil {
			return v, err
		}
		f(sub)
		return g.ledger.SubscriptionView(sub), nil
	})
}

// ActivateAuthorization is the payer paying the first code and consenting.
func (g *Gateway) ActivateAuthorization(id string) (any, error) {
	return g.changeAuthorization(func(now time.Time) (*account.Authorization, *account.APIError) {
		return g.debits.Activate(id, now)
	})
}

// RefuseAuthorization is the code that runs out unpaid.
func (g *Gateway) RefuseAuthorization(id string) (any, error) {
	return g.changeAuthorization(func(now time.Time) (*account.Authorization, *account.APIError) {
		return g.debits.EndAuthorization(id, account.StatusRefused, "", now, account.StatusCreated)
	})
}

// CancelAuthorization is the payer cancelling in the bank's app; reason is free text, CANCELLED_BY_PAYER when empty.
func (g *Gateway) CancelAuthorization(id, reason string) (any, error) {
	if reason == "" {
		reason = "CANCELLED_BY_PAYER"
	}
	return g.changeAuthorization(func(now time.Time) (*account.Authorization, *account.APIError) {
		return g.debits.EndAuthorization(id, account.StatusCancelled, reason, now,
			account.StatusCreated, account.StatusActive)
	})
}

// ExpireAuthorization is the finish date going by. One without a finish date ends today.
func (g *Gateway) ExpireAuthorization(id string) (any, error) {
	return g.changeAuthorization(func(now time.Time) (*account.Authorization, *account.APIError) {
		a, err := g.ledger.AuthorizationIn(id, account.StatusActive)
		if err != nil {
			return nil, err
		}
		if a.Finish == "" {
			a.Finish = account.DayOf(now)
		}
		return g.debits.EndAuthorization(id, account.StatusExpired, "", now, account.StatusActive)
	})
}

func (g *Gateway) changeAuthorization(f func(now time.Time) (*account.Authorization, *account.APIError)) (any, error) {
	return change(g, func(now time.Time) (v account.AuthorizationView, _ *account.APIError) {
		a, err := f(now)
		if err != nil {
			return v, err
		}
		return a.View(account.ISOText, account.ISOTime), nil
	})
}

// SendEvent tells a named event for an object as it stands, whether or not it happened.
func (g *Gateway) SendEvent(name, object string) error {
	_, err := change(g, func(now time.Time) (struct{}, *account.APIError) {
		return struct{}{}, g.ledger.SendNamed(name, object, now)
	})
	return err
}

// ChangeSettings changes the switches; a value that makes no sense leaves them as they were.
func (g *Gateway) ChangeSettings(f func(*account.Settings)) (account.Settings, error) {
	return change(g, func(time.Time) (account.Settings, *account.APIError) {
		s := g.ledger.Settings
		f(&s)
		if err := s.Check(); err != nil {
			return g.ledger.Settings, err
		}
		g.ledger.Settings = s
		return s, nil
	})
}

// SetBalance sets the account's money, against which refunds are checked.
func (g *Gateway) SetBalance(balance account.Cents) {
	_, _ = change(g, func(time.Time) (struct{}, *account.APIError) {
		g.ledger.Balance = balance
		return struct{}{}, nil
	})
}

// ExhaustRateLimit answers 429 to every call until reset has passed on the gateway's clock.
func (g *Gateway) ExhaustRateLimit(reset time.Duration) {
	_, _ = change(g, func(now time.Time) (struct{}, *account.APIError) {
		g.ledger.Exhaust(reset, now)
		return struct{}{}, nil
	})
}

// LeaveOfRateLimit lets so many calls more through in the 12 hours that begin now.
func (g *Gateway) LeaveOfRateLimit(calls int) {
	_, _ = change(g, func(now time.Time) (struct{}, *account.APIError) {
		g.ledger.RateWindow = account.RateWindow{Used: account.RateLimit - calls, Ends: now.Add(account.RateLength)}
		return struct{}{}, nil
	})
}
