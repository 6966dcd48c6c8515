package gwa

import (
	"context"
	"errors"
	"fmt"

	"marquee/modules/payments/gateway"
)

// Confirm reads the object of an event: webhooks carry a token that proves nothing of
// their body.
func (g *Gateway) Confirm(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	live, err := g.confirm(ctx, e)
	if errors.Is(err, errNotThere) {
		err = fmt.Errorf("%w: %w", gateway.ErrMissing, err)
	}
	return live, err
}

func (g *Gateway) confirm(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	switch {
	case e.Kind == gateway.AuthorizationWasActivated:
		return g.confirmActivated(ctx, e)
	case e.Refund != nil || e.Dispute != nil:
		return g.confirmTakenBack(ctx, e)
	case e.Kind == gateway.PaymentHasFailed:
		return g.confirmFailed(ctx, e)
	case e.Kind == gateway.PaymentWasSettled:
		return g.confirmSettled(ctx, e)
	}
	return e, nil
}

func unconfirmed(status string) error {
	return fmt.Errorf("%w: it is %s", gateway.ErrMissing, status)
}

func (g *Gateway) confirmActivated(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	a, err := g.authorization(ctx, gateway.AuthorizationRef{ID: e.Authorization.ID})
	if err != nil {
		return e, err
	}
	n := a.neutral(g.cfg.Zone, g.cfg.Clock.Now())
	if n.Status != gateway.AuthorizationActive {
		return e, unconfirmed(a.Status)
	}
	e.Authorization, e.AuthorizationID, e.ConciliationID, e.Reference, e.CustomerID = &n, n.ID, n.ConciliationID, n.SubscriptionID, n.CustomerID
	return e, nil
}

// live is the event about the payment as it was read. The payment need not name its
// authorization.
func (g *Gateway) live(p *payment, e gateway.Event) gateway.Event {
	told := e.AuthorizationID
	e = g.about(p, &envelope{}, e)
	if e.AuthorizationID == "" {
		e.AuthorizationID = told
	}
	return e
}

func (g *Gateway) confirmSettled(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	p, err := g.payment(ctx, e.Payment.ID, "")
	if err != nil {
		return e, err
	}
	n := p.neutral(g.cfg.Zone)
	if n.Status != gateway.PaymentSettled && p.report(g.cfg.Zone, e.CreatedAt).Total == 0 && p.dispute(e.CreatedAt) == nil {
		return e, unconfirmed(p.Status)
	}
	e = g.live(p, e)
	n.Status, n.SettledAt = gateway.PaymentSettled, g.settledAt(p, e.CreatedAt)
	e.Payment = &n
	return e, nil
}

// confirmFailed: a charge of a card failed that is overdue, or was refused on the day that
// it was due.
func (g *Gateway) confirmFailed(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	p, err := g.payment(ctx, e.Payment.ID, "")
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
	e.Payment = &n
	return e, nil
}

// confirmTakenBack reads the payment with its refunds and its chargeback. A dispute that
// was told open may have been closed since; one that was told closed is not open.
func (g *Gateway) confirmTakenBack(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	id := e.Payment.ID
	p, err := g.withRefunds(ctx, id)
	if err != nil {
		return e, err
	}
	told, live := e, g.live(p, e)
	live.Refund, live.Dispute = nil, nil
	if told.Dispute == nil && !p.chargedBack() {
		report := p.report(g.cfg.Zone, e.CreatedAt)
		if len(report.Singles) == 0 && report.Total == 0 || told.Kind == gateway.PaymentWasRefunded && report.Total < told.Refund.Total {
			return e, unconfirmed(p.Status)
		}
		err := g.refunds(p, &live, told.Kind)
		return live, err
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
	if told.Dispute != nil && told.Dispute.State.Closed() && !state.Closed() {
		return e, unconfirmed(p.Status)
	}
	if state.Closed() {
		err := g.closed(p, &live, state)
		return live, err
	}
	g.disputed(p, &live, state)
	live.Kind = gateway.DisputeWasOpened
	return live, nil
}
