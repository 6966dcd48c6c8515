package gwa

import (
	"encoding/json"

	"marquee/modules/payments/gateway"
)

// paymentOf reads the payment object and fills in how its row is found: charges of a
// subscription, too, carry the reference of the row that made it.
func (g *events) paymentOf(env *envelope, e *gateway.Event) (*payment, error) {
	var p payment
	if err := json.Unmarshal(env.Payment, &p); err != nil || p.ID == "" {
		return nil, errNoObject
	}
	*e = g.about(&p, env, *e)
	return &p, nil
}

// about says whom a payment concerns.
func (*client) about(p *payment, env *envelope, e gateway.Event) gateway.Event {
	e.SubscriptionID, e.CustomerID, e.ConciliationID = string(p.Subscription), string(p.Customer), p.PixQRCodeID
	e.AuthorizationID = firstID(p.PixAutomaticAuthorizationID, p.PixAutomaticAuthorization, idOf(env.Authorization), idOf(env.PixAutomaticAuthorization))
	e.Reference = reference(p.ExternalReference)
	return e
}

// readSettled reads a payment that counts.
func (g *events) readSettled(env *envelope, e *gateway.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	n := p.neutral(g.cfg.Zone)
	n.Status, n.SettledAt = gateway.PaymentSettled, g.settledAt(p, e.CreatedAt)
	e.Payload = gateway.SettledPayment{Payment: n}
	return nil
}

// readFailed reads a charge that nobody paid in time or that the card refused.
// Both are told of one charge, as its first attempt: the gateway numbers none.
func (g *events) readFailed(env *envelope, e *gateway.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	n := p.neutral(g.cfg.Zone)
	if n.Method == gateway.MethodCard {
		n.Status = gateway.PaymentFailed // a PIX that is overdue can still be paid
	}
	e.Payload = gateway.FailedPayment{Payment: n, Attempt: 1}
	return nil
}

func (g *events) readDeleted(env *envelope, e *gateway.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	n := p.neutral(g.cfg.Zone)
	n.Status = gateway.PaymentGone
	e.Payload = gateway.DeletedPayment{Payment: n}
	return nil
}

// readRefunded reads all refunds of the payment, which every event repeats. What a
// lost chargeback took is no refund: the dispute tells it.
func (g *events) readRefunded(env *envelope, e *gateway.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	if p.chargedBack() {
		g.disputed(p, e, gateway.DisputeLost)
		return nil
	}
	g.refunds(p, e, gateway.RefundDone)
	return nil
}

func (g *events) readRefundInProgress(env *envelope, e *gateway.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	g.refunds(p, e, gateway.RefundPending)
	return nil
}

func (g *events) readRefundDenied(env *envelope, e *gateway.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	g.refunds(p, e, gateway.RefundFailed)
	return nil
}

func (g *events) refunds(p *payment, e *gateway.Event, status gateway.RefundStatus) {
	report := p.report(g.cfg.Zone, e.CreatedAt)
	report.EventID, report.Type = e.ID, e.Type
	e.Payload = gateway.RefundChange{Status: status, Report: report, Payment: g.asPaid(p)}
}

func (g *events) readDisputed(env *envelope, e *gateway.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	g.disputed(p, e, gateway.DisputeOpen)
	return nil
}

func (g *events) readDisputeWon(env *envelope, e *gateway.Event) error {
	p, err := g.paymentOf(env, e)
	if err != nil {
		return err
	}
	g.disputed(p, e, gateway.DisputeWon)
	return nil
}

// disputed takes the state from the event's type, which says more than the
// payment's status.
func (g *events) disputed(p *payment, e *gateway.Event, state gateway.DisputeState) {
	d := gateway.DisputeReport{
		ID: p.ID, PaymentID: p.ID, Amount: p.Value.Cents(), State: state, NativeStatus: p.Status, OpenedAt: e.CreatedAt, At: e.CreatedAt, EventID: e.ID,
	}
	if p.Chargeback != nil {
		d.Reason = p.Chargeback.Reason
	}
	e.Payload = gateway.DisputeChange{Report: d, Payment: g.asPaid(p)}
}

// asPaid tells of a payment that was taken back also when it was paid, which its status
// says no more.
func (g *events) asPaid(p *payment) gateway.Payment {
	n := p.neutral(g.cfg.Zone)
	n.SettledAt = firstDate(g.cfg.Zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	return n
}
