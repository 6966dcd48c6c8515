// Package batch has those who come while others are being served wait for each other, and
// serves them together: one statement, or one commit, for all of them. There is no timer: who
// comes alone waits for nobody.
package batch

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Batcher serves in batches. Make it with New; its methods may be called at once.
type Batcher[T any] struct {
	serve func(ctx context.Context, batch []T) error
	most  int
	slow  time.Duration

	mu       sync.Mutex
	waiting  []*entry[T]
	serving  bool // a goroutine takes what waits once its batch is done
	underWay int  // batches
}

// atOnce bounds the batches under way: where all are slow, and not one that is stuck, more of them make it worse.
const atOnce = 2

// entry is one that waits, or is being served.
type entry[T any] struct {
	ctx  context.Context //nolint:containedctx // of who waits: one who has gone is left out
	of   T
	err  error
	done chan struct{} // closed when err, and what serve wrote into of, are there
}

// New makes a Batcher. Serve gets at most so many at once, and the context of the first of them, which may end before
// the others' do; an error of it, or a panic, is one of all. A batch that takes longer than slow does not hold up those
// behind it: they are served meanwhile, by one batch after the other.
func New[T any](most int, slow time.Duration, serve func(ctx context.Context, batch []T) error) *Batcher[T] {
	return &Batcher[T]{serve: serve, most: most, slow: slow}
}

// Join has one served with the next batch, which begins after the call, and returns when it is done. When the context
// ends before, that is the error, and it may or may not be served: it must not be read any more.
func (b *Batcher[T]) Join(ctx context.Context, of T) error {
	e := &entry[T]{ctx: ctx, of: of, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, e)
	begin := !b.serving
	b.serving = true
	b.mu.Unlock()
	if begin {
		go b.run() //nolint:contextcheck // it serves others too, each batch by the context of its first
	}
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done(): // the others are served all the same
		return ctx.Err()
	}
}

// turn is a batch that is under way.
type turn struct{ relieved, ended bool }

// run serves what waits until nothing does. When a batch is slow, another goroutine goes on in its place.
func (b *Batcher[T]) run() {
	for {
		entries := b.take()
		if len(entries) == 0 {
			return
		}
		var this turn
		relief := time.AfterFunc(b.slow, func() {
			if b.relieve(&this) {
				b.run()
			}
		})
		err := b.serveSafely(entries)
		for _, e := range entries {
			e.err = err
			close(e.done)
		}
		relief.Stop()
		if b.end(&this) {
			return
		}
	}
}

// relieve reports whether the caller is to go on in the place of a slow batch.
func (b *Batcher[T]) relieve(of *turn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	of.relieved = !of.ended && b.underWay < atOnce
	return of.relieved
}

// end ends a batch, and reports whether somebody else has gone on in its place.
func (b *Batcher[T]) end(of *turn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.underWay--
	of.ended = true
	return of.relieved
}

// take returns those to be served next, without those who have gone; none when nobody waits, and then who comes next
// begins anew.
func (b *Batcher[T]) take() (entries []*entry[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(entries) < b.most && len(b.waiting) > 0 {
		if e := b.waiting[0]; e.ctx.Err() == nil {
			entries = append(entries, e)
		}
		b.waiting[0], b.waiting = nil, b.waiting[1:]
	}
	b.serving = len(entries) > 0
	if b.serving {
		b.underWay++
	}
	return entries
}

// serveSafely makes a panic an error: nobody else would recover it.
func (b *Batcher[T]) serveSafely(entries []*entry[T]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while serving a batch: %v\n%s", p, debug.Stack())
		}
	}()
	all := make([]T, len(entries))
	for i, e := range entries {
		all[i] = e.of
	}
	return b.serve(entries[0].ctx, all)
}
