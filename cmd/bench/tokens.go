package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/argon2"
)

// The price of a password hash in production (W4).
const (
	hashPasses = 2
	hashKiB    = 19 << 10
)

// loginNames are the seeded users who log in, in turn.
var loginNames = []string{"admin", "root", "customer", "migrated_flagged"}

// benchTokens is W4: logins of known users with the right password, beside what
// this machine does of the bare hash in the same minutes; then W1 while others
// log in without a pause.
func benchTokens(ctx context.Context, p *platform, o options) error {
	fmt.Printf("\nPOST /token, argon2id of %d MiB in %d passes on %d cores, %v each\n", hashKiB>>10, hashPasses,
		runtime.GOMAXPROCS(0), o.length)
	fmt.Printf("%-4s %-24s %8s %8s %10s %10s %12s   %s\n", "", "", "clients", "req/s", "p50", "p99", "CPU/request",
		"goal")
	for _, clients := range []int{2, 8, 32} {
		before, cpuBefore := hashRate(o.length / 2)
		r, err := p.logins(ctx, clients, o.length)
		if err != nil {
			return err
		}
		// The machine's pace drifts: its own rate is that of before and after.
		after, cpuAfter := hashRate(o.length / 2)
		bare, cpu := (before+after)/2, (cpuBefore+cpuAfter)/2
		fmt.Printf("%-4s %-24s %8s %8.1f %10s %10s %12v\n", "", "the hash alone", "", bare, "", "",
			cpu.Round(100*time.Microsecond))
		fmt.Printf("%-4s %-24s %8d %8.1f %10v %10v %12v   %.2f of the hash rate (of its CPU %.2f), goal >= 0.95\n",
			"W4", "POST /token", clients, r.perSecond,
			r.p50.Round(time.Millisecond), r.p99.Round(time.Millisecond), r.cpu.Round(100*time.Microsecond),
			r.perSecond/bare, float64(cpu)/float64(r.cpu))
	}
	return p.pagesDuringLogins(ctx, o)
}

// hashRate is how many hashes the machine makes in a second, on all cores and
// without a server about them, and the processor time of one.
func hashRate(length time.Duration) (perSecond float64, cpu time.Duration) {
	var made atomic.Int64
	var wg sync.WaitGroup
	start, used := time.Now(), processCPU()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for time.Since(start) < length {
				argon2.IDKey([]byte("correct horse battery"), []byte("sixteen bytes of"), hashPasses, hashKiB, 1, 32)
				made.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(made.Load()) / time.Since(start).Seconds(), (processCPU() - used) / time.Duration(made.Load())
}

// processCPU is the processor time of this process.
func processCPU() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // fails for no process of ours
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// logins logs the seeded users in. Each answer has to hold tokens of the user who
// asked.
func (p *platform) logins(ctx context.Context, clients int, length time.Duration) (result, error) {
	var turn atomic.Int64
	return p.drive(ctx, clients, length, func(ctx context.Context, until time.Time) (times []time.Duration, err error) {
		for time.Now().Before(until) {
			name := loginNames[int(turn.Add(1))%len(loginNames)]
			start := time.Now()
			token, err := p.login(ctx, name)
			if err != nil {
				return times, err
			}
			times = append(times, time.Since(start))
			if strings.Count(token, ".") != 2 {
				return times, fmt.Errorf("%s got no token", name)
			}
		}
		return times, nil
	})
}

// pagesDuringLogins is W1 alone and then while eight clients log in: the two take
// from the same cores.
func (p *platform) pagesDuringLogins(ctx context.Context, o options) error {
	subscriber, err := p.login(ctx, "customer")
	if err != nil {
		return err
	}
	var page envelope
	if err := p.call(ctx, http.MethodGet, "/api/v1/videos", subscriber, "", nil, &page); err != nil {
		return err
	}
	w := workload{path: func(int) string { return "/api/v1/videos" }, right: func(e envelope) bool {
		return len(e.Docs) == len(page.Docs) && e.Pagination.QtyTotalDocs == page.Pagination.QtyTotalDocs
	}}
	const clients = 8
	alone, err := p.load(ctx, subscriber, clients, o.length, w)
	if err != nil {
		return err
	}
	logins := make(chan error, 1)
	go func() {
		_, err := p.logins(ctx, clients, o.length+o.length/4)
		logins <- err
	}()
	during, err := p.load(ctx, subscriber, clients, o.length, w)
	if err := errors.Join(err, <-logins); err != nil {
		return err
	}
	for _, row := range []struct {
		what string
		result
	}{{"W1 alone", alone}, {"W1 during logins", during}} {
		fmt.Printf("%-4s %-24s %8d %8.0f %10v %10v %12v\n", "", row.what, clients, row.perSecond,
			row.p50.Round(time.Microsecond), row.p99.Round(time.Microsecond),
			row.cpu.Round(time.Microsecond))
	}
	fmt.Printf("%-4s %-24s %8s %7.0f%%   goal >= 40%%\n", "W1", "kept during logins", "",
		100*during.perSecond/alone.perSecond)
	return nil
}
