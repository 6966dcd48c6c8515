package stage

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// next picks the delivery to send now, or says how long to wait (0: until woken).
func (w *Webhooks) next() (send *Delivery, url string, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	w.expire(now)
	send, wait = w.due(now)
	if send != nil {
		w.inFlight = send.ID
	}
	return send, w.url, wait
}

// due is the delivery to send now, or in how long the next falls due (0: it can't be said).
func (w *Webhooks) due(now time.Time) (send *Delivery, wait time.Duration) {
	if w.url == "" || w.paused {
		return nil, 0
	}
	for _, d := range w.deliveries {
		if d.State != Waiting || d.partnered || w.switches.holds(d.Type) {
			continue
		}
		if d.callOpen {
			if w.sequential {
				break // what happened after the call is not told before it
			}
			continue
		}
		until := d.NextAt.Sub(now)
		if until <= 0 {
			return d, 0
		}
		if wait == 0 || until < wait {
			wait = until
		}
		if w.sequential {
			break
		}
	}
	return nil, wait
}

// Next is whether a delivery is under way or due, and else when the next falls due; ok is false when that can't be
// said.
func (w *Webhooks) Next() (busy bool, at time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	send, wait := w.due(now)
	return send != nil || w.inFlight != 0, now.Add(wait), wait > 0
}

// expire gives up on what has waited too long. An event that was never tried although it could be is not too old: the
// clock jumped over its delivery.
func (w *Webhooks) expire(now time.Time) {
	if w.opts.KeepFor == 0 {
		return
	}
	stopped, changed := w.url == "" || w.paused, false
	for _, d := range w.deliveries {
		if d.State == Waiting && now.Sub(d.CreatedAt) > w.opts.KeepFor && (stopped || len(d.Attempts) > 0) {
			d.State, changed = Expired, true
			w.changedDelivery(d)
		}
	}
	if changed {
		close(w.settled)
		w.settled = make(chan struct{})
		w.changed()
	}
}

// work sends until done is closed.
func (w *Webhooks) work(ctx context.Context) {
	for ctx.Err() == nil {
		d, url, wait := w.next()
		if d != nil {
			w.attempt(ctx, d, url)
			continue
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-timer:
		}
	}
}

func (w *Webhooks) attempt(ctx context.Context, d *Delivery, url string) {
	err := w.save()
	status := 0
	if err == nil {
		status, err = w.post(ctx, url, d.Body)
	}
	if ctx.Err() != nil {
		return // closing is not the receiver's failure
	}
	at := Attempt{At: w.clock.Now(), Status: status}
	if err != nil {
		at.Error = err.Error()
	}
	w.mu.Lock()
	w.inFlight = 0
	d.Attempts = append(d.Attempts, at)
	d.Tries++
	w.changedDelivery(d)
	if err == nil && w.opts.Success(status) {
		d.State = Delivered
		w.failures = 0
	} else {
		w.backOff(d, at.At)
	}
	w.mu.Unlock()
	w.journal.Record(Entry{Kind: EntryDelivery, EventID: d.EventID, EventType: d.Type, Status: status, Note: at.Error})
	w.changed()
	w.touch()
}

func (w *Webhooks) backOff(d *Delivery, now time.Time) {
	w.failures++
	if w.opts.PauseAfter > 0 && w.failures >= w.opts.PauseAfter {
		w.paused = true
	}
	if d.Tries > len(w.opts.Ladder) {
		if !w.paused {
			d.State = Failed
		}
		return
	}
	d.NextAt = now.Add(w.opts.Ladder[d.Tries-1])
}

func (w *Webhooks) post(ctx context.Context, url string, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		return 0, err
	}
	if w.opts.Headers != nil {
		req.Header = w.opts.Headers(body, w.opts.ReceiverNow())
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}
