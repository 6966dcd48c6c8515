package httpapi

import (
	"container/list"
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"marquee/platform/fault"
	"marquee/platform/postgres"
)

const (
	requestsPerCore = 64
	healthAtOnce    = 64
	// bodyPatience is how long a body may be on its way before it gives its place to a
	// request that finds none.
	bodyPatience = time.Second
)

// places bounds how many requests are worked on at once. One that finds no place takes
// that of the body which has been on its way longest, so that clients who send slowly
// keep nobody out.
type places struct {
	most     int
	patience time.Duration

	mu       sync.Mutex
	taken    int
	arriving list.List // of *deadlineBody, in the order in which they began
}

// enter takes a place; false when none is free.
func (p *places) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.most && !p.cutSlowest() {
		return false
	}
	p.taken++
	return true
}

func (p *places) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
}

// cutSlowest ends the body that has been arriving longest: its request is about to
// leave.
func (p *places) cutSlowest() bool {
	first := p.arriving.Front()
	if first == nil {
		return false
	}
	body, ok := first.Value.(*deadlineBody)
	if !ok || time.Since(body.began) < p.patience {
		return false
	}
	p.arriving.Remove(first)
	body.cutOff()
	return true
}

func (p *places) arrives(b *deadlineBody) *list.Element {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.arriving.PushBack(b)
}

func (p *places) arrived(e *list.Element) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arriving.Remove(e) // which does nothing for one that was cut
}

func (p *places) count() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return float64(p.taken)
}

// bounds are the places of an API by what stands in them.
type bounds struct {
	requests places // what is in none of the others
	health   places
	streams  places // answers that are sent for as long as their readers take
	events   places // streams of events
	hooks    places // bodies of webhooks; what is received of them is bounded by its module
}

// RequestsAtOnce is how many requests are worked on at once where so many are configured: 64 a core for 0.
func RequestsAtOnce(configured int) int {
	if configured <= 0 {
		return requestsPerCore * runtime.NumCPU()
	}
	return configured
}

func newBounds(most int, reg prometheus.Registerer) *bounds {
	most = RequestsAtOnce(most)
	b := &bounds{
		requests: places{most: most, patience: bodyPatience}, health: places{most: healthAtOnce},
		streams: places{most: 2 * most}, events: places{most: 4 * most}, hooks: places{most: most},
	}
	if reg == nil {
		return b
	}
	for kind, p := range map[string]*places{
		"requests": &b.requests, "health": &b.health, "streams": &b.streams, "events": &b.events,
		"webhook_bodies": &b.hooks,
	} {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "marquee_http_in_flight", Help: "Requests that are worked on at this moment.",
			ConstLabels: prometheus.Labels{"kind": kind},
		}, p.count))
	}
	return b
}

// Brief marks an operation that takes milliseconds and has to answer also when nothing
// else does: it may take the database's last connection.
func Brief() Option { return func(o *operation) { o.class = postgres.Brief } }

// Urgent marks an operation for which a part of the database's connections is kept.
func Urgent() Option { return func(o *operation) { o.class = postgres.Urgent } }

// Stream marks an operation whose answer is sent for as long as its reader takes: it is
// counted apart from other requests.
func Stream() Option { return func(o *operation) { o.stream = true } }

// Events marks an operation that answers with a stream of events: they are counted apart from other requests.
func Events() Option { return func(o *operation) { o.events = true } }

func (b *bounds) of(op operation) *places {
	switch {
	case op.class == postgres.Brief:
		return &b.health
	case op.stream:
		return &b.streams
	case op.events:
		return &b.events
	}
	return &b.requests
}

// begin gives a request its place, its bounds of waiting for the database, and its body
// what it is counted among. The error is 503.
func (a *API) begin(op operation, r *http.Request) (ctx context.Context, end func(), err error) {
	ctx = postgres.As(r.Context(), op.class, op.OperationID)
	body, _ := r.Body.(*deadlineBody)
	if op.auth == Gateway {
		if body != nil {
			body.places, body.alone = &a.bounds.hooks, true
		}
		return ctx, body.end, nil
	}
	p := a.bounds.of(op)
	if !p.enter() {
		return nil, nil, errNoPlace
	}
	if body != nil {
		body.places = p
	}
	return ctx, func() { body.end(); p.leave() }, nil
}

var errNoPlace = fault.Unavailable()

// inPlace is begin for operations.
func (a *API) inPlace(op operation) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		ctx, end, err := a.begin(op, mustRequest(hc))
		if err != nil {
			a.write(hc, err)
			return
		}
		defer end()
		next(huma.WithContext(hc, ctx))
	}
}
