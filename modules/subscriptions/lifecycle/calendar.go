package lifecycle

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
)

const (
	// debitLead is how many business days before its cycle a debit is ordered: the
	// gateway takes 2 to 10 (gateway A, section 8).
	debitLead = 5
	// debitNotice is the fewest business days that a debit is due ahead.
	debitNotice = 2
	// DebitGrace is how long the order of a retry may be on its way before it is looked for.
	DebitGrace = 2 * time.Minute
	// DebitSilence is after what time the sweep takes up a debit whose own job is silent.
	DebitSilence = 15 * time.Minute
)

// DebitDueDate is the day of the cycle, or the earliest that the gateway takes
// when that one is too near.
func (s *Calendar) DebitDueDate(cycle time.Time) time.Time {
	earliest := businessDays(s.clock.Now(), debitNotice, s.cfg.Zone)
	return LatestOf(StartOfDay(cycle, s.cfg.Zone), &earliest)
}

// DebitAt is when the debit of a cycle is ordered.
func (s *Calendar) DebitAt(cycle time.Time) time.Time {
	return businessDays(cycle, -debitLead, s.cfg.Zone)
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

// DueDebitParams looks a little further than the lead, since weekends vary it.
func (s *Calendar) DueDebitParams(now time.Time) subscriptionsdb.ListDueDebitsParams {
	horizon := businessDays(now, debitLead, s.cfg.Zone)
	return subscriptionsdb.ListDueDebitsParams{Horizon: &horizon, Zone: s.cfg.Zone.String(), Since: now.Add(-DebitSilence)}
}

// firstUnpaidOf is the first debit of the last unbroken row of periods that nobody has
// paid; nil when there is none. A period that does not begin where the one before ends was
// moved there by an extension, which gives the time until then.
func (s *Calendar) firstUnpaidOf(sub Row, unpaid []Debit) *Debit {
	var first *Debit
	for i, d := range unpaid {
		if first == nil {
			first = &unpaid[i]
		}
		follows := sub.NextBillingDate
		if i+1 < len(unpaid) {
			follows = new(s.DayOf(unpaid[i+1].Cycle))
		}
		ends := s.DateOf(s.MonthsOn(s.DayOf(d.Cycle), int(sub.PeriodMonths), sub))
		if follows != nil && s.DateOf(*follows).Time.After(ends.Time) {
			first = nil
		}
	}
	return first
}

// DateAfter is the date some days later.
func DateAfter(d pgtype.Date, days int) pgtype.Date {
	return pgtype.Date{Time: d.Time.AddDate(0, 0, days), Valid: true}
}

// Age is how long ago the subscription's row was made.
func (s *Calendar) Age(sub Row) time.Duration { return s.clock.Now().Sub(sub.RegisterDate) }

// PixDue is when an unpaid PIX is given up: its code runs out, or the wait is
// over.
func (s *Calendar) PixDue(sub Row) time.Time {
	due := sub.RegisterDate.Add(s.cfg.PixPendingTTL)
	if sub.PixExpiresAt != nil && sub.PixExpiresAt.Before(due) {
		return *sub.PixExpiresAt
	}
	return due
}

// CycleStart is the last day, not after t, on which a period of the row begins.
func (s *Calendar) CycleStart(t time.Time, sub Row) time.Time {
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
func (s *Calendar) EndsWithPeriod(sub Row) bool {
	return (sub.CancelAtPeriodEnd || EndsThere(sub)) && sub.ExpiresAt != nil && sub.ExpiresAt.After(s.clock.Now())
}

// Day is the date of an instant where the platform reports.
func (s *Calendar) Day(t time.Time) string { return t.In(s.cfg.Zone).Format(time.DateOnly) }

// Outlives reports whether the subscription goes on to the end of its paid time when what
// charged it ends at the gateway: at gateway A any that has such an end, at gateway B one
// whose recurrence is ended on our order.
func (s *Calendar) Outlives(sub Row) bool {
	ahead := sub.ExpiresAt != nil && sub.ExpiresAt.After(s.clock.Now())
	return ahead && (!TraitsOf(sub).EndsWithPeriod || EndsThere(sub))
}

// EndedThere notes that the gateway has confirmed the end.
func (s *Calendar) EndedThere(r *Row) {
	r.GatewayDeletedAt, r.GatewayEndOpenSince = new(s.clock.Now()), nil
}

// PeriodFrom is the end of the row's period that begins at t, and keeps the day on
// which its periods begin.
func (s *Calendar) PeriodFrom(t time.Time, r *Row) *time.Time {
	s.Anchor(r, t)
	return new(s.MonthsOn(t, int(r.PeriodMonths), *r))
}

// LearnRemote keeps what a gateway tells of its subscription.
func (s *Calendar) LearnRemote(r *Row, remote *gateway.RemoteSubscription) {
	if remote == nil {
		return
	}
	subscription, customer := idColumns(r)
	Learn(subscription, remote.GatewayID)
	Learn(customer, remote.CustomerGatewayID)
	if TraitsOf(*r).Prices {
		Learn(&r.GwbPriceID, remote.PriceID)
	}
	if remote.NextBilling != nil && !r.Status.Ended() && !Stopped(*r) {
		r.NextBillingDate = remote.NextBilling
		s.Anchor(r, *remote.NextBilling)
	}
}

// DuePixParams asks for the PIX that nobody has paid in time.
func (s *Calendar) DuePixParams(now time.Time) subscriptionsdb.ListDuePixParams {
	return subscriptionsdb.ListDuePixParams{Now: &now, PendingSince: now.Add(-s.cfg.PixPendingTTL)}
}
