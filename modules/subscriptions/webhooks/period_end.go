package webhooks

import (
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// clocksApart is by how much gateway B's clock may differ from ours.
const clocksApart = time.Minute

// LookAhead is how long before a period's end gateway B is asked whether the
// subscription ends with it: soon enough that the difference costs nobody a charge.
const LookAhead = 24 * time.Hour

// doubtsPeriodEnd reports whether an event of gateway B says otherwise than the row
// whether the subscription ends with its period, and may be the older word: one of the
// second of the last event, or from before our own last call.
func doubtsPeriodEnd(sub lifecycle.Row, e gateway.Event, told gateway.RemoteSubscription) bool {
	if told.CancelAtPeriodEnd == sub.CancelAtPeriodEnd {
		return false
	}
	tie := sub.LastEventAt != nil && e.CreatedAt.Equal(*sub.LastEventAt)
	return tie || sub.PeriodEndToldAt != nil && !e.CreatedAt.After(sub.PeriodEndToldAt.Add(clocksApart))
}

// chargedThoughEnding reports whether gateway B has charged a subscription that is to end
// with its period.
func chargedThoughEnding(sub lifecycle.Row, e gateway.Event, p gateway.Payment) bool {
	return e.Gateway.Traits().EndsWithPeriod && sub.CancelAtPeriodEnd && sub.Status == state.Active && !lifecycle.EndsThere(sub) &&
		p.InvoiceID != "" && p.Amount > 0 && p.InvoiceID != lifecycle.Text(sub.LastPaidInvoiceID) && lifecycle.RemoteID(sub) != ""
}

// PlanPeriodEndLook has the gateway read a day before the period ends.
func (s *Applier) PlanPeriodEndLook(r *lifecycle.Row) {
	end := r.NextBillingDate
	if r.CancelAtPeriodEnd {
		end = r.ExpiresAt
	}
	r.PeriodEndLookAt = nil
	if lifecycle.TraitsOf(*r).EndsWithPeriod && lifecycle.RemoteID(*r) != "" && end != nil {
		r.PeriodEndLookAt = new(lifecycle.LatestOf(end.Add(-LookAhead), new(s.clock.Now())))
	}
}
