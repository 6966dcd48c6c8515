package main

import (
	"context"
	"encoding/json"
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

// loginNames are the seeded users who log in, in turn. Logins of customers also ask their
// gateway, ten times a minute: that is no part of what is measured.
var loginNames = []string{"admin", "root", "migrated_flagged"}

// benchTokens is W4: logins of known users with the right password, and what this machine
// does of the bare hash in the same minutes; then W1 while others log in without a pause.
func benchTokens(ctx context.Context, b *bench) error {
	b.report.heading("POST /token, argon2id of %d MiB in %d passes on %d cores, %v a turn", hashKiB>>10, hashPasses,
		runtime.GOMAXPROCS(0), b.length)
	if b.isLimit() {
		for _, name := range loginNames {
			r := b.ours.platform.signIn(name)
			if _, err := b.compareResponses(ctx, r, r, true); err != nil {
				return err
			}
		}
	}
	perSecond, cpu := hashRate(b.length)
	fmt.Printf("%-5s %-22s %7s %-10s %9.1f %17s %9s %9s %9.0f\n", "", "the hash alone", "", "", perSecond, "", "", "",
		micros(cpu))
	err := b.run(ctx, load{
		name: "W4", what: "POST /token", clients: []int{2, 8, 32}, at: logins,
		goal: goal{rate: map[int]float64{2: 0.95, 8: 0.95, 32: 0.95}},
	})
	if err != nil {
		return err
	}
	return b.pagesDuringLogins(ctx)
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

// logins logs the seeded users in. Each answer has to hold tokens of a user.
func logins(s side) caller {
	return repeated(s, func(n int) request { return s.platform.signIn(loginNames[n%len(loginNames)]) },
		func(_, code int, body []byte) error {
			var tokens struct {
				AccessToken  string `json:"access_token"`
				RefreshToken string `json:"refresh_token"`
			}
			if err := json.Unmarshal(body, &tokens); err != nil || code != http.StatusOK ||
				strings.Count(tokens.AccessToken, ".") != 2 || strings.Count(tokens.RefreshToken, ".") != 2 {
				return fmt.Errorf("%d %s", code, body)
			}
			return nil
		})
}

// pagesDuringLogins is W1 alone and then while eight clients log in: the two take
// from the same cores.
func (b *bench) pagesDuringLogins(ctx context.Context) error {
	const clients = 8
	s := b.ours
	token, err := s.login(ctx, "customer")
	if err != nil {
		return err
	}
	page := request{Method: http.MethodGet, Path: videos("", "", 0), Token: token}
	_, want, err := s.do(ctx, page)
	if err != nil {
		return err
	}
	pages := func(s side) caller {
		return repeated(s, func(int) request { return page }, func(_, code int, body []byte) error {
			if code != http.StatusOK || string(body) != string(want) {
				return fmt.Errorf("%d %.200s", code, body)
			}
			return nil
		})
	}
	alone, err := drive(ctx, s, clients, b.length, pages)
	if err != nil {
		return err
	}
	others := make(chan error, 1)
	go func() {
		_, err := drive(ctx, s, clients, b.length+b.length/4, logins)
		others <- err
	}()
	during, err := drive(ctx, s, clients, b.length, pages)
	if err := errors.Join(err, <-others); err != nil {
		return err
	}
	share := during.perSecond / alone.perSecond
	fmt.Printf("%-5s W1 at %d clients: %.0f/s alone, %.0f/s (%.0f %%, p99 %v) while %d others log in; >= 40 %%: %s\n", "",
		clients, alone.perSecond, during.perSecond, 100*share, during.p99.Round(time.Millisecond), clients,
		verdict(share >= 0.4))
	return nil
}
