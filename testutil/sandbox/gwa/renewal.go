package gwa

import "time"

// renew brings a charge forward to now: the oldest open one, else the next one is made first. Automatic PIX and
// charges without a card are paid as the payer would.
func (g *Gateway) renew(id string, fail bool, now time.Time) (*Payment, *apiError) {
	sub, err := g.liveSubscription(id)
	if err != nil {
		return nil, err
	}
	if sub.Status != statusActive {
		return nil, errAction("the subscription is " + sub.Status)
	}
	p := g.oldestPending(sub)
	if p == nil {
		p = g.makeNextCharge(sub, now)
	}
	p.Due = min(p.Due, dayOf(now))
	if p.BillingType == billingCard {
		p.FailNext = p.FailNext || fail
		g.chargeCard(p.ID, now)
		return p, nil
	}
	if fail {
		g.markOverdue(p, now)
		return p, nil
	}
	return g.pay(p.ID, now)
}

// oldestPending is the charge of a subscription that falls due first.
func (s *state) oldestPending(sub *Subscription) *Payment {
	var first *Payment
	for _, p := range s.openCharges(sub.ID) {
		if p.Status == statusPending && (first == nil || p.Due < first.Due) {
			first = p
		}
	}
	return first
}

// endRiskAnalysis decides a card payment that waited for it.
func (g *Gateway) endRiskAnalysis(id string, approved bool, now time.Time) (*Payment, *apiError) {
	p, err := g.livePayment(id)
	if err != nil {
		return nil, err
	}
	if p.Status != statusRiskAnalysis {
		return nil, errAction("the payment is not in risk analysis")
	}
	if approved {
		g.emitPayment(now, "PAYMENT_APPROVED_BY_RISK_ANALYSIS", p)
		g.markConfirmed(p, now)
		g.emitPayment(now, "PAYMENT_CONFIRMED", p)
		return p, nil
	}
	p.Status, p.CardShown = statusPending, false
	g.emitPayment(now, "PAYMENT_REPROVED_BY_RISK_ANALYSIS", p)
	return p, nil
}
