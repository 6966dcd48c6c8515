package stage

import (
	"context"
	"sort"
)

// enqueue appends the event as one or, when duplicated, more deliveries and returns their ids.
func (w *Webhooks) enqueue(ev Event, callOpen bool) []int64 {
	w.journal.Record(Entry{Kind: EntryEvent, EventID: ev.ID, EventType: ev.Type})
	w.mu.Lock()
	ids := w.enqueueLocked(ev, callOpen)
	w.mu.Unlock()
	w.changed()
	w.touch()
	return ids
}

func (w *Webhooks) enqueueLocked(ev Event, callOpen bool) []int64 {
	now := w.clock.Now()
	copies := 1
	if take(&w.switches.duplicate) {
		copies = 2
	}
	state := Waiting
	if take(&w.switches.drop) {
		state = Dropped
	}
	ids := make([]int64, 0, copies)
	for range copies {
		w.seq++
		d := &Delivery{
			ID: w.seq, EventID: ev.ID, Type: ev.Type, Body: ev.Body, State: state, Attempts: []Attempt{},
			CreatedAt: now, NextAt: now.Add(w.switches.delay), order: w.seq, callOpen: callOpen,
		}
		w.deliveries = append(w.deliveries, d)
		w.changedDelivery(d)
		ids = append(ids, d.ID)
		if state == Waiting {
			w.reorder(d)
		}
	}
	w.trim()
	return ids
}

// reorder lets a delivery that waits for a partner go behind d, or makes d wait for one.
func (w *Webhooks) reorder(d *Delivery) {
	for _, first := range w.deliveries {
		if first.partnered && first != d {
			first.partnered = false
			first.order, d.order = d.order, first.order
			w.changedDelivery(first)
			w.sort()
			return
		}
	}
	if take(&w.switches.swap) {
		d.partnered = true
	}
}

func (w *Webhooks) sort() {
	sort.SliceStable(w.deliveries, func(i, j int) bool { return w.deliveries[i].order < w.deliveries[j].order })
}

// trim forgets the oldest finished deliveries beyond mostFinished.
func (w *Webhooks) trim() {
	finished := 0
	for _, d := range w.deliveries {
		if d.State != Waiting {
			finished++
		}
	}
	if finished <= mostFinished {
		return
	}
	remaining := w.deliveries[:0]
	for _, d := range w.deliveries {
		if d.State != Waiting && finished > mostFinished {
			finished--
			continue
		}
		remaining = append(remaining, d)
	}
	w.deliveries = remaining
}

// callEnded lets the deliveries of a call go, now that it has been answered.
func (w *Webhooks) callEnded(ids []int64) {
	if len(ids) == 0 {
		return
	}
	w.mu.Lock()
	for _, d := range w.deliveries {
		for _, id := range ids {
			if d.ID == id {
				d.callOpen = false
			}
		}
	}
	w.mu.Unlock()
	w.touch()
}

// Deliveries lists all waiting and the newest finished deliveries, in queue order.
func (w *Webhooks) Deliveries() []Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Delivery, 0, len(w.deliveries))
	for _, d := range w.deliveries {
		c := *d
		c.Attempts = append([]Attempt{}, d.Attempts...)
		out = append(out, c)
	}
	return out
}

// Settle waits until nothing is being sent and nothing is left that would be sent without further action: what
// remains is held, waits for a partner, for an address or for RemoveBackoff. Deliveries waiting for a retry are
// waited for.
func (w *Webhooks) Settle(ctx context.Context) error {
	for {
		w.mu.Lock()
		busy, changed := w.busy(), w.settled
		w.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (w *Webhooks) busy() bool {
	if w.inFlight != 0 {
		return true
	}
	for _, d := range w.deliveries {
		if d.State != Waiting {
			continue
		}
		if d.callOpen {
			return true
		}
		if w.url != "" && !w.paused && !d.partnered && !w.switches.holds(d.Type) {
			return true
		}
	}
	return false
}

// attempted waits until each of the deliveries was tried once or can't be now.
func (w *Webhooks) attempted(ctx context.Context, ids []int64) {
	for {
		w.mu.Lock()
		open, changed := false, w.settled
		for _, d := range w.deliveries {
			for _, id := range ids {
				open = open || d.ID == id && d.State == Waiting && len(d.Attempts) == 0 && w.url != "" && !w.paused &&
					!d.partnered && !w.switches.holds(d.Type)
			}
		}
		w.mu.Unlock()
		if !open {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
