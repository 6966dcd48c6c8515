package stage

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// finishedKept bounds how many finished deliveries stay listed.
const finishedKept = 1000

// Event is what a gateway wants told.
type Event struct {
	ID   string
	Type string
	Body []byte // the exact bytes to send, also on a repeat
}

// DeliveryState is where a delivery stands.
type DeliveryState string

// States of a delivery. Only waiting ones are sent.
const (
	Waiting   DeliveryState = "waiting"
	Delivered DeliveryState = "delivered"
	Failed    DeliveryState = "failed"  // the retry ladder is used up
	Dropped   DeliveryState = "dropped" // by the drop switch
	Expired   DeliveryState = "expired" // older than Options.KeepFor
)

// Attempt is one try to deliver. Status 0 with an Error: no answer.
type Attempt struct {
	At     time.Time `json:"at"` // virtual time
	Status int       `json:"status,omitempty"`
	Error  string    `json:"error,omitempty"`
}

// Delivery is an event on its way. Times are virtual, UTC.
type Delivery struct {
	ID        int64           `json:"id"`
	EventID   string          `json:"event_id"`
	Type      string          `json:"type"`
	State     DeliveryState   `json:"state"`
	Tries     int             `json:"tries"` // since the last reset of the ladder
	NextAt    time.Time       `json:"next_at"`
	CreatedAt time.Time       `json:"created_at"`
	Attempts  []Attempt       `json:"attempts"`
	Body      json.RawMessage `json:"body"`

	order     int64 // place in the queue; reordering exchanges two of them
	callOpen  bool  // the call that caused it has not been answered yet
	partnered bool  // waits for the next event, to go after it
}

// LastStatus is the status of the last attempt, 0 when there was none or no answer.
func (d Delivery) LastStatus() int {
	if len(d.Attempts) == 0 {
		return 0
	}
	return d.Attempts[len(d.Attempts)-1].Status
}

// Webhooks is the queue of deliveries to one address, worked by one worker.
type Webhooks struct {
	name    string
	opts    WebhookOptions
	clock   *Clock
	journal *Journal
	client  *http.Client
	wake    chan struct{}
	changed func()
	save    func() error // before each attempt: nobody hears of what a crash could undo

	mu         sync.Mutex
	url        string
	sequential bool
	seq        int64
	deliveries []*Delivery // in order
	failures   int         // in a row, over all deliveries
	paused     bool
	inFlight   int64 // id of the delivery being sent, 0: none
	switches   switches
	settled    chan struct{} // closed and renewed at each change, for Settle
}

// WebhookOptions are the gateway's rules of delivery.
type WebhookOptions struct {
	URL string // where to; empty: deliveries wait until SetURL
	// Ladder is the waiting time before the second, third … attempt, in virtual time. After its end a delivery has failed.
	// Empty: one attempt only.
	Ladder []time.Duration
	// Success says which status counts as delivered. nil: any 2xx.
	Success func(status int) bool
	// Headers are made for each attempt: the signature or token. at is real time.
	Headers func(body []byte, at time.Time) http.Header
	// Timeout of one attempt; default 10 s.
	Timeout time.Duration
	// Sequential makes a failing event block those behind it.
	Sequential bool
	// PauseAfter failures in a row nothing more is sent until RemoveBackoff. 0: never.
	PauseAfter int
	// KeepFor is how long (virtual time) an undelivered event is kept. 0: for ever.
	KeepFor time.Duration
}

func newWebhooks(name string, o WebhookOptions, clock *Clock, journal *Journal, changed func(), save func() error) *Webhooks {
	if o.Success == nil {
		o.Success = func(status int) bool { return status >= 200 && status < 300 }
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	w := &Webhooks{
		name: name, opts: o, clock: clock, journal: journal, changed: changed, save: save,
		url: o.URL, sequential: o.Sequential,
		wake:    make(chan struct{}, 1),
		settled: make(chan struct{}),
		client: &http.Client{
			Timeout:       o.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     &http.Transport{DisableKeepAlives: true},
		},
	}
	clock.watch(w.touch)
	return w
}

// SetURL changes the address; waiting deliveries go there from now on. Empty: nothing is sent.
func (w *Webhooks) SetURL(url string) {
	w.mu.Lock()
	w.expire(w.clock.Now()) // what was lost for want of an address stays lost
	w.url = url
	w.mu.Unlock()
	w.touch()
}

// SetSequential chooses whether a failing event blocks those behind it.
func (w *Webhooks) SetSequential(on bool) {
	w.mu.Lock()
	w.sequential = on
	w.mu.Unlock()
	w.touch()
}

// SetLadder replaces the waits between attempts; deliveries that wait already keep their time.
func (w *Webhooks) SetLadder(ladder []time.Duration) {
	w.mu.Lock()
	w.opts.Ladder = slices.Clone(ladder)
	w.mu.Unlock()
}

// touch lets the worker and Settle look again.
func (w *Webhooks) touch() {
	w.mu.Lock()
	close(w.settled)
	w.settled = make(chan struct{})
	w.mu.Unlock()
	signal(w.wake)
}

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

// trim forgets the oldest finished deliveries beyond finishedKept.
func (w *Webhooks) trim() {
	finished := 0
	for _, d := range w.deliveries {
		if d.State != Waiting {
			finished++
		}
	}
	if finished <= finishedKept {
		return
	}
	kept := w.deliveries[:0]
	for _, d := range w.deliveries {
		if d.State != Waiting && finished > finishedKept {
			finished--
			continue
		}
		kept = append(kept, d)
	}
	w.deliveries = kept
}

// answered lets the deliveries of a call go, now that it has been answered.
func (w *Webhooks) answered(ids []int64) {
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

// next picks the delivery to send now, or says how long to wait (0: until woken).
func (w *Webhooks) next() (send *Delivery, url string, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	w.expire(now)
	if w.url == "" || w.paused {
		return nil, "", 0
	}
	for _, d := range w.deliveries {
		if d.State != Waiting || d.callOpen || d.partnered || w.switches.holds(d.Type) {
			continue
		}
		until := d.NextAt.Sub(now)
		if until <= 0 {
			w.inFlight = d.ID
			return d, w.url, 0
		}
		if wait == 0 || until < wait {
			wait = until
		}
		if w.sequential {
			break
		}
	}
	return nil, "", wait
}

// expire gives up on what has waited too long. An event that was never tried although it could be is not too old: the clock jumped
// over its delivery.
func (w *Webhooks) expire(now time.Time) {
	if w.opts.KeepFor == 0 {
		return
	}
	stopped, any := w.url == "" || w.paused, false
	for _, d := range w.deliveries {
		if d.State == Waiting && now.Sub(d.CreatedAt) > w.opts.KeepFor && (stopped || len(d.Attempts) > 0) {
			d.State, any = Expired, true
		}
	}
	if any {
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
		req.Header = w.opts.Headers(body, time.Now())
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
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

// Settle waits until nothing is being sent and nothing is left that would be sent without further action: what remains is held, waits
// for a partner, for an address or for RemoveBackoff. Deliveries waiting for a retry are waited for.
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
				open = open || d.ID == id && d.State == Waiting && len(d.Attempts) == 0 && w.url != "" && !w.paused && !d.partnered && !w.switches.holds(d.Type)
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

type webhookState struct {
	Seq        int64      `json:"seq"`
	Failures   int        `json:"failures"`
	Paused     bool       `json:"paused"`
	Deliveries []Delivery `json:"deliveries"`
}

// state holds the waiting deliveries only: addresses and secrets come from the options of the next start.
func (w *Webhooks) state() webhookState {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := webhookState{Seq: w.seq, Failures: w.failures, Paused: w.paused, Deliveries: []Delivery{}}
	for _, d := range w.deliveries {
		if d.State == Waiting {
			s.Deliveries = append(s.Deliveries, *d)
		}
	}
	return s
}

func (w *Webhooks) restore(s webhookState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq, w.failures, w.paused = s.Seq, s.Failures, s.Paused
	for i := range s.Deliveries {
		d := s.Deliveries[i]
		d.order = int64(i + 1)
		w.deliveries = append(w.deliveries, &d)
	}
}
