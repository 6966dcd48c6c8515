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
type Moved struct {
	ahead    atomic.Int64
	standing *standing // nil: it runs
}

// standing is a clock that does not run: what happens by it is the same on a slow machine as on a quick one.
type standing struct {
	mu    sync.Mutex
	at    time.Time
	reads time.Duration // a millisecond each, so that what was written later is later
}

// NewStanding returns a clock that stands at t until it is moved, but for a millisecond each time that it is read.
func NewStanding(t time.Time) *Moved {
	return &Moved{standing: &standing{at: t.UTC().Truncate(time.Millisecond)}}
}

// Now returns the present instant of the moved clock.
func (m *Moved) Now() time.Time {
	if s := m.standing; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reads += time.Millisecond
		return s.at.Add(s.reads)
	}
	return System{}.Now().Add(m.Ahead())
}

// Stands reports whether the clock stands between its moves.
func (m *Moved) Stands() bool { return m.standing != nil }

// At is what a move counts from: where a clock that stands was moved to last, else the present instant.
func (m *Moved) At() time.Time {
	if s := m.standing; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.at
	}
	return m.Now()
}

// Ahead is how far the clock is ahead of the machine's.
func (m *Moved) Ahead() time.Duration {
	if m.Stands() {
		return m.At().Sub(System{}.Now())
	}
	return time.Duration(m.ahead.Load())
}

// Move moves the clock forward by whole milliseconds; one that stands not to before what was read.
func (m *Moved) Move(by time.Duration) {
	by = max(by, 0).Truncate(time.Millisecond)
	if s := m.standing; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at, s.reads = s.at.Add(max(by, s.reads)), 0
		return
	}
	m.ahead.Add(int64(by))
}

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
