package sessions

import (
	"container/list"
	"context"
	"sync"
	"time"

	"marquee/platform/fault"
)

// queueWait is after how long a client may come again that found no place in the queue: it is worked off by then.
const queueWait = 3 * time.Second

// errQueueFull is 503 SERVICE_BUSY.
func errQueueFull() *fault.Error {
	return &fault.Error{
		Kind: fault.KindUnavailable, Code: fault.CodeBusy, RetryAfter: queueWait,
		Message: "Too many logins at this moment. Try again in a few seconds.",
	}
}

// turns lets so many at once, and has the others wait in a queue that is fair by client address: addresses take turns,
// however many wait at one. Who comes to a full queue takes the place of the last at the address where most wait, if
// fewer wait at their own: nobody is turned away by the crowd of another address.
type turns struct {
	limit int // of those who wait

	mu      sync.Mutex
	free    int // turns that nobody has
	waiting int
	order   list.List // of *line, in the order of their next turns
	lines   map[string]*line
}

// line are those who wait at one address: never none.
type line struct {
	address string
	place   *list.Element // in the order
	waiters []*waiter
}

// waiter waits until done is closed; err says whether in vain.
type waiter struct {
	done chan struct{}
	err  error
}

func newTurns(atOnce, limit int) *turns {
	return &turns{limit: limit, free: atOnce, lines: map[string]*line{}}
}

// take waits for a turn, which end gives back. It is 503 when too many wait, and the context's error when that ends.
func (t *turns) take(ctx context.Context, address string) error {
	w, err := t.enter(address)
	if w == nil || err != nil {
		return err
	}
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
	}
	if !t.leave(address, w) { // told at the same moment
		if w.err != nil {
			return w.err
		}
		t.end()
	}
	return ctx.Err()
}

// enter takes a free turn, or a place in the queue; the waiter is nil for a turn.
func (t *turns) enter(address string) (*waiter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil, nil //nolint:nilnil // there is nothing to wait for
	}
	l := t.lines[address]
	if t.waiting >= t.limit && !t.evict(l) {
		return nil, errQueueFull()
	}
	if l == nil {
		l = &line{address: address}
		l.place = t.order.PushBack(l)
		t.lines[address] = l
	}
	w := &waiter{done: make(chan struct{})}
	l.waiters = append(l.waiters, w)
	t.waiting++
	return w, nil
}

// evict turns away the last who waits where most do; false where no fewer would wait at the address of who comes, whose
// line is nil for none.
func (t *turns) evict(to *line) bool {
	var longest *line
	for _, l := range t.lines {
		if longest == nil || len(l.waiters) > len(longest.waiters) {
			longest = l
		}
	}
	here := 0
	if to != nil {
		here = len(to.waiters)
	}
	if len(longest.waiters) <= here+1 {
		return false
	}
	last := len(longest.waiters) - 1
	w := longest.waiters[last]
	longest.waiters = longest.waiters[:last]
	t.waiting--
	w.err = errQueueFull()
	close(w.done)
	return true
}

// leave takes away a waiter who does not wait any more; false where they have been told.
func (t *turns) leave(address string, w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-w.done:
		return false
	default:
	}
	l := t.lines[address]
	for i, other := range l.waiters {
		if other == w {
			l.waiters = append(l.waiters[:i], l.waiters[i+1:]...)
			break
		}
	}
	t.waiting--
	t.dropEmpty(l)
	return true
}

// end gives a turn to the first at the address whose turn it is, which comes last then.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.order.Front()
	if first == nil {
		t.free++
		return
	}
	l := first.Value.(*line) //nolint:forcetypeassert,revive // nothing else stands there
	w := l.waiters[0]
	l.waiters = l.waiters[1:]
	t.waiting--
	t.order.MoveToBack(first)
	t.dropEmpty(l)
	close(w.done)
}

func (t *turns) dropEmpty(l *line) {
	if len(l.waiters) == 0 {
		t.order.Remove(l.place)
		delete(t.lines, l.address)
	}
}

// queued is how many wait.
func (t *turns) queued() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}
