package query

import (
	"regexp"
	"strconv"
	"time"
)

// The date forms of docs/contract/filters.md, Operands: a date alone (midnight UTC), or a
// date and time whose seconds, fraction and offset may be left out (UTC without offset).
var dateForm = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)` +
	`(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?)?$`)

// parseDate reads one of the date forms and checks the calendar. The result is in UTC,
// in the years 1 to 9999, and cut to milliseconds, the precision of a Date.
func parseDate(s string) (time.Time, bool) {
	m := dateForm.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	n := func(i int) int {
		v, _ := strconv.Atoi(m[i]) // an absent part is zero
		return v
	}
	nanos, _ := strconv.Atoi((m[7] + "000000000")[:9])
	if n(4) > 23 || n(5) > 59 || n(6) > 59 || n(10) > 23 || n(11) > 59 {
		return time.Time{}, false
	}
	t := time.Date(n(1), time.Month(n(2)), n(3), n(4), n(5), n(6), nanos, time.UTC)
	if t.Year() != n(1) || int(t.Month()) != n(2) || t.Day() != n(3) {
		return time.Time{}, false
	}
	offset := time.Duration(n(10))*time.Hour + time.Duration(n(11))*time.Minute
	if m[9] == "+" {
		offset = -offset
	}
	return inYears(t.Add(offset))
}

// dateOfMillis is the Date of ms milliseconds since 1970.
func dateOfMillis(d decimal) (time.Time, bool) {
	ms, ok := d.int64()
	if !ok {
		return time.Time{}, false
	}
	return inYears(time.UnixMilli(ms).UTC())
}

func inYears(t time.Time) (time.Time, bool) {
	t = t.Truncate(time.Millisecond)
	return t, t.Year() >= 1 && t.Year() <= 9999
}
