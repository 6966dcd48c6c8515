package account

import "time"

// Renew brings a charge forward to now: the oldest open one, else the next one is made first. Automatic PIX and
// charges without a card are paid as the payer would.
func (l Subscriptions) Renew(id string, fail bool, now time.Time) (*Payment, *APIError) {
	sub, err := l.LiveSubscription(id)
	if err != nil {
		return nil, err
	}
	if sub.Status != StatusActive {
		return nil, errAction("the subscription is " + sub.Status)
	}
	p := l.oldestPending(sub)
	if p == nil {
		p = l.makeNextCharge(sub, now)
	}
	p.Due = min(p.Due, DayOf(now))
	if p.BillingType == billingCard {
		p.FailNext = p.FailNext || fail
		Payments(l).chargeCard(p.ID, now)
		return p, nil
	}
	if fail {
		Payments(l).markOverdue(p, now)
		return p, nil
	}
	return Payments(l).Pay(p.ID, now)
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
