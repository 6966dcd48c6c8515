// Command bench measures the running platform from outside: it starts
// `marquee dev` on a fresh data directory, fills the catalogue, and asks for
// videos over HTTP as subscribers do. Every answer is checked; a wrong one voids
// the run.
//
// W1 is a page of 10 with the exact total, W2 filtered lists, W3 one video by
// its id. W4 is logins, and what W1 keeps beside them; files are up- and downloads.
// W5 is webhooks of gateway B, beside one durable statement by pgbench. W6 is
// purchases of tickets, with a check that no seat is sold twice.
// CPU is that of the server and its Postgres together.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/marquee", "the marquee binary")
	flag.IntVar(&o.subscriptions, "subscriptions", 1_000_000, "subscriptions of the benchmark finance")
	flag.StringVar(&o.videos, "videos", "10000,100000", "sizes of the catalogue, growing")
	flag.StringVar(&o.data, "finance-data", "",
		"data directory of the benchmark finance, filled at first and kept for the next run; a temporary one when empty")
	seconds := flag.Int("seconds", 3, "length of each run")
	only := flag.String("only", "", "names of the benchmarks to run, with commas between them; all when empty")
	flag.Parse()
	o.length = time.Duration(*seconds) * time.Second
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has run
	}
}

type options struct {
	binary        string
	subscriptions int
	data          string
	videos        string
	length        time.Duration // of each run
	only          []string
}

// benchmarks in the order in which they run, all against one platform.
var benchmarks = []struct {
	name string
	run  func(context.Context, *platform, options) error
}{
	{"videos", benchVideos},
	{"tokens", benchTokens},
	{"files", benchFiles},
	{"webhooks", benchWebhooks},
	{"purchases", benchPurchases},
	{"finance", benchFinance},
}

func run(ctx context.Context, o options) error {
	p, err := start(ctx, o.binary)
	if err != nil {
		return err
	}
	defer p.stop()
	for _, b := range benchmarks {
		if len(o.only) > 0 && !slices.Contains(o.only, b.name) {
			continue
		}
		if err := b.run(ctx, p, o); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return nil
}

// benchVideos is W1 to W3.
func benchVideos(ctx context.Context, p *platform, o options) error {
	admin, err := p.login(ctx, "admin")
	if err != nil {
		return err
	}
	subscriber, err := p.login(ctx, "customer")
	if err != nil {
		return err
	}
	for _, text := range strings.Split(o.videos, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-videos: %w", err)
		}
		if err := p.fill(ctx, admin, size); err != nil {
			return err
		}
		if err := p.measure(ctx, subscriber, size, o.length); err != nil {
			return err
		}
	}
	return nil
}

func (p *platform) measure(ctx context.Context, subscriber string, size int, length time.Duration) error {
	ids, err := p.someIDs(ctx, subscriber)
	if err != nil {
		return err
	}
	fmt.Printf("\nGET /videos as a subscriber, %d videos, %v each\n", size, length)
	fmt.Printf("%-4s %-24s %8s %8s %10s %10s %12s   %s\n", "", "", "clients", "req/s", "p50", "p99", "CPU/request",
		"goal")
	for _, w := range workloads(size, ids) {
		for _, clients := range []int{1, 8, 32} {
			if _, err := p.load(ctx, subscriber, clients, length/6, w); err != nil { // warm up
				return err
			}
			r, err := p.load(ctx, subscriber, clients, length, w)
			if err != nil {
				return err
			}
			fmt.Printf("%-4s %-24s %8d %8.0f %10v %10v %12v   %s\n", w.name, w.what, clients, r.perSecond,
				r.p50.Round(time.Microsecond), r.p99.Round(time.Microsecond), r.cpu.Round(time.Microsecond), w.goal)
		}
	}
	return nil
}
