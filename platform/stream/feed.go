package stream

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"marquee/platform/postgres"
)

// readTime is how long reading the states may take.
const readTime = 3 * time.Second

// State is the newest of what is followed.
type State struct {
	ID    string // another for every other state; one line, no secret
	Data  any    // what is told of it; read by several streams at once
	Ended bool   // it will not change any more
}

// Read reads the states of keys; there is nothing any more behind one that it returns none for.
type Read func(ctx context.Context, keys []string) (map[string]State, error)

// Feed is a kind of stream.
type Feed struct {
	streams *Streams
	name    string
	read    Read

	mu        sync.Mutex
	running   bool
	failing   bool
	followers map[string]map[*follower]struct{} // by key
}

// Feed makes a kind of stream by its name, a label of the metric.
func (s *Streams) Feed(name string, read Read) *Feed {
	return &Feed{streams: s, name: name, read: read, followers: map[string]map[*follower]struct{}{}}
}

// follower is a stream as its feed sees it.
type follower struct {
	wake chan struct{} // there may be something to do

	mu    sync.Mutex
	newer *State // than what it has sent; nil: nothing was read
	gone  bool
}

// latest is the newest state that was read since it was asked for the last time; nil without one.
func (f *follower) latest() (newer *State, gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	newer, f.newer = f.newer, nil
	return newer, f.gone
}

func (f *follower) put(state State, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone = !known; known {
		f.newer = &state
	}
}

// watch begins to read the key, until end.
func (f *Feed) watch(key string) (one *follower, end func()) {
	one = &follower{wake: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.followers[key] == nil {
		f.followers[key] = map[*follower]struct{}{}
	}
	f.followers[key][one] = struct{}{}
	if !f.running {
		f.running = true
		f.streams.feeds.Go(f.run)
	}
	return one, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.followers[key], one)
		if len(f.followers[key]) == 0 {
			delete(f.followers, key)
		}
	}
}

// run reads at each tick, until nobody follows anything.
func (f *Feed) run() {
	ticks, stop := f.streams.cfg.Ticks()
	defer stop()
	for {
		select {
		case <-f.streams.ctx.Done():
			f.mu.Lock()
			f.running = false
			f.mu.Unlock()
			return
		case <-ticks:
		}
		keys := f.keys()
		if keys == nil {
			return
		}
		states, err := f.readNow(f.streams.ctx, keys)
		f.log(err)
		f.distribute(keys, states, err == nil)
	}
}

// keys are all that are followed; nil ends the reading.
func (f *Feed) keys() (keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.followers {
		keys = append(keys, key)
	}
	f.running = len(keys) > 0
	slices.Sort(keys)
	return keys
}

func (f *Feed) readNow(ctx context.Context, keys []string) (map[string]State, error) {
	ctx, cancel := context.WithTimeout(postgres.As(ctx, postgres.Request, "stream of "+f.name), readTime)
	defer cancel()
	return f.read(ctx, keys)
}

// distribute wakes all streams, with what was read for them.
func (f *Feed) distribute(keys []string, states map[string]State, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys {
		state, there := states[key]
		for one := range f.followers[key] {
			if known {
				one.put(state, there)
			}
			select {
			case one.wake <- struct{}{}:
			default:
			}
		}
	}
}

// log says once that nothing can be read.
func (f *Feed) log(err error) {
	if err != nil && !f.failing && f.streams.ctx.Err() == nil {
		f.streams.cfg.Log.Warn("streams of events see no changes for now", slog.String("feed", f.name), slog.Any("error", err))
	}
	f.failing = err != nil
}
