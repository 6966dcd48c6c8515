// Package clock gives the present instant, real or set by a test. All instants
// are UTC and cut to the millisecond, the precision of the API and of the
// database, so that what is written equals what is read.
package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Clock tells the present instant.
type Clock interface{ Now() time.Time }

// System is the machine's clock.
type System struct{}

// Now returns the present instant in UTC, cut to the millisecond.
func (System) Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Moved is the machine's clock and an offset that only grows, for development. The zero value is the machine's.
type Moved struct{ ahead atomic.Int64 }

// Now returns the present instant of the moved clock.
func (m *Moved) Now() time.Time { return System{}.Now().Add(m.Ahead()) }

// Ahead is how far the clock is ahead of the machine's.
func (m *Moved) Ahead() time.Duration { return time.Duration(m.ahead.Load()) }

// Move moves the clock forward by whole milliseconds.
func (m *Moved) Move(by time.Duration) { m.ahead.Add(int64(max(by, 0).Truncate(time.Millisecond))) }

// Fake is a clock that moves only when told.
type Fake struct {
	mu  sync.Mutex
	now time.Time
}

// NewFake returns a clock that stands at t.
func NewFake(t time.Time) *Fake { return &Fake{now: t.UTC().Truncate(time.Millisecond)} }

// Now returns the instant at which the clock stands.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the clock by d.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}
