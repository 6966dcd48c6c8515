package attacks

import (
	"testing"

	"marquee/testutil/pgbouncer"
)

// TestAttacksBehindPgBouncerSoak: a platform behind a pooler withstands them as well.
func TestAttacksBehindPgBouncerSoak(t *testing.T) {
	t.Parallel()
	pgbouncer.Suite(t, "^TestSessionThiefMovesTheAccount$", "Soak")
}
