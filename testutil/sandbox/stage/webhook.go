package stage

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"
)

// mostFinished bounds how many finished deliveries stay listed.
const mostFinished = 1000

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
	settled    chan struct{}  // closed and renewed at each change, for Settle
	touched    map[int64]bool // deliveries changed since the last save; nil: nothing is saved
}

// WebhookOptions are the gateway's rules of delivery.
type WebhookOptions struct {
	URL string // where to; empty: deliveries wait until SetURL
	// Ladder is the waiting time before the second, third … attempt, in virtual time. After its end a delivery has
	// failed.
	// Empty: one attempt only.
	Ladder []time.Duration
	// Success says which status counts as delivered. nil: any 2xx.
	Success func(status int) bool
	// Headers are made for each attempt: the signature or token. at is the receiver's time.
	Headers func(body []byte, at time.Time) http.Header
	// ReceiverNow is the receiver's clock. nil: real time.
	ReceiverNow func() time.Time
	// Timeout of one attempt; default 10 s.
	Timeout time.Duration
	// Sequential makes a failing event block those behind it.
	Sequential bool
	// PauseAfter failures in a row nothing more is sent until RemoveBackoff. 0: never.
	PauseAfter int
	// KeepFor is how long (virtual time) an undelivered event is kept. 0: for ever.
	KeepFor time.Duration
}

func newWebhooks(name string, o WebhookOptions, clock *Clock, journal *Journal, changed func(),
	save func() error,
) *Webhooks {
	if o.Success == nil {
		o.Success = func(status int) bool { return status >= 200 && status < 300 }
	}
	if o.ReceiverNow == nil {
		o.ReceiverNow = time.Now
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
