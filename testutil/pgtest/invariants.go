package pgtest

import (
	"context"
	"testing"
	"time"

	"marquee/sql/invariants"
)

// clockSkew is what tests break that move their clock while a sandbox gateway signs
// with its own.
const clockSkew = "no_clock_skew"

// RequireInvariants fails the test when the data break an invariant (sql/invariants),
// except those that are named. An end-to-end test ends with it: at is the instant
// by the test's clock. It costs one round trip and some milliseconds.
func RequireInvariants(t testing.TB, db invariants.DB, at time.Time, except ...string) {
	t.Helper()
	results, err := invariants.Check(context.WithoutCancel(t.Context()), db, at)
	if err != nil {
		t.Errorf("pgtest: %v", err)
		return
	}
	known := map[string]bool{clockSkew: true}
	for _, name := range except {
		known[name] = true
	}
	for _, r := range results {
		if r.Findings == 0 || known[r.Name] {
			continue
		}
		t.Errorf("broken invariant %s (%s) %d times, first by %s: %s", r.Name, r.Meaning, r.Findings, r.Offenders[0].ID,
			r.Offenders[0].Detail)
	}
}
