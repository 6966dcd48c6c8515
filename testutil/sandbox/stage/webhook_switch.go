package stage

import (
	"errors"
	"strings"
	"time"
)

// ErrNoDelivery is returned for an unknown delivery id.
var ErrNoDelivery = errors.New("no such delivery")

// switches are the controls of the queue; they are not kept over a restart.
type switches struct {
	delay     time.Duration
	duplicate int
	swap      int
	drop      int
	early     int
	paused    []string // patterns of event types
}

// holds reports whether events of this type are held back.
func (s switches) holds(eventType string) bool {
	for _, p := range s.paused {
		if prefix, wild := strings.CutSuffix(p, "*"); wild && strings.HasPrefix(eventType, prefix) || p == eventType {
			return true
		}
	}
	return false
}

// take counts a switch down and reports whether it was on.
func take(n *int) bool {
	if *n == 0 {
		return false
	}
	*n--
	return true
}

func (w *Webhooks) turn(set func(s *switches)) {
	w.mu.Lock()
	set(&w.switches)
	w.mu.Unlock()
	w.touch()
}

// Delay makes each later event wait before its first attempt (virtual time); 0 ends it.
func (w *Webhooks) Delay(by time.Duration) {
	w.turn(func(s *switches) { s.delay = max(by, 0) })
}

// DuplicateNext delivers each of the next n events twice.
func (w *Webhooks) DuplicateNext(n int) { w.turn(func(s *switches) { s.duplicate = max(n, 0) }) }

// SwapNext exchanges the order within each of the next n pairs of events. The first of a pair waits for the second;
// Release lets a first go that has none.
func (w *Webhooks) SwapNext(n int) { w.turn(func(s *switches) { s.swap = max(n, 0) }) }

// DropNext never sends the next n events; they stay listed as dropped.
func (w *Webhooks) DropNext(n int) { w.turn(func(s *switches) { s.drop = max(n, 0) }) }

// EarlyNext sends the events of the next n calls that make any before the call is answered: the answer waits for
// their first attempt, for 10 s at most.
func (w *Webhooks) EarlyNext(n int) { w.turn(func(s *switches) { s.early = max(n, 0) }) }

// Hold keeps deliveries back whose event type matches one of the patterns, a name or a prefix with "*" at its end;
// none: all. They stay in the queue without blocking others.
func (w *Webhooks) Hold(patterns ...string) {
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	w.turn(func(s *switches) { s.paused = append([]string(nil), patterns...) })
}

// Release ends Hold and lets lone firsts of SwapNext go.
func (w *Webhooks) Release() {
	w.mu.Lock()
	w.switches.paused = nil
	w.switches.swap = 0
	for _, d := range w.deliveries {
		d.partnered = false
	}
	w.mu.Unlock()
	w.touch()
}

// Redeliver sends a delivery's event again as a new delivery, as the gateway's panel can; the event id stays. It
// returns the new id.
func (w *Webhooks) Redeliver(id int64) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.deliveries {
		if d.ID != id {
			continue
		}
		w.seq++
		now := w.clock.Now()
		w.deliveries = append(w.deliveries, &Delivery{
			ID: w.seq, EventID: d.EventID, Type: d.Type, Body: d.Body, State: Waiting, Attempts: []Attempt{},
			CreatedAt: now, NextAt: now, order: w.seq,
		})
		w.changedDelivery(w.deliveries[len(w.deliveries)-1])
		signal(w.wake)
		w.changed()
		return w.seq, nil
	}
	return 0, ErrNoDelivery
}

// QueueStatus is the queue at a glance.
type QueueStatus struct {
	URL        string   `json:"url"`
	Sequential bool     `json:"sequential"`
	Paused     bool     `json:"paused"`          // by too many failures in a row
	Failures   int      `json:"failures_in_row"` // over all deliveries
	Waiting    int      `json:"waiting"`
	Held       []string `json:"held"` // patterns of event types held back
	Delay      Duration `json:"delay"`
}

// Status reports the queue at a glance.
func (w *Webhooks) Status() QueueStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := QueueStatus{
		URL: w.url, Sequential: w.sequential, Paused: w.paused, Failures: w.failures,
		Held: append([]string{}, w.switches.paused...), Delay: Duration(w.switches.delay),
	}
	for _, d := range w.deliveries {
		if d.State == Waiting {
			st.Waiting++
		}
	}
	return st
}

// RemoveBackoff ends a pause, forgets the failures in a row and makes all waiting deliveries due now, with a fresh
// ladder.
func (w *Webhooks) RemoveBackoff() {
	w.mu.Lock()
	now := w.clock.Now()
	w.expire(now)
	w.paused, w.failures = false, 0
	for _, d := range w.deliveries {
		if d.State == Waiting {
			d.NextAt, d.Tries = now, 0
			w.changedDelivery(d)
		}
	}
	w.mu.Unlock()
	w.changed()
	w.touch()
}

// Pause stops the queue as too many failures in a row do ("interrupted" at gateway A). RemoveBackoff ends it.
func (w *Webhooks) Pause() {
	w.mu.Lock()
	w.paused = true
	w.mu.Unlock()
	w.changed()
	w.touch()
}

// takeEarly uses up one call of EarlyNext.
func (w *Webhooks) takeEarly() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return take(&w.switches.early)
}
