package settle

import (
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
)

// pay writes what a payment means for the dates of a subscription.
func (s *Settler) pay(r *lifecycle.Subscription, p Payment) {
	now := s.deps.Clock.Now()
	settledAt := now
	if p.SettledAt != nil {
		settledAt = lifecycle.LatestOf(*p.SettledAt, &r.RegisterDate) // gateway A may tell the day alone
	}
	if !p.First || r.PixAutomatic || r.GwaSubscriptionID != nil { // else the recurrence has still to be made
		r.CloseIntent()
	}
	first := r.LastPaymentAt == nil
	r.LastPaymentAt, r.PaymentFailures = &now, 0
	if first && p.First && r.PixAutomatic && r.ExpiresAt == nil {
		r.NextBillingDate = nil // told by the authorization, which was known first, at a guess
	}
	if p.Recurs && !p.before && !r.CancelAtPeriodEnd && r.GatewayDeletedAt == nil && r.GatewayEndOpenSince == nil {
		r.ExpiresAt = nil // set by an admin's extension
	}
	lifecycle.SetOnce(&r.LastPaidInvoiceID, p.InvoiceID)
	switch {
	case r.PixAutomatic && p.Recurs:
		s.payAutomatic(r, p, settledAt)
	case r.PaymentMethod == gateway.MethodPix:
		if r.PixPaymentID == nil && !r.PixAutomatic {
			r.PixPaymentID = &p.ID
		}
		r.ExpiresAt, r.NextBillingDate = s.deps.Calendar.PeriodFrom(lifecycle.LatestOf(settledAt, r.ExpiresAt), r), nil
		if p.Charge != nil {
			r.CancelAtPeriodEnd = false
		}
	case !p.Recurs:
		r.ExpiresAt, r.NextBillingDate = s.deps.Calendar.PeriodFrom(settledAt, r), nil
	case p.First:
		next := s.deps.Calendar.FirstDue(*r).UTC()
		r.NextBillingDate = &next
	case r.Traits().ChargesByDay:
		due := lifecycle.StartOfDay(settledAt, s.deps.Config.Zone)
		if p.DueDate != nil {
			due = *p.DueDate
		}
		if r.AnchorDay == nil {
			s.deps.Calendar.Anchor(r, due)
		}
		next := lifecycle.LatestOf(s.deps.Calendar.MonthsOn(due, 1, *r), r.NextBillingDate)
		r.NextBillingDate = &next
	case r.NextBillingDate == nil:
		r.NextBillingDate = s.deps.Calendar.PeriodFrom(settledAt, r)
	}
	payStopped(r, p)
}

// payStopped has a charge that slipped through before the recurrence was stopped at
// gateway A pay its period all the same.
func payStopped(r *lifecycle.Subscription, p Payment) {
	if !p.Recurs || !r.Stopped() || r.Traits().EndsWithPeriod || r.NextBillingDate == nil {
		return
	}
	r.ExpiresAt, r.NextBillingDate = new(lifecycle.LatestOf(*r.NextBillingDate, r.ExpiresAt)), nil
}

// payAutomatic moves the date of the next debit. The first code pays the period
// from its payment on; a debit that of its cycle, whenever it is taken.
func (s *Settler) payAutomatic(r *lifecycle.Subscription, p Payment, settledAt time.Time) {
	from := settledAt
	switch {
	case p.First:
	case p.cycle != nil:
		from = *p.cycle
	case p.DueDate != nil:
		from = *p.DueDate
	}
	next := lifecycle.LatestOf(*s.deps.Calendar.PeriodFrom(from, r), r.NextBillingDate)
	r.NextBillingDate = &next
	if !r.Stopped() {
		r.ExpiresAt = nil
	}
}
