package accounts_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/replica"
)

// TestWhoWritesIsKnownByTheCheckOfTheCaller: for as long as a write is remembered, each check of them gives a place in
// the log that is behind it; nobody else's does, and without replicas nothing is noted.
func TestWhoWritesIsKnownByTheCheckOfTheCaller(t *testing.T) {
	t.Parallel()
	for remembered, noted := range map[time.Duration]int{time.Minute: 1, 0: 0} {
		b := setup(t, func(d *accounts.Deps) { d.Config.WritesRemembered = remembered })
		ctx := t.Context()
		ana, bia := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
		written := func(token string) replica.LSN {
			t.Helper()
			claims, err := b.svc.Verify(token)
			require.NoError(t, err)
			c, err := b.svc.Caller(ctx, claims)
			require.NoError(t, err)
			return c.Written
		}
		place := func() (place replica.LSN) {
			t.Helper()
			require.NoError(t, b.db.QueryRow(ctx,
				"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint").Scan(&place))
			return place
		}
		notes := func() (n int) {
			t.Helper()
			require.NoError(t, b.db.QueryRow(ctx, "SELECT count(*) FROM accounts.last_writes").Scan(&n))
			return n
		}
		anas, bias := b.token(t, ana.Username), b.token(t, bia.Username)
		require.Equal(t, 200, b.get(t, "/customers/me", anas).status)
		require.Zero(t, written(anas), "they only read")
		require.Equal(t, 200, b.json(t, http.MethodPut, "/customers/me", anas,
			[]any{map[string]any{"full_name": "Ana Souza"}}).status)
		require.Equal(t, noted, notes())
		require.Zero(t, written(bias))
		if noted == 0 {
			require.Zero(t, written(anas))
			continue
		}
		before := place()
		require.GreaterOrEqual(t, written(anas), before, "no less than what was written")
		_, err := b.db.Exec(ctx, "UPDATE accounts.last_writes SET at = at - interval '2 minutes'")
		require.NoError(t, err)
		require.Zero(t, written(anas), "that is long ago")
		require.NoError(t, b.svc.StillWrites(ctx, ana.ID))
		require.NotZero(t, written(anas))
	}
}
