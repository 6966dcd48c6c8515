package subscriptions

import "time"

// AddMonths moves an instant by calendar months as they pass in the zone, and
// keeps the time of the day there. A day that the month lacks becomes the
// month's last: 31 January plus 1 is 28 or 29 February (open-shapes, Months
// charged are months granted).
func AddMonths(t time.Time, months int, zone *time.Location) time.Time {
	local := t.In(zone)
	year, month, day := local.Date()
	lastDay := time.Date(year, month+time.Month(months)+1, 0, 0, 0, 0, 0, zone).Day()
	hour, minute, second := local.Clock()
	return time.Date(year, month+time.Month(months), min(day, lastDay), hour, minute, second, local.Nanosecond(), zone).UTC()
}

// startOfDay is midnight, in the zone, of the day to which t belongs there.
func startOfDay(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone).UTC()
}

// businessDays is midnight, in the zone, of the day that lies n working days
// after (before, when n is below 0) that of t. Bank holidays are not known here;
// the gateway's bounds leave room for them.
func businessDays(t time.Time, n int, zone *time.Location) time.Time {
	step := 1
	if n < 0 {
		n, step = -n, -1
	}
	day := startOfDay(t, zone).In(zone)
	for n > 0 {
		day = day.AddDate(0, 0, step)
		if weekday := day.Weekday(); weekday != time.Saturday && weekday != time.Sunday {
			n--
		}
	}
	return day.UTC()
}
