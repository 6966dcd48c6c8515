package lifecycle

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments/intent"
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

// Debit is an automatic PIX's debit of a cycle.
type Debit subscriptionsdb.Debit

// IsNew reports whether nobody has tried to order it before.
func (d Debit) IsNew() bool { return d.SubscriptionID != "" && d.TriedAt.Equal(d.RegisterDate) }

// Ref names the intent of its order; the item is its cycle.
func (d Debit) Ref() intent.Ref {
	return intent.Ref{Kind: intent.Debit, Subject: d.SubscriptionID, Item: d.Cycle.Time.Format(time.DateOnly)}
}

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

// DueDebitParams looks a little further than the lead, since weekends vary it.
func (s *Calendar) DueDebitParams(now time.Time) subscriptionsdb.SubscriptionListDueDebitsParams {
	horizon := businessDays(now, debitLead, s.cfg.Zone)
	return subscriptionsdb.SubscriptionListDueDebitsParams{
		Horizon: &horizon, Zone: s.cfg.Zone.String(), Since: now.Add(-DebitSilence),
	}
}

// firstUnpaidOf is the first debit of the last unbroken row of periods that nobody has
// paid; nil when there is none. A period that does not begin where the one before ends was
// moved there by an extension, which gives the time until then.
func (s *Calendar) firstUnpaidOf(sub Subscription, unpaid []Debit) *Debit {
	var first *Debit
	for i, d := range unpaid {
		if first == nil {
			first = &unpaid[i]
		}
		next := sub.NextBillingDate
		if i+1 < len(unpaid) {
			next = new(s.DayOf(unpaid[i+1].Cycle))
		}
		ends := s.DateOf(s.MonthsOn(s.DayOf(d.Cycle), int(sub.PeriodMonths), sub))
		if next != nil && s.DateOf(*next).Time.After(ends.Time) {
			first = nil
		}
	}
	return first
}

// DateAfter is the date some days later.
func DateAfter(d pgtype.Date, days int) pgtype.Date {
	return pgtype.Date{Time: d.Time.AddDate(0, 0, days), Valid: true}
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
