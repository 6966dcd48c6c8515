// Package soak sizes the tests that gain from more rounds: few in `make test`, so
// that it stays quick, the full number in `make soak`, and a share of it in
// `make soak SHARE=3/40`.
package soak

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// share is which of how many equal shares of the full length this run has; of 0: none,
// as in `make test`.
type share struct{ number, of int }

// ours is read once a test runs, so that `go test` knows a kept result by it.
var ours = sync.OnceValue(func() share { return parse(os.Getenv("SOAK")) })

// parse reads SOAK: "1" for everything, "3/40" for the third of forty shares.
func parse(s string) share {
	switch s {
	case "", "0":
		return share{}
	case "1":
		return share{1, 1}
	}
	var it share
	if n, err := fmt.Sscanf(s, "%d/%d", &it.number,
		&it.of); err != nil || n != 2 || it.number < 1 || it.number > it.of || s != it.String() {
		panic("SOAK is 1, or a share such as 3/40, not " + s)
	}
	return it
}

func (s share) String() string { return fmt.Sprintf("%d/%d", s.number, s.of) }

// On tells whether this run is `make soak`, or a share of it.
func On() bool { return ours().of > 0 }

// Long leaves a test out of `make test`: what it needs, such as 100,000 rows or servers of its own, takes a large part of
// the minutes of all tests together. Its name ends with Long, by which `make test-long`, and CI with it, runs it.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test-long")
	}
}

// Rounds is the number of rounds of this run: a quarter of inTest in `make test`, all of it in `make test-long`.
func Rounds(inTest, inSoak int) int {
	if !On() && testing.Short() {
		return (inTest + 3) / 4
	}
	return ours().rounds(inTest, inSoak)
}

func (s share) rounds(inTest, inSoak int) int {
	if s.of == 0 {
		return inTest
	}
	return max(inSoak/s.of, min(inTest, inSoak))
}

// Has tells whether the i-th case, from 0, of a list that is played whole in `make soak`
// belongs to this run: each belongs to one share.
func Has(i int) bool { return ours().has(i) }

// has takes another place of each row of s.of cases, since lists often alternate.
func (s share) has(i int) bool { return s.of == 0 || (i+i/s.of)%s.of == s.number-1 }

// Seed is where a test with random cases begins, and says so in its log. `make test` begins at 1, so that
// its result depends on the code alone; `make soak` begins anywhere, `make flaky` at the seed of its order,
// and SEED=… at a seed of a log.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if On() {
		seed = rand.Uint64() //nolint:gosec // no secret
	}
	if shuffle := flag.Lookup("test.shuffle"); shuffle != nil {
		if order, err := strconv.ParseUint(shuffle.Value.String(), 10, 64); err == nil {
			seed = order
		}
	}
	if given := os.Getenv("SEED"); given != "" {
		n, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			t.Fatalf("SEED is a number, not %s", given)
		}
		seed = n
	}
	t.Logf("again with SEED=%d", seed)
	return seed
}
