package lifecycle

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/nullable"
)

// TermsOf are the terms of the call to the gateway, by which its result is
// found after a crash.
func (s *Calendar) TermsOf(sub Subscription, plan Plan, payer gateway.Payer) gateway.SubscriptionTerms {
	return gateway.SubscriptionTerms{
		SubscriptionID: sub.ID, Payer: payer, PlanID: plan.PlanID, PlanName: plan.Name,
		PriceID: nullable.Value(sub.GwbPriceID),
		Amount:  money.Cents(sub.PriceCents), First: (*money.Cents)(sub.FirstAmountCents),
		TrialDays: int(sub.TrialDays), StartsAt: sub.StartsAt,
		FirstDue: s.FirstDue(sub),
	}
}

// discountedDays is how long after the discounted first month the recurrence
// charges first (docs/contract/promo-codes.md, At subscribing).
const discountedDays = 30

// FirstDue is the day of the first charge: the first, or the one after the trial, the
// month that was paid apart (gateway B charges it with the others), or the paid time of the subscription that it
// renews.
func (s *Calendar) FirstDue(sub Subscription) time.Time {
	if sub.StartsAt != nil {
		return StartOfDay(*sub.StartsAt, s.cfg.Zone).In(s.cfg.Zone)
	}
	days := int(sub.TrialDays)
	if sub.ChargesFirstMonth() {
		days = discountedDays
	}
	return StartOfDay(sub.RegisterDate, s.cfg.Zone).In(s.cfg.Zone).AddDate(0, 0, days)
}

// AuthorizationOf is what gateway A is asked for to authorize an automatic PIX.
func (s *Calendar) AuthorizationOf(sub Subscription, plan Plan, payer gateway.Payer) gateway.AuthorizationTerms {
	return gateway.AuthorizationTerms{
		SubscriptionID: sub.ID, Payer: payer, Description: plan.Name, PeriodMonths: int(sub.PeriodMonths),
		FirstAmount: sub.PixAmount(), Amount: money.Cents(sub.PriceCents * int64(sub.PeriodMonths)),
		FirstDebit: AddMonths(StartOfDay(sub.RegisterDate, s.cfg.Zone), int(sub.PeriodMonths), s.cfg.Zone),
		ExpiresIn:  s.cfg.PixPendingTTL,
	}
}

// PixTermsOf are the terms of the call to the gateway, by which its result is
// found after a crash.
func (s *Calendar) PixTermsOf(sub Subscription, plan Plan, payer gateway.Payer) gateway.PixTerms {
	return gateway.PixTerms{
		Reference: sub.ID, Kind: gateway.KindSubscriptionPix, Payer: payer, Amount: sub.PixAmount(),
		Description: plan.Name,
		DueDate:     StartOfDay(sub.RegisterDate, s.cfg.Zone).In(s.cfg.Zone), ExpiresIn: s.cfg.PixPendingTTL,
	}
}

// LeastPix is the smallest amount that can be paid by a PIX code.
func LeastPix(gw gateway.Name) money.Cents {
	return max(gw.Traits().LeastPix, gw.Traits().LeastCharge)
}

// PayerOf is a customer as the gateways know payers.
func PayerOf(c accounts.Customer, name gateway.Name) gateway.Payer {
	return gateway.Payer{
		CustomerID: c.ID, GatewayID: c.GatewayCustomerIDs[string(name)],
		Name: c.FullName, Email: c.Email, Phone: c.Phone, TaxID: c.TaxID,
	}
}

// DateOf is the day, in the zone, to which t belongs.
func (s *Calendar) DateOf(t time.Time) pgtype.Date {
	year, month, day := t.In(s.cfg.Zone).Date()
	return pgtype.Date{Time: time.Date(year, month, day, 0, 0, 0, 0, time.UTC), Valid: true}
}

// DayOf is the day's first instant in the zone.
func (s *Calendar) DayOf(d pgtype.Date) time.Time {
	year, month, day := d.Time.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, s.cfg.Zone)
}

// Age is how long ago the subscription was made.
func (s *Calendar) Age(sub Subscription) time.Duration { return s.clock.Now().Sub(sub.RegisterDate) }

// PixDue is when an unpaid PIX is given up: its code runs out, or the wait is
// over.
func (s *Calendar) PixDue(sub Subscription) time.Time {
	due := sub.RegisterDate.Add(s.cfg.PixPendingTTL)
	if sub.PixExpiresAt != nil && sub.PixExpiresAt.Before(due) {
		return *sub.PixExpiresAt
	}
	return due
}

// CycleStart is the last day, not after t, on which a period of the subscription begins.
func (s *Calendar) CycleStart(t time.Time, sub Subscription) time.Time {
	year, month, day := t.In(s.cfg.Zone).Date()
	if sub.AnchorDay == nil {
		return StartOfDay(t, s.cfg.Zone)
	}
	anchor := int(*sub.AnchorDay)
	if day < min(anchor, lastDay(year, month)) {
		month--
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, s.cfg.Zone)
	return first.AddDate(0, 0, min(anchor, lastDay(first.Year(), first.Month()))-1).UTC()
}

// EndsWithPeriod reports whether the subscription goes on without a recurrence until
// its paid time ends: an end at the gateway, our own doing, changes nothing then.
func (s *Calendar) EndsWithPeriod(sub Subscription) bool {
	return (sub.CancelAtPeriodEnd || sub.EndsThere()) && sub.ExpiresAt != nil && sub.ExpiresAt.After(s.clock.Now())
}

// Day is the date of an instant where the platform reports.
func (s *Calendar) Day(t time.Time) string { return t.In(s.cfg.Zone).Format(time.DateOnly) }

// Outlives reports whether the subscription goes on to the end of its paid time when what
// charged it ends at the gateway: at gateway A any that has such an end, at gateway B one
// whose recurrence is ended on our order.
func (s *Calendar) Outlives(sub Subscription) bool {
	ahead := sub.ExpiresAt != nil && sub.ExpiresAt.After(s.clock.Now())
	return ahead && (!sub.Traits().EndsWithPeriod || sub.EndsThere())
}

// EndedThere notes that the gateway has confirmed the end.
func (s *Calendar) EndedThere(r *Subscription) {
	r.GatewayDeletedAt, r.GatewayEndOpenSince = new(s.clock.Now()), nil
}

// PeriodFrom is the end of the period that begins at t, and keeps the day on
// which its periods begin.
func (s *Calendar) PeriodFrom(t time.Time, r *Subscription) *time.Time {
	s.Anchor(r, t)
	return new(s.MonthsOn(t, int(r.PeriodMonths), *r))
}

// SetRemote keeps what a gateway tells of its subscription.
func (s *Calendar) SetRemote(r *Subscription, remote *gateway.RemoteSubscription) {
	if remote == nil {
		return
	}
	subscription, customer := r.idColumns()
	SetOnce(subscription, remote.GatewayID)
	SetOnce(customer, remote.CustomerGatewayID)
	if r.Traits().Prices {
		SetOnce(&r.GwbPriceID, remote.PriceID)
	}
	if remote.NextBilling != nil && !r.Status.Ended() && !r.Stopped() {
		r.NextBillingDate = remote.NextBilling
		s.Anchor(r, *remote.NextBilling)
	}
}

// AddMonths moves an instant by calendar months as they pass in the zone, and
// keeps the time of the day there. A day that the month lacks becomes the
// month's last: 31 January plus 1 is 28 or 29 February (docs/contract/ids-and-dates.md, Days, months and periods).
func AddMonths(t time.Time, months int, zone *time.Location) time.Time {
	return AddMonthsOn(t, months, t.In(zone).Day(), zone)
}

// AddMonthsOn is AddMonths for periods that begin on the anchor's day of the
// month: where t is the last day of a month that lacks that day, the next period
// is back on it. 28 February with the anchor 31 plus 1 is 31 March. Any other t
// keeps its own day.
func AddMonthsOn(t time.Time, months, anchor int, zone *time.Location) time.Time {
	local := t.In(zone)
	year, month, day := local.Date()
	if day == lastDay(year, month) {
		day = max(day, anchor)
	}
	hour, minute, second := local.Clock()
	day = min(day, lastDay(year, month+time.Month(months)))
	return time.Date(year, month+time.Month(months), day, hour, minute, second, local.Nanosecond(), zone).UTC()
}

// lastDay is how many days the month has.
func lastDay(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// Anchor has the periods begin on the day of t, in the zone. A t that is the
// last day of a month which lacks the present anchor leaves it as it is.
func (s *Calendar) Anchor(r *Subscription, t time.Time) {
	year, month, day := t.In(s.cfg.Zone).Date()
	if r.AnchorDay != nil && day == min(int(*r.AnchorDay), lastDay(year, month)) {
		return
	}
	r.AnchorDay = new(int32(day)) //nolint:gosec // a day of a month
}

// MonthsOn is the end of a period of so many months that begins at t.
func (s *Calendar) MonthsOn(t time.Time, months int, r Subscription) time.Time {
	anchor := t.In(s.cfg.Zone).Day()
	if r.AnchorDay != nil {
		anchor = int(*r.AnchorDay)
	}
	return AddMonthsOn(t, months, anchor, s.cfg.Zone)
}

// StartOfDay is midnight, in the zone, of the day to which t belongs there.
func StartOfDay(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone).UTC()
}

func earlierOf(t, other time.Time) time.Time {
	if other.Before(t) {
		return other
	}
	return t
}

// Latest is the gateway's word where there is one.
func Latest(known, reported *time.Time) *time.Time {
	if reported != nil {
		return reported
	}
	return known
}

// daysBetween counts the days from one date to another, each as its own zone names it.
func daysBetween(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)).Hours() / 24)
}

// LatestOf is the later instant; other may be nil.
func LatestOf(t time.Time, other *time.Time) time.Time {
	if other != nil && other.After(t) {
		return *other
	}
	return t
}
