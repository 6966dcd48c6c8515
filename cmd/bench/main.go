// Command bench measures the running platform from outside: it starts
// `marquee dev` on a fresh data directory, fills the catalogue, and asks for
// pages over HTTP as subscribers do. Every answer is checked; a wrong one voids
// the run.
//
// Workload W1: GET /videos, a page of 10 and the exact total, as a subscriber.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	binary := flag.String("binary", "bin/marquee", "the marquee binary")
	videos := flag.Int("videos", 10_000, "size of the catalogue")
	seconds := flag.Int("seconds", 5, "length of each run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *binary, *videos, time.Duration(*seconds)*time.Second); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has run
	}
}

func run(ctx context.Context, binary string, videos int, length time.Duration) error {
	p, err := start(ctx, binary)
	if err != nil {
		return err
	}
	defer p.stop()
	admin, err := p.login(ctx, "admin")
	if err != nil {
		return err
	}
	if err := p.fill(ctx, admin, videos); err != nil {
		return err
	}
	subscriber, err := p.login(ctx, "customer")
	if err != nil {
		return err
	}
	fmt.Printf("W1  GET /videos, page of 10 and total, subscriber, %d videos, %v each\n", videos, length)
	fmt.Printf("%8s %10s %10s %10s %16s\n", "clients", "req/s", "p50", "p99", "CPU per request")
	for _, clients := range []int{1, 8, 32} {
		if _, err := p.load(ctx, subscriber, clients, time.Second, videos); err != nil { // warm up
			return err
		}
		r, err := p.load(ctx, subscriber, clients, length, videos)
		if err != nil {
			return err
		}
		fmt.Printf("%8d %10.0f %10v %10v %16v\n", clients, r.perSecond, r.p50.Round(time.Microsecond), r.p99.Round(time.Microsecond), r.cpu.Round(time.Microsecond))
	}
	return nil
}
