package lifecycle

import (
	"time"
)

// AddMonths moves an instant by calendar months as they pass in the zone, and
// keeps the time of the day there. A day that the month lacks becomes the
// month's last: 31 January plus 1 is 28 or 29 February (open-shapes, Months
// charged are months granted).
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
