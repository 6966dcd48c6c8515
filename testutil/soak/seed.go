package soak

import (
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

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
