package gwa

import (
	"context"
	"errors"
	"fmt"

	"marquee/modules/payments"
)

// Confirm reads the object of an event: webhooks carry a token that proves nothing of
// their body.
func (g *Gateway) Confirm(ctx context.Context, e payments.Event) (payments.Event, error) {
	live, err := g.confirm(ctx, e)
	if errors.Is(err, errNotThere) {
		err = fmt.Errorf("%w: %w", payments.ErrGatewayMissing, err)
	}
	return live, err
}

func (g *Gateway) confirm(ctx context.Context, e payments.Event) (payments.Event, error) {
	switch {
	case e.Kind == payments.AuthorizationWasActivated:
		return g.confirmActivated(ctx, e)
	case e.Refund != nil || e.Dispute != nil:
		return g.confirmTakenBack(ctx, e)
	case e.Kind == payments.PaymentHasFailed:
		return g.confirmFailed(ctx, e)
	case e.Kind == payments.PaymentWasSettled:
		return g.confirmSettled(ctx, e)
	}
	return e, nil
}

func unconfirmed(status string) error {
	return fmt.Errorf("%w: it is %s", payments.ErrGatewayMissing, status)
}

func (g *Gateway) confirmActivated(ctx context.Context, e payments.Event) (payments.Event, error) {
	a, err := g.authorization(ctx, payments.AuthorizationRef{ID: e.Authorization.ID})
	if err != nil {
		return e, err
	}
	n := a.neutral(g.cfg.Zone, g.cfg.Clock.Now())
	if n.Status != payments.AuthorizationActive {
		return e, unconfirmed(a.Status)
	}
	e.Authorization, e.AuthorizationID, e.ConciliationID, e.Reference, e.CustomerID = &n, n.ID, n.ConciliationID, n.SubscriptionID, n.CustomerID
	return e, nil
}

// live is the event about the payment as it was read. The payment need not name its
// authorization.
func (g *Gateway) live(p *payment, e payments.Event) payments.Event {
	told := e.AuthorizationID
	e = g.about(p, &envelope{}, e)
	if e.AuthorizationID == "" {
		e.AuthorizationID = told
	}
	return e
}

func (g *Gateway) confirmSettled(ctx context.Context, e payments.Event) (payments.Event, error) {
	p, err := g.payment(ctx, e.Payment.ID, "")
	if err != nil {
		return e, err
	}
	n := p.neutral(g.cfg.Zone)
	if n.Status != payments.PaymentSettled && p.report(g.cfg.Zone, e.CreatedAt).Total == 0 && p.dispute(e.CreatedAt) == nil {
		return e, unconfirmed(p.Status)
	}
	e = g.live(p, e)
	n.Status, n.SettledAt = payments.PaymentSettled, g.settledAt(p, e.CreatedAt)
	e.Payment = &n
	return e, nil
}

// confirmFailed: a charge of a card failed that is overdue, or was refused on the day that
// it was due.
func (g *Gateway) confirmFailed(ctx context.Context, e payments.Event) (payments.Event, error) {
	p, err := g.payment(ctx, e.Payment.ID, "")
	if err != nil {
		return e, err
	}
	n := p.neutral(g.cfg.Zone)
	due := n.DueDate != nil && !n.DueDate.After(g.cfg.Clock.Now())
	if n.Status == payments.PaymentSettled || p.Status == "REFUNDED" || e.Type == "PAYMENT_OVERDUE" && p.Status != "OVERDUE" || !due {
		return e, unconfirmed(p.Status)
	}
	e = g.live(p, e)
	if n.Method == payments.MethodCard {
		n.Status = payments.PaymentFailed
	}
	e.Payment = &n
	return e, nil
}

// confirmTakenBack reads the payment with its refunds and its chargeback. A dispute that
// was told open may have been closed since; one that was told closed is not open.
func (g *Gateway) confirmTakenBack(ctx context.Context, e payments.Event) (payments.Event, error) {
	id := e.Payment.ID
	p, err := g.withRefunds(ctx, id)
	if err != nil {
		return e, err
	}
	told, live := e, g.live(p, e)
	live.Refund, live.Dispute = nil, nil
	if told.Dispute == nil && !p.chargedBack() {
		report := p.report(g.cfg.Zone, e.CreatedAt)
		if len(report.Singles) == 0 && report.Total == 0 || told.Kind == payments.PaymentWasRefunded && report.Total < told.Refund.Total {
			return e, unconfirmed(p.Status)
		}
		err := g.refunds(p, &live, told.Kind)
		return live, err
	}
	state := payments.DisputeLost
	if !p.chargedBack() {
		d := p.dispute(e.CreatedAt)
		won := p.Chargeback != nil && p.Status == "REFUNDED" // and refunded since
		if d == nil && !won {
			return e, unconfirmed(p.Status)
		}
		state = payments.DisputeWon
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
	live.Kind = payments.DisputeWasOpened
	return live, nil
}
