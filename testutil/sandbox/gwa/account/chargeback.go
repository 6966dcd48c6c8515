package account

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

// DefaultChargebackReason is the reason of the sample event.
const DefaultChargebackReason = "ABSENCE_OF_PRINT"

// Chargeback takes an objection one step on; the reason is for ChargebackRequested, and may be empty.
func (l Payments) Chargeback(id string, step ChargebackStep, reason string, now time.Time) (*Payment, *APIError) {
	p, err := l.livePayment(id)
	if err != nil {
		return nil, err
	}
	running := p.Status == statusChargebackRequested || p.Status == statusChargebackDispute
	switch {
	case step == ChargebackRequested && (p.Status == statusConfirmed || p.Status == statusReceived):
		l.requestChargeback(p, reason, now)
	case step == ChargebackDisputed && p.Status == statusChargebackRequested:
		p.Status, p.Chargeback.Status = statusChargebackDispute, "IN_DISPUTE"
		l.emitPayment(now, "PAYMENT_CHARGEBACK_DISPUTE", p)
	case step == ChargebackLost && running:
		if p.Before == statusReceived {
			l.Balance -= net(p.Value, p.BillingType)
		}
		p.Status, p.Before, p.Chargeback.Status = statusRefunded, "", "DONE"
		l.emitPayment(now, "PAYMENT_REFUNDED", p)
	case step == ChargebackWon && running:
		l.winChargeback(p, now)
	default:
		return nil, errAction("chargeback step " + string(step) + " does not fit a payment that is " + p.Status)
	}
	return p, nil
}

func (l Payments) requestChargeback(p *Payment, reason string, now time.Time) {
	if reason == "" {
		reason = DefaultChargebackReason
	}
	p.Before, p.Status = p.Status, statusChargebackRequested
	p.Chargeback = &Chargeback{Status: "REQUESTED", Reason: reason}
	l.emitPayment(now, "PAYMENT_CHARGEBACK_REQUESTED", p)
}

// winChargeback tells the reversal and then CONFIRMED or RECEIVED again. A payment whose settlement day went by
// meanwhile is settled at once.
func (l Payments) winChargeback(p *Payment, now time.Time) {
	p.Status, p.Chargeback.Status = statusChargebackReversal, "REVERSED"
	l.emitPayment(now, "PAYMENT_AWAITING_CHARGEBACK_REVERSAL", p)
	p.Status, p.Before = p.Before, ""
	l.emitPayment(now, "PAYMENT_"+p.Status, p)
	l.resumeSettlement(p, now)
}

// resumeSettlement enters the settlement of a card payment anew: its day may have gone by while the payment was in
// another status.
func (l Payments) resumeSettlement(p *Payment, now time.Time) {
	if p.Status == statusConfirmed && p.CreditDate != "" {
		l.stage.Clock.At(later(p.CreditDate.at(3, 12), now), jobSettle, p.ID)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
