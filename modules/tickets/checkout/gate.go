package checkout

import (
	"context"
	"errors"
	"sync"
	"time"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// gate gathers purchases that come while an earlier transaction is being committed, and
// commits them together: one flush for all of them, instead of one each, and one lock for
// those of the same event (docs/decisions/seats-by-gate.md). A purchase that comes alone
// waits for nobody.
//
// Each waits in the shared queue first, whose transaction waits for no event. Those of an event
// that somebody else has locked, and all of a transaction that failed, go on to the queue of
// their event, where they wait for its lock and for nobody but each other; what comes while
// others stand there joins them. So each passes two queues at most, in each in the order of
// arrival. The database's own conditions stay the truth, so any number of processes may each
// have a gate.
type gate struct {
	reserveShared reserver // of any events; errEventQueue for what has to go on to the queue of its event
	reserveEvent  reserver // of one event
	mu            sync.Mutex
	queues        map[objectid.ID][]*entry // by event, or sharedQueue; there while it is served
}

// reserver reserves for purchases, answers each in its place, and does not panic.
type reserver func(ctx context.Context, requests []request) []reservation

// sharedQueue is the key of the queue for purchases of all events.
const sharedQueue objectid.ID = ""

// errEventQueue sends a purchase on from the shared queue to that of its event.
var errEventQueue = errors.New("checkout: to be reserved with others of its event alone")

// entry is a purchase that waits in a queue.
type entry struct {
	request request
	done    chan reservation // holds one
}

// maxTogether bounds one transaction.
const maxTogether = 64

// reserveTime bounds one transaction of the gate, which belongs to no request.
const reserveTime = 15 * time.Second

func newGate(shared, event reserver) *gate {
	return &gate{reserveShared: shared, reserveEvent: event, queues: map[objectid.ID][]*entry{}}
}

// enter reserves. It waits for the outcome also when the client goes away: what
// is reserved has to be followed up.
func (g *gate) enter(ctx context.Context, w request) reservation {
	e := &entry{request: w, done: make(chan reservation, 1)}
	g.enqueue(postgres.Detach(ctx), sharedQueue, e)
	return <-e.done
}

// enqueue has a purchase wait in a queue, or in that of its event while there is one, and has
// the queue served.
func (g *gate) enqueue(ctx context.Context, queue objectid.ID, e *entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, served := g.queues[e.request.event.ID]; served {
		queue = e.request.event.ID
	}
	entries, served := g.queues[queue]
	g.queues[queue] = append(entries, e)
	if !served {
		go g.serve(ctx, queue)
	}
}

// serve commits what waits in a queue until it is empty.
func (g *gate) serve(ctx context.Context, queue objectid.ID) {
	for {
		g.mu.Lock()
		n := min(len(g.queues[queue]), maxTogether)
		if n == 0 {
			delete(g.queues, queue)
			g.mu.Unlock()
			return
		}
		entries := g.queues[queue][:n:n]
		g.queues[queue] = g.queues[queue][n:]
		g.mu.Unlock()
		g.commit(ctx, queue, entries)
	}
}

// commit reserves for purchases of a queue in one transaction.
func (g *gate) commit(ctx context.Context, queue objectid.ID, entries []*entry) {
	requests := make([]request, len(entries))
	for i, e := range entries {
		requests[i] = e.request
	}
	reserve := g.reserveEvent
	if queue == sharedQueue {
		reserve = g.reserveShared
	}
	limited, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	for i, r := range reserve(limited, requests) {
		if errors.Is(r.err, errEventQueue) {
			g.enqueue(ctx, requests[i].event.ID, entries[i])
			continue
		}
		entries[i].done <- r
	}
}
