package gwa

import (
	"encoding/json"

	"marquee/modules/payments"
)

// paymentOf reads the payment object and fills in how its row is found: charges of a
// subscription, too, carry the reference of the row that made it.
func (g *Gateway) paymentOf(env *envelope, e *payments.Event) (*payment, error) {
	var p payment
	if err := json.Unmarshal(env.Payment, &p); err != nil || p.ID == "" {
		return nil, errNoObject
	}
	*e = g.about(&p, env, *e)
	return &p, nil
}

// about says whom a payment concerns.
func (*Gateway) about(p *payment, env *envelope, e payments.Event) payments.Event {
	e.SubscriptionID, e.CustomerID, e.ConciliationID = string(p.Subscription), string(p.Customer), p.PixQRCodeID
	e.AuthorizationID = firstID(p.PixAutomaticAuthorizationID, p.PixAutomaticAuthorization, idOf(env.Authorization), idOf(env.PixAutomaticAuthorization))
	e.Reference = reference(p.ExternalReference)
	return e
}

// readSettled reads a payment that counts.
func (g *Gateway) readSettled(env *envelope, e *payments.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	n := p.neutral(g.cfg.Zone)
	n.Status, n.SettledAt = payments.PaymentSettled, g.settledAt(p, e.CreatedAt)
	e.Kind, e.Payment = payments.PaymentWasSettled, &n
	return nil
}

// readFailed reads a charge that nobody paid in time or that the card refused.
// Both are told of one charge, as its first attempt: the gateway numbers none.
func (g *Gateway) readFailed(env *envelope, e *payments.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	n := p.neutral(g.cfg.Zone)
	if n.Method == payments.MethodCard {
		n.Status = payments.PaymentFailed // a PIX that is overdue can still be paid
	}
	e.Kind, e.Payment, e.Attempt = payments.PaymentHasFailed, &n, 1
	return nil
}

func (g *Gateway) readDeleted(env *envelope, e *payments.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	n := p.neutral(g.cfg.Zone)
	n.Status = payments.PaymentGone
	e.Kind, e.Payment = payments.PaymentWasDeleted, &n
	return nil
}

// readRefunded reads all refunds of the payment, which every event repeats. What a
// lost chargeback took is no refund: the dispute tells it.
func (g *Gateway) readRefunded(env *envelope, e *payments.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	if p.chargedBack() {
		return g.closed(p, e, payments.DisputeLost)
	}
	return g.refunds(p, e, payments.PaymentWasRefunded)
}

func (g *Gateway) readRefundInProgress(env *envelope, e *payments.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	return g.refunds(p, e, payments.RefundIsPending)
}

func (g *Gateway) readRefundDenied(env *envelope, e *payments.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	return g.refunds(p, e, payments.RefundHasFailed)
}

func (g *Gateway) refunds(p *payment, e *payments.Event, kind payments.EventKind) error {
	report := p.report(g.cfg.Zone, e.CreatedAt)
	report.EventID, report.Type = e.ID, e.Type
	e.Kind, e.Refund, e.Payment = kind, &report, g.asPaid(p)
	return nil
}

func (g *Gateway) readDisputed(env *envelope, e *payments.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	g.disputed(p, e, payments.DisputeOpen)
	e.Kind = payments.DisputeWasOpened
	return nil
}

func (g *Gateway) readDisputeWon(env *envelope, e *payments.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	return g.closed(p, e, payments.DisputeWon)
}

func (g *Gateway) closed(p *payment, e *payments.Event, state payments.DisputeState) error {
	g.disputed(p, e, state)
	e.Kind = payments.DisputeWasClosed
	return nil
}

// disputed takes the state from the event's type, which says more than the
// payment's status.
func (g *Gateway) disputed(p *payment, e *payments.Event, state payments.DisputeState) {
	d := payments.DisputeReport{
		ID: p.ID, PaymentID: p.ID, Amount: p.Value.Cents(), State: state, NativeStatus: p.Status, OpenedAt: e.CreatedAt, At: e.CreatedAt, EventID: e.ID,
	}
	if p.Chargeback != nil {
		d.Reason = p.Chargeback.Reason
	}
	e.Dispute, e.Payment = &d, g.asPaid(p)
}

// asPaid tells of a payment that was taken back also when it was paid, which its status
// says no more.
func (g *Gateway) asPaid(p *payment) *payments.Payment {
	n := p.neutral(g.cfg.Zone)
	n.SettledAt = firstDate(g.cfg.Zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	return &n
}
