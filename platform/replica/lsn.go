package replica

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// LSN is a place in the write-ahead log, in bytes from its beginning.
type LSN int64

// Everything is behind all places: no replica has replayed it, so that the primary is read.
const Everything = LSN(math.MaxInt64)

type afterKey struct{}

// After has what is read for the context be no older than the place; 0 is any.
func After(ctx context.Context, place LSN) context.Context {
	if place == 0 {
		return ctx
	}
	return context.WithValue(ctx, afterKey{}, place)
}

func afterOf(ctx context.Context) LSN {
	place, _ := ctx.Value(afterKey{}).(LSN)
	return place
}

// history is where the primary was, and when.
type history struct {
	mu   sync.Mutex
	seen []moment // in the order of time
}

// moment says that all that was committed before at is before the place.
type moment struct {
	at    time.Time
	place LSN
}

// add notes where the primary is, and forgets what is older than the span but for one moment. A primary that is less
// far than it was is another one, of which nothing is known.
func (h *history) add(m moment, span time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.seen) > 0 && m.place < h.seen[len(h.seen)-1].place {
		h.seen = nil
	}
	h.seen = append(h.seen, m)
	for len(h.seen) > 2 && m.at.Sub(h.seen[1].at) > span {
		h.seen = h.seen[1:]
	}
}

// newest is the last moment; known is false where there is none.
func (h *history) newest() (m moment, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.seen) == 0 {
		return moment{}, false
	}
	return h.seen[len(h.seen)-1], true
}

// lag is how old what a server has at the place is: it has all that was committed so long before now. It is 0 where
// the server has all that was seen, and not long ago. known is false where the place is from before anybody looked:
// then the lag is at least so much.
func (h *history) lag(place LSN, now time.Time) (lag time.Duration, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, m := range slices.Backward(h.seen) {
		if m.place > place {
			continue
		}
		lag = max(0, now.Sub(m.at))
		if i == len(h.seen)-1 && lag <= silence {
			lag = 0
		}
		return lag, true
	}
	if len(h.seen) > 0 {
		lag = max(0, now.Sub(h.seen[0].at))
	}
	return lag, false
}
