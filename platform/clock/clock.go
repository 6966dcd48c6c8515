// Package clock gives the present instant, real or set by a test. All instants
// are UTC and cut to the millisecond, the precision of the API and of the
// database, so that what is written equals what is read.
package clock

import (
	"sync"
	"time"
)

// Clock tells the present instant.
type Clock interface{ Now() time.Time }

// System is the machine's clock.
type System struct{}

// Now returns the present instant in UTC, cut to the millisecond.
func (System) Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

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
