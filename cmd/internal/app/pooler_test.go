package app_test

import (
	"testing"

	"marquee/testutil/pgbouncer"
)

// TestTheSuiteBehindPgBouncerSoak: what the platform promises it keeps behind a pooler in transaction mode.
func TestTheSuiteBehindPgBouncerSoak(t *testing.T) {
	t.Parallel()
	pgbouncer.Suite(t, "^(TestAPromoCodeOfSignupLowersTheFirstSubscription|TestAGuestsWayToTheDoor)$",
		// They count round trips, look at plans or at sessions, restart Postgres, have poolers of their own, or are long in
		// a soak of their own.
		"Soak|RoundTrip|Plans|TestWhatIsReadOnReplicasLong|TestReplicasBehindPoolersLong|TestMetrics")
}
