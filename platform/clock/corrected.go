package clock

import (
	"sync/atomic"
	"time"
)

// leastAhead is what a clock has to be wrong by: less may be the reading's own time.
const leastAhead = time.Second

// Corrected is the machine's clock put right by another, such as the database's, so that all
// processes tell the same time, whatever their machines' clocks say. Between two corrections
// it runs by the machine's monotonic clock: a step of the other changes nothing. The zero
// value is the machine's.
type Corrected struct {
	Machine func() time.Time // default time.Now
	last    atomic.Pointer[correction]
}

// correction is what was right at an instant of the machine's.
type correction struct {
	machine, right time.Time
	ahead          time.Duration
}

// Now returns the present instant in UTC, cut to the millisecond.
func (c *Corrected) Now() time.Time {
	now := c.machine()
	if last := c.last.Load(); last != nil {
		now = last.right.Add(now.Sub(last.machine))
	}
	return now.UTC().Truncate(time.Millisecond)
}

// Correct reads the right time, and returns how far the machine's clock is ahead of it. Less
// than a second, or than the reading took, is measured and not corrected. The error is read's: the
// clock goes on as before.
func (c *Corrected) Correct(read func() (time.Time, error)) (ahead time.Duration, err error) {
	began := c.machine()
	right, err := read()
	if err != nil {
		return c.Ahead(), err
	}
	took := c.machine().Sub(began)
	ahead = began.Add(took / 2).Sub(right)
	now := correction{machine: began, right: began, ahead: ahead}
	if ahead.Abs() >= max(leastAhead, took) {
		now.right = began.Add(-ahead)
	}
	c.last.Store(&now)
	return ahead, nil
}

// Ahead is how far the machine's clock was ahead of the right one when it was read last.
func (c *Corrected) Ahead() time.Duration {
	if last := c.last.Load(); last != nil {
		return last.ahead
	}
	return 0
}

func (c *Corrected) machine() time.Time {
	if c.Machine != nil {
		return c.Machine()
	}
	return time.Now()
}
