package replica

import (
	"context"
	"slices"
	"sync"
	"time"
)

// LSN is a place in the write-ahead log, in bytes from its beginning.
type LSN int64

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

type moment struct {
	at    time.Time
	place LSN
}

// add notes where the primary is, and forgets what is older than the span but for one moment.
func (h *history) add(m moment, span time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, m)
	for len(h.seen) > 2 && m.at.Sub(h.seen[1].at) > span {
		h.seen = h.seen[1:]
	}
}

// lag is the time since the primary was last no further than the place, as far as anybody has looked; known is false
// where nobody has.
func (h *history) lag(place LSN, now time.Time) (lag time.Duration, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.seen) == 0 {
		return 0, false
	}
	for i, m := range slices.Backward(h.seen) {
		if m.place > place {
			continue
		}
		if i == len(h.seen)-1 {
			return 0, true
		}
		return now.Sub(m.at), true
	}
	return now.Sub(h.seen[0].at), true
}
