// Command bench measures the platform from outside, beside its limits: `make bench`.
//
// It makes a database by `marquee dev`, starts `marquee serve` on it, and beside that the
// bare server of cmd/bench/bare on the same rows. Both are asked the same by turns, three
// times each; what is told are medians, and the ratios, which hold from day to day where
// absolute figures do not. Before anything is measured both have to give the same answers
// and write the same rows, and every answer is checked: a wrong one voids the run. With
// -compare another binary of marquee takes the bare server's place, on a database of its own.
//
// W1 is a page of 10 videos with the exact total, W2 filtered lists, W3 one video by its id.
// W4 is logins, and what W1 keeps beside them. W5 is webhooks of gateway B. W6 is purchases
// of tickets, with a check that no seat is sold twice. W7 is the dashboards and the export. W9
// is how a server starts, and what it holds. W1 and W5 are measured with a replica and
// through PgBouncer, too.
// Costs are those of a request of the busiest routes.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	binary        string
	sandbox       string // a binary with the sandbox, which makes the sample data; a production build has none
	compare       string // another binary; "" compares with the bare server
	subscriptions int
	data          string
	videos        string
	growth        string
	length        time.Duration // of each turn
	only          []string
	load          float64
	json          string
	profiles      string // a folder
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() error {
		if len(os.Args) > 1 && os.Args[1] == "bare" {
			return serveBare(ctx)
		}
		return measure(ctx, parse())
	}()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has run
	}
}

// full is the binary that has the sandbox.
func (o options) full() string { return cmp.Or(o.sandbox, o.binary) }

func parse() (o options) {
	flag.StringVar(&o.binary, "binary", "bin/marquee", "the marquee binary")
	flag.StringVar(&o.sandbox, "sandbox", "", "a marquee binary with the sandbox, where -binary is a production build")
	flag.StringVar(&o.compare, "compare", "", "another marquee binary, measured by turns with it in the bare server's place")
	flag.IntVar(&o.subscriptions, "subscriptions", 1_000_000, "subscriptions of the benchmark finance")
	flag.StringVar(&o.videos, "videos", "10000,100000", "sizes of the catalogue, growing")
	flag.StringVar(&o.growth, "growth", "10000,100000,1000000", "rows of the benchmark growth, the fewest first")
	flag.StringVar(&o.data, "finance-data", "",
		"data directory of the benchmark finance, filled at first and kept for the next run; a temporary one when empty")
	flag.DurationVar(&o.length, "length", 3*time.Second, "length of each turn")
	only := flag.String("only", "", "names of the benchmarks to run, with commas between them; all when empty")
	flag.Float64Var(&o.load, "load", 0.5, "load of the machine (1 minute) under which it is measured; it is waited for up to 10 minutes")
	flag.StringVar(&o.json, "json", "", "file in which the figures are kept")
	flag.StringVar(&o.profiles, "profiles", "",
		"folder for a profile, a flame graph and the plans of each load at 8 clients, of a turn more, in which the server is slower")
	flag.Parse()
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	return o
}

// benchmarks in the order in which they run; alone are those that have nothing beside them.
var benchmarks = []struct {
	name  string
	run   func(context.Context, *bench) error
	alone bool
}{
	{name: "start", run: benchStart},
	{name: "videos", run: benchVideos},
	{name: "tokens", run: benchTokens},
	{name: "webhooks", run: benchWebhooks},
	{name: "databases", run: benchDatabases, alone: true},
	{name: "costs", run: benchCosts, alone: true}, // before the customer has thousands of tickets
	{name: "purchases", run: benchPurchases},
	{name: "cards", run: benchCards},
	{name: "files", run: benchFiles, alone: true},
	{name: "finance", run: benchFinance, alone: true},
	{name: "growth", run: benchGrowth, alone: true},
}

// bench is one run: the platform that is measured, and what is measured beside it.
type bench struct {
	options
	ours   side
	beside side
	report report
}

func measure(ctx context.Context, o options) error {
	if o.profiles != "" {
		if err := os.MkdirAll(o.profiles, 0o755); err != nil { //nolint:gosec // to be read
			return fmt.Errorf("folder of profiles: %w", err)
		}
	}
	load, err := awaitQuiet(ctx, o.load)
	if err != nil {
		return err
	}
	b := &bench{options: o, report: newReport(o, load)}
	platform, err := start(ctx, o.binary, o.full(), o.full())
	if err != nil {
		return err
	}
	defer platform.stop()
	b.ours = platform.side("ours")
	if o.compare != "" {
		other, err := start(ctx, o.compare, o.compare, o.full())
		if err != nil {
			return err
		}
		defer other.stop()
		b.beside = other.side(filepath.Base(o.compare))
	} else {
		addr, err := freeAddr()
		if err != nil {
			return err
		}
		if b.beside, err = startBare(ctx, platform, addr); err != nil {
			return err
		}
	}
	for _, one := range benchmarks {
		if len(o.only) > 0 && !slices.Contains(o.only, one.name) || len(o.only) == 0 && one.alone && o.compare != "" {
			continue
		}
		if err := one.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		if err := b.report.keep(o.json); err != nil {
			return err
		}
	}
	return nil
}

// isLimit reports whether the bare server is beside the platform: on the same rows, so that
// answers are compared.
func (b *bench) isLimit() bool { return b.ours.platform == b.beside.platform }

// platforms are those whose database has to be made ready: one, or two.
func (b *bench) platforms() []*platform {
	if b.isLimit() {
		return []*platform{b.ours.platform}
	}
	return []*platform{b.ours.platform, b.beside.platform}
}
