package gwa

import "time"

// ChargebackStep is what happens in a cardholder's objection.
type ChargebackStep string

// The steps (docs/gateway-facts.md, A11): requested, perhaps disputed, then lost (the money is gone) or won (the
// payment goes back to what it was).
const (
	ChargebackRequested ChargebackStep = "requested"
	ChargebackDisputed  ChargebackStep = "disputed"
	ChargebackLost      ChargebackStep = "lost"
	ChargebackWon       ChargebackStep = "won"
)

// defaultChargebackReason is the reason of the sample event.
const defaultChargebackReason = "ABSENCE_OF_PRINT"

func (g *Gateway) chargeback(id string, step ChargebackStep, reason string, now time.Time) (*Payment, *apiError) {
	p, err := g.livePayment(id)
	if err != nil {
		return nil, err
	}
	running := p.Status == statusChargebackRequested || p.Status == statusChargebackDispute
	switch {
	case step == ChargebackRequested && (p.Status == statusConfirmed || p.Status == statusReceived):
		g.requestChargeback(p, reason, now)
	case step == ChargebackDisputed && p.Status == statusChargebackRequested:
		p.Status, p.Chargeback.Status = statusChargebackDispute, "IN_DISPUTE"
		g.emitPayment(now, "PAYMENT_CHARGEBACK_DISPUTE", p)
	case step == ChargebackLost && running:
		if p.Before == statusReceived {
			g.Balance -= net(p.Value, p.BillingType)
		}
		p.Status, p.Before, p.Chargeback.Status = statusRefunded, "", "DONE"
		g.emitPayment(now, "PAYMENT_REFUNDED", p)
	case step == ChargebackWon && running:
		g.winChargeback(p, now)
	default:
		return nil, errAction("chargeback step " + string(step) + " does not fit a payment that is " + p.Status)
	}
	return p, nil
}

func (g *Gateway) requestChargeback(p *Payment, reason string, now time.Time) {
	if reason == "" {
		reason = defaultChargebackReason
	}
	p.Before, p.Status = p.Status, statusChargebackRequested
	p.Chargeback = &Chargeback{Status: "REQUESTED", Reason: reason}
	g.emitPayment(now, "PAYMENT_CHARGEBACK_REQUESTED", p)
}

// winChargeback tells the reversal and then CONFIRMED or RECEIVED again. A payment whose settlement day went by
// meanwhile is settled at once.
func (g *Gateway) winChargeback(p *Payment, now time.Time) {
	p.Status, p.Chargeback.Status = statusChargebackReversal, "REVERSED"
	g.emitPayment(now, "PAYMENT_AWAITING_CHARGEBACK_REVERSAL", p)
	p.Status, p.Before = p.Before, ""
	g.emitPayment(now, "PAYMENT_"+p.Status, p)
	g.resumeSettlement(p, now)
}

// resumeSettlement enters the settlement of a card payment anew: its day may have gone by while the payment was in
// another status.
func (g *Gateway) resumeSettlement(p *Payment, now time.Time) {
	if p.Status == statusConfirmed && p.CreditDate != "" {
		g.stage.Clock.At(later(p.CreditDate.at(3, 12), now), jobSettle, p.ID)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
