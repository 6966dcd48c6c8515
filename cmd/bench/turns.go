package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// turns is how often each side is measured.
const turns = 3

// caller is what one client does at a side until the time is up: it checks each answer, and
// tells how long each took.
type caller func(ctx context.Context, until time.Time) ([]time.Duration, error)

// load is one kind of request.
type load struct {
	name, what string
	clients    []int
	at         func(side) caller // made for each client
	goal       goal
}

// goal is what the platform has to reach beside the bare server; zero values bound nothing.
type goal struct {
	rate map[int]float64 // at least so much of the bare server's, by the number of clients
	cpu  float64         // at most so many times the bare server's
	p99  time.Duration
}

// run measures a load on both sides by turns, at each number of clients, and tells it.
func (b *bench) run(ctx context.Context, l load) error {
	for _, clients := range l.clients {
		row := row{Name: l.name, What: l.what, Clients: clients, goal: l.goal}
		sides := [2]side{b.ours, b.beside}
		totals := [2]*figures{{Name: b.ours.name}, {Name: b.beside.name}}
		for turn := -1; turn < turns; turn++ {
			for i, s := range sides {
				length := b.length
				if turn < 0 { // warm up
					length /= 3
				}
				r, err := drive(ctx, s, clients, length, l.at)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", l.name, s.name, err)
				}
				if turn >= 0 {
					totals[i].add(r)
				}
			}
		}
		row.Ours, row.Beside = *totals[0], *totals[1]
		b.report.add(row)
		if err := b.profileBoth(ctx, l, clients); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// alone measures a load of a side that has nothing beside it.
func (b *bench) alone(ctx context.Context, s side, l load) error {
	for _, clients := range l.clients {
		if _, err := drive(ctx, s, clients, b.length/3, l.at); err != nil { // warm up
			return err
		}
		r, err := drive(ctx, s, clients, b.length, l.at)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", l.name, s.name, err)
		}
		row := row{Name: l.name, What: l.what, Clients: clients, Ours: figures{Name: s.name}}
		row.Ours.add(r)
		b.report.add(row)
	}
	return nil
}

// result is one turn.
type result struct {
	perSecond float64
	p50, p99  time.Duration
	cpu       usage // a request
	generator time.Duration
}

// drive runs so many clients at once. The first error ends all.
func drive(ctx context.Context, s side, clients int, length time.Duration, at func(side) caller) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		all   []time.Duration
		first error
		wg    sync.WaitGroup
	)
	before, generator, began := s.used(), processCPU(), time.Now()
	for range clients {
		call := at(s)
		wg.Go(func() {
			times, err := call(ctx, began.Add(length))
			mu.Lock()
			defer mu.Unlock()
			all = append(all, times...)
			if err != nil && first == nil {
				first = err
				cancel()
			}
		})
	}
	wg.Wait()
	took, used, generator := time.Since(began), s.used(), processCPU()-generator
	if first != nil {
		return result{}, first
	}
	slices.Sort(all)
	n := len(all)
	return result{
		perSecond: float64(n) / took.Seconds(), p50: all[n/2], p99: all[n*99/100], cpu: used.each(before, n),
		generator: generator / time.Duration(n),
	}, nil
}

// repeated is a caller that sends one request after the other. next tells the n-th of the
// client's, right whether an answer is the right one.
func repeated(s side, next func(n int) request, right func(n, code int, body []byte) error) caller {
	return func(ctx context.Context, until time.Time) (times []time.Duration, err error) {
		for n := 0; time.Now().Before(until); n++ {
			r := next(n)
			began := time.Now()
			code, body, err := s.do(ctx, r)
			if err != nil {
				return times, err
			}
			times = append(times, time.Since(began))
			if err := right(n, code, body); err != nil {
				return times, fmt.Errorf("wrong answer to %s %s: %w", r.Method, r.Path, err)
			}
		}
		return times, nil
	}
}
