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
