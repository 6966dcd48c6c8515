package gwa

import (
	"context"
	"errors"
	"fmt"

	"marquee/modules/payments/gateway"
)

// Confirm reads the object of an event: webhooks carry a token that proves nothing of
// their body.
func (g *events) Confirm(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	live, err := g.confirm(ctx, e)
	if errors.Is(err, errNotThere) {
		err = fmt.Errorf("%w: %w", gateway.ErrMissing, err)
	}
	return live, err
}

func (g *events) confirm(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	switch p := e.Payload.(type) {
	case gateway.AuthorizationChange:
		if p.Authorization.Status == gateway.AuthorizationActive {
			return g.confirmActivated(ctx, e, p)
		}
	case gateway.RefundChange:
		return g.confirmRefund(ctx, e, p)
	case gateway.DisputeChange:
		return g.confirmDispute(ctx, e, p)
	case gateway.FailedPayment:
		return g.confirmFailed(ctx, e, p)
	case gateway.SettledPayment:
		return g.confirmSettled(ctx, e, p)
	}
	return e, nil
}

func unconfirmed(status string) error {
	return fmt.Errorf("%w: it is %s", gateway.ErrMissing, status)
}

func (g *events) confirmActivated(ctx context.Context, e gateway.Event, told gateway.AuthorizationChange) (gateway.Event, error) {
	a, err := g.authorization(ctx, gateway.AuthorizationRef{ID: told.Authorization.ID})
	if err != nil {
		return e, err
	}
	n := a.neutral(g.cfg.Zone, g.cfg.Clock.Now())
	if n.Status != gateway.AuthorizationActive {
		return e, unconfirmed(a.Status)
	}
	e.Payload = gateway.AuthorizationChange{Authorization: n}
	e.AuthorizationID, e.ConciliationID, e.Reference, e.CustomerID = n.ID, n.ConciliationID, n.SubscriptionID, n.CustomerID
	return e, nil
}

// live is the event about the payment as it was read. The payment need not name its
// authorization.
func (g *events) live(p *payment, e gateway.Event) gateway.Event {
	told := e.AuthorizationID
	e = g.about(p, &envelope{}, e)
	if e.AuthorizationID == "" {
		e.AuthorizationID = told
	}
	return e
}

func (g *events) confirmSettled(ctx context.Context, e gateway.Event, told gateway.SettledPayment) (gateway.Event, error) {
	p, err := g.payment(ctx, told.Payment.ID, "")
	if err != nil {
		return e, err
	}
	n := p.neutral(g.cfg.Zone)
	if n.Status != gateway.PaymentSettled && p.report(g.cfg.Zone, e.CreatedAt).Total == 0 && p.dispute(e.CreatedAt) == nil {
		return e, unconfirmed(p.Status)
	}
	e = g.live(p, e)
	n.Status, n.SettledAt = gateway.PaymentSettled, g.settledAt(p, e.CreatedAt)
	e.Payload = gateway.SettledPayment{Payment: n}
	return e, nil
}

// confirmFailed: a charge of a card failed that is overdue, or was refused on the day that
// it was due.
func (g *events) confirmFailed(ctx context.Context, e gateway.Event, told gateway.FailedPayment) (gateway.Event, error) {
	p, err := g.payment(ctx, told.Payment.ID, "")
	if err != nil {
		return e, err
	}
	n := p.neutral(g.cfg.Zone)
	due := n.DueDate != nil && !n.DueDate.After(g.cfg.Clock.Now())
	if n.Status == gateway.PaymentSettled || p.Status == "REFUNDED" || e.Type == "PAYMENT_OVERDUE" && p.Status != "OVERDUE" || !due {
		return e, unconfirmed(p.Status)
	}
	e = g.live(p, e)
	if n.Method == gateway.MethodCard {
		n.Status = gateway.PaymentFailed
	}
	told.Payment = n
	e.Payload = told
	return e, nil
}

// confirmRefund reads the payment with its refunds, which may turn out to be a chargeback.
func (g *events) confirmRefund(ctx context.Context, e gateway.Event, told gateway.RefundChange) (gateway.Event, error) {
	p, err := g.withRefunds(ctx, told.Payment.ID)
	if err != nil {
		return e, err
	}
	live := g.live(p, e)
	if p.chargedBack() {
		g.disputed(p, &live, gateway.DisputeLost)
		return live, nil
	}
	report := p.report(g.cfg.Zone, e.CreatedAt)
	if len(report.Singles) == 0 && report.Total == 0 || told.Status == gateway.RefundDone && report.Total < told.Report.Total {
		return e, unconfirmed(p.Status)
	}
	g.refunds(p, &live, told.Status)
	return live, nil
}

// confirmDispute reads the payment with its chargeback. A dispute that was told open may
// have been closed since; one that was told closed is not open.
func (g *events) confirmDispute(ctx context.Context, e gateway.Event, told gateway.DisputeChange) (gateway.Event, error) {
	p, err := g.withRefunds(ctx, told.Payment.ID)
	if err != nil {
		return e, err
	}
	state := gateway.DisputeLost
	if !p.chargedBack() {
		d := p.dispute(e.CreatedAt)
		won := p.Chargeback != nil && p.Status == "REFUNDED" // and refunded since
		if d == nil && !won {
			return e, unconfirmed(p.Status)
		}
		state = gateway.DisputeWon
		if d != nil {
			state = d.State
		}
	}
	if told.Report.State.Closed() && !state.Closed() {
		return e, unconfirmed(p.Status)
	}
	live := g.live(p, e)
	g.disputed(p, &live, state)
	return live, nil
}
