package checkout

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// gate gathers purchases of one event that come while an earlier transaction of
// the same event is being committed, and passes them on together: one lock and one
// flush for all of them, instead of one each (design page performance, point 4).
// A purchase that comes alone waits for nobody. The database's own conditions
// stay the truth, so any number of processes may each have a gate.
type gate struct {
	reserve func(ctx context.Context, wishes []wish) []reservation
	mu      sync.Mutex
	busy    map[objectid.ID]bool
	waiting map[objectid.ID][]*visitor
}

type visitor struct {
	wish wish
	done chan reservation // holds one
}

// maxTogether bounds one transaction.
const maxTogether = 64

// reserveTime bounds one transaction of the gate, which belongs to no request.
const reserveTime = 15 * time.Second

func newGate(reserve func(context.Context, []wish) []reservation) *gate {
	return &gate{reserve: reserve, busy: map[objectid.ID]bool{}, waiting: map[objectid.ID][]*visitor{}}
}

// enter reserves. It waits for the outcome also when the client goes away: what
// is reserved has to be followed up.
func (g *gate) enter(ctx context.Context, w wish) reservation {
	v := &visitor{wish: w, done: make(chan reservation, 1)}
	id := w.event.ID
	g.mu.Lock()
	g.waiting[id] = append(g.waiting[id], v)
	lead := !g.busy[id]
	g.busy[id] = true
	g.mu.Unlock()
	if lead {
		go g.lead(postgres.Detach(ctx), id)
	}
	return <-v.done
}

// lead serves the event until nobody waits.
func (g *gate) lead(ctx context.Context, id objectid.ID) {
	for {
		g.mu.Lock()
		n := min(len(g.waiting[id]), maxTogether)
		if n == 0 {
			delete(g.waiting, id)
			delete(g.busy, id)
			g.mu.Unlock()
			return
		}
		visitors := g.waiting[id][:n:n]
		g.waiting[id] = g.waiting[id][n:]
		g.mu.Unlock()
		g.serve(ctx, visitors)
	}
}

func (g *gate) serve(ctx context.Context, visitors []*visitor) {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	wishes := make([]wish, len(visitors))
	for i, v := range visitors {
		wishes[i] = v.wish
	}
	for i, r := range g.reserveSafely(ctx, wishes) {
		visitors[i].done <- r
	}
}

// reserveSafely answers everybody also when reserving panics: nobody else would.
func (g *gate) reserveSafely(ctx context.Context, wishes []wish) (results []reservation) {
	defer func() {
		if p := recover(); p != nil {
			results = make([]reservation, len(wishes))
			for i := range results {
				results[i].err = fmt.Errorf("panic while reserving: %v\n%s", p, debug.Stack())
			}
		}
	}()
	return g.reserve(ctx, wishes)
}
