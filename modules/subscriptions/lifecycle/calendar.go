package lifecycle

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
)

const (
	// debitLead is how many business days before its cycle a debit is ordered: the
	// gateway takes 2 to 10 (docs/gateway-facts.md, A8).
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

// SetRemote keeps what a gateway tells of its subscription.
func (s *Calendar) SetRemote(r *Row, remote *gateway.RemoteSubscription) {
	if remote == nil {
		return
	}
	subscription, customer := idColumns(r)
	SetOnce(subscription, remote.GatewayID)
	SetOnce(customer, remote.CustomerGatewayID)
	if TraitsOf(*r).Prices {
		SetOnce(&r.GwbPriceID, remote.PriceID)
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

// Anchor has the row's periods begin on the day of t, in the zone. A t that is the
// last day of a month which lacks the present anchor leaves it as it is.
func (s *Calendar) Anchor(r *Row, t time.Time) {
	year, month, day := t.In(s.cfg.Zone).Date()
	if r.AnchorDay != nil && day == min(int(*r.AnchorDay), lastDay(year, month)) {
		return
	}
	r.AnchorDay = new(int32(day)) //nolint:gosec // a day of a month
}

// MonthsOn is the end of a period of so many months that begins at t.
func (s *Calendar) MonthsOn(t time.Time, months int, r Row) time.Time {
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

// businessDays is midnight, in the zone, of the day that lies n days on which banks
// work after (before, when n is below 0) that of t.
func businessDays(t time.Time, n int, zone *time.Location) time.Time {
	step := 1
	if n < 0 {
		n, step = -n, -1
	}
	day := StartOfDay(t, zone).In(zone)
	for n > 0 {
		day = day.AddDate(0, 0, step)
		if weekday := day.Weekday(); weekday != time.Saturday && weekday != time.Sunday && !bankHoliday(day) {
			n--
		}
	}
	return day.UTC()
}

// fixedHolidays are the national holidays of Brazilian banks that keep their date.
var fixedHolidays = []string{"01-01", "04-21", "05-01", "09-07", "10-12", "11-02", "11-15", "11-20", "12-25"}

// movedHolidays are those that move with Easter, in days from it: Carnival's Monday
// and Tuesday, Good Friday, Corpus Christi.
var movedHolidays = []int{-48, -47, -2, 60}

// bankHoliday reports whether banks are closed all over Brazil on the day of t, in its
// own zone.
func bankHoliday(t time.Time) bool {
	if slices.Contains(fixedHolidays, t.Format("01-02")) {
		return true
	}
	sunday := easter(t.Year())
	year, month, day := t.Date()
	return slices.ContainsFunc(movedHolidays, func(n int) bool {
		return sunday.AddDate(0, 0, n).Equal(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	})
}

// easter is Easter Sunday of a year, by the anonymous Gregorian algorithm.
func easter(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	g := (8*b + 13) / 25
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Date(year, time.Month(n/31), n%31+1, 0, 0, 0, 0, time.UTC)
}
