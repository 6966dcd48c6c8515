package lifecycle

import (
	"slices"
	"time"
)

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
