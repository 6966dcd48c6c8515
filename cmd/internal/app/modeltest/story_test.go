package modeltest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"marquee/testutil/soak"
)

const (
	// inTest and inSoak are how many TestHistoriesSoak plays in `make test-long` and `make soak`, unless -rapid.checks
	// says so.
	inTest, inSoak = 100, 2000
	// storiesPerDatabase is how many histories run in one database: rows that were deleted
	// slow the later ones down.
	storiesPerDatabase = 60
)

// TestHistoriesSoak plays random stories. -rapid.checks says how many, -rapid.seed
// where to begin. What fails is shrunk and printed, with its seed, as a story for
// regression_test.go.
func TestHistoriesSoak(t *testing.T) {
	t.Parallel()
	seed := setUpRapid(t)
	w, played, began := newTestPlatform(t), 0, time.Now()
	t.Cleanup(func() { // also of a run that fails
		t.Logf("%d histories from seed %s in %v", played, seed, time.Since(began).Round(time.Millisecond))
	})
	stored := false
	rapid.Check(t, func(r *rapid.T) {
		if played++; played%storiesPerDatabase == 0 || w.db.Stat().AcquiredConns() > 0 { // a history lost some
			w = newTestPlatform(t)
		}
		s := stories().Draw(r, "story")
		if found, h := w.play(r, s); found != "" {
			text := fmt.Sprintf("%#v\n%s\n%s", s, strings.Join(h.trace, "\n"), found)
			if !stored {
				stored = true
				keepFirst(t, seed, played, text)
			}
			r.Logf("%s", text)
			r.Fatalf("%s", found)
		}
	})
}

// keepFirst writes the history that failed, as it was before it is shrunk, into a file:
// what depends on the order of random ids may not fail again.
func keepFirst(t *testing.T, seed string, played int, text string) {
	t.Helper()
	name := filepath.Join(os.TempDir(), fmt.Sprintf("marquee-history-%s-%d.log", seed, played))
	require.NoError(t, os.WriteFile(name, []byte(text+"\n"), 0o600))
	t.Logf("history %d from seed %s fails, its log is %s", played, seed, name)
}

// setUpRapid sets what the command line leaves open, and returns the seed.
func setUpRapid(t *testing.T) string {
	t.Helper()
	given, rounds := map[string]bool{}, soak.Rounds(inTest, inSoak)
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{
		"rapid.checks": strconv.Itoa(rounds), "rapid.nofailfile": "true",
		"rapid.seed": strconv.FormatUint(soak.Seed(t), 10),
	} {
		if !given[name] {
			require.NoError(t, flag.Set(name, value))
		}
	}
	return flag.Lookup("rapid.seed").Value.String()
}
