package account

import (
	"errors"
	"slices"
	"time"
	_ "time/tzdata" // the gateway lives in São Paulo also on machines without a zone database
)

// saoPaulo is the gateway's zone: "today", due dates and all times without a zone are meant in it
// (docs/gateway-facts.md, A10).
var saoPaulo = mustLoad("America/Sao_Paulo")

func mustLoad(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return loc
}

// The four date forms (docs/gateway-facts.md, A10).
const (
	isoDay        = "2006-01-02"
	isoSecond     = "2006-01-02 15:04:05"
	slashedDay    = "02/01/2006"
	slashedSecond = "02/01/2006 15:04:05"
)

// Day is a date in São Paulo, written 2026-11-20, so that comparing strings compares dates.
type Day string

var errDay = errors.New("not a date of the form yyyy-MM-dd")

func parseDay(s string) (Day, error) {
	t, err := time.ParseInLocation(isoDay, s, saoPaulo)
	if err != nil {
		return "", errDay
	}
	return DayOf(t), nil
}

// DayOf is the date of an instant, in São Paulo.
func DayOf(t time.Time) Day { return Day(t.In(saoPaulo).Format(isoDay)) }

// at is the moment hour:minute of the day in São Paulo. The zero day is the zero time.
func (d Day) at(hour, minute int) time.Time {
	t, err := time.ParseInLocation(isoDay, string(d), saoPaulo)
	if err != nil {
		return time.Time{}
	}
	return time.Date(t.Year(), t.Month(), t.Day(), hour, minute, 0, 0, saoPaulo)
}

func (d Day) add(days int) Day { return DayOf(d.at(12, 0).AddDate(0, 0, days)) }

func (d Day) slashed() string { return d.at(12, 0).Format(slashedDay) }

func (d Day) weekend() bool {
	w := d.at(12, 0).Weekday()
	return w == time.Saturday || w == time.Sunday
}

// business is the day itself, or the Monday after it at weekends. Holidays are not modelled here: only the windows of
// debits know them (addBankDays).
func (d Day) business() Day {
	for d.weekend() {
		d = d.add(1)
	}
	return d
}

// addBusiness goes n business days on.
func (d Day) addBusiness(n int) Day {
	for range n {
		d = d.add(1).business()
	}
	return d
}

// addBankDays goes n days on that are no weekend and no bank holiday: the windows of automatic PIX count them.
func (d Day) addBankDays(n int) Day {
	for range n {
		for d = d.add(1); d.weekend() || d.bankHoliday(); {
			d = d.add(1)
		}
	}
	return d
}

// fixedHolidays are the national bank holidays with a date of their own.
var fixedHolidays = []string{"01-01", "04-21", "05-01", "09-07", "10-12", "11-02", "11-15", "11-20", "12-25"}

// movedHolidays are the national bank holidays that move with Easter, in days from it: Carnival's Monday and Tuesday,
// Good Friday, Corpus Christi.
var movedHolidays = []int{-48, -47, -2, 60}

func (d Day) bankHoliday() bool {
	if slices.Contains(fixedHolidays, string(d[5:])) {
		return true
	}
	sunday := easter(d.at(12, 0).Year())
	return slices.ContainsFunc(movedHolidays, func(n int) bool { return sunday.add(n) == d })
}

// easter is Easter Sunday of a year (the anonymous Gregorian algorithm).
func easter(year int) Day {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	g := (8*b + 13) / 25
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	month := (h + l - 7*m + 114) / 31
	return DayOf(time.Date(year, time.Month(month), (h+l-7*m+114)%31+1, 12, 0, 0, 0, saoPaulo))
}

// addMonths goes n months on to the day of month anchor, or to the last day of a shorter month.
func (d Day) addMonths(n, anchor int) Day {
	t := d.at(12, 0)
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, 12, 0, 0, 0, saoPaulo)
	last := first.AddDate(0, 1, -1).Day()
	return DayOf(first.AddDate(0, 0, min(anchor, last)-1))
}

func (d Day) dayOfMonth() int { return d.at(12, 0).Day() }

// overdueAt is when the gateway calls an unpaid charge overdue: about 03:00 of the business day after its due date,
// where a due date at a weekend counts as the Monday after it (docs/gateway-facts.md, A11; sample PAYMENT_OVERDUE).
func (d Day) overdueAt() time.Time { return d.business().addBusiness(1).at(3, 1) }

// settledOn is the day on which the money of a card payment confirmed on d arrives: 32 days later, on a business day
// (docs/gateway-facts.md, A5).
func (d Day) settledOn() Day { return d.add(32).business() }

// ISOText is a date as most answers print it.
func ISOText(d Day) string { return string(d) }

// ISOTime is an instant as most answers print it, in São Paulo.
func ISOTime(t time.Time) string { return t.In(saoPaulo).Format(isoSecond) }

func slashedTime(t time.Time) string { return t.In(saoPaulo).Format(slashedSecond) }

// cycleMonths holds the length of the cycles that go by months; cycleDays of those that go by days
// (docs/gateway-facts.md, A4).
var (
	cycleMonths = map[string]int{"MONTHLY": 1, "BIMONTHLY": 2, "QUARTERLY": 3, "SEMIANNUALLY": 6, "YEARLY": 12}
	cycleDays   = map[string]int{"WEEKLY": 7, "BIWEEKLY": 14}
)

func knownCycle(cycle string) bool { return cycleMonths[cycle] > 0 || cycleDays[cycle] > 0 }

// next is the due date one cycle on; anchor is the day of month on which the subscription began.
func (d Day) next(cycle string, anchor int) Day {
	if n, ok := cycleDays[cycle]; ok {
		return d.add(n)
	}
	return d.addMonths(cycleMonths[cycle], anchor)
}
