package reports

import (
	"time"

	"marquee/platform/fault"
)

const (
	// maxRows bounds a series: 1,000 days or months.
	maxRows = 1000
	// defaultMonths lie between the months of a series' default start and its end.
	defaultMonths = 6
)

const monthForm = "2006-01"

// FirstYear is before all figures: an earlier one is a slip of the keyboard.
const FirstYear = 1900

// today is the calendar day, in the report time zone, as midnight UTC.
func (s *Reports) today() time.Time {
	year, month, day := s.deps.Clock.Now().In(s.deps.Zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// period reads the parameters of a series (docs/contract/figures.md, Finance): the end is
// today by default, the start the first day of the month six months before the
// end's. 422 names the parameter.
func (s *Reports) period(grain Grain, start, end string) (RevenuePeriod, error) {
	last, err := day("end", end, s.today())
	if err != nil {
		return RevenuePeriod{}, err
	}
	if len(end) == len(monthForm) {
		last = last.AddDate(0, 1, -1)
	}
	first, err := day("start", start, time.Date(last.Year(), last.Month()-defaultMonths, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return RevenuePeriod{}, err
	}
	if first.After(last) {
		if end == "" {
			return RevenuePeriod{},
				fault.InvalidAt("has to be no later than today, the end by default", "query", "start")
		}
		return RevenuePeriod{}, fault.InvalidAt("has to be no earlier than start", "query", "end")
	}
	if rowsOf(grain, first, last) > maxRows {
		return RevenuePeriod{}, fault.InvalidAt("has to be later: a series has at most 1,000 rows", "query", "start")
	}
	return RevenuePeriod{Grain: grain, Start: &first, End: &last}, nil
}

// day reads a calendar day, or a month as its first day.
func day(name, text string, missing time.Time) (time.Time, error) {
	if text == "" {
		return missing, nil
	}
	for _, form := range []string{time.DateOnly, monthForm} {
		if at, err := time.Parse(form, text); err == nil && at.Year() >= FirstYear {
			return at, nil
		}
	}
	return time.Time{}, fault.InvalidAt("has to be a day such as 2026-03-15 or a month such as 2026-03", "query", name)
}

// rowsOf counts the rows of a series.
func rowsOf(grain Grain, first, last time.Time) int {
	if grain == Daily {
		return int(last.Sub(first)/(24*time.Hour)) + 1
	}
	return (last.Year()-first.Year())*12 + int(last.Month()-first.Month()) + 1
}
