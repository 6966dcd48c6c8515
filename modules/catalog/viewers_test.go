package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
)

// claimsOfAll are two tokens each, older and not, of users of all kinds, and of nobody, in any order.
func claimsOfAll(t *testing.T, db *pgxpool.Pool, now time.Time) (all []httpapi.Claims) {
	t.Helper()
	users := []objectid.ID{objectid.New()}
	for _, kind := range []string{"admin", "subscriber", "expired", "stranger", "disabled"} {
		id, userType := objectid.New(), httpapi.TypeCustomer
		if kind == "admin" {
			userType = httpapi.TypeAdmin
		}
		_, err := db.Exec(t.Context(), `INSERT INTO accounts.users (id, user_type, username, email, created_at, updated_at,
				enable, tokens_valid_after, kept_token_id, kept_token_since)
			VALUES ($1, $2, $3, $3 || '@example.com', $4, $4, $3 <> 'disabled', $4, 'fresh', $4)`, id, userType, kind, now)
		require.NoError(t, err)
		if kind != "admin" && kind != "stranger" {
			subscriptionstest.Active(t, db, id)
		}
		if kind == "expired" {
			_, err = db.Exec(t.Context(), "UPDATE subscriptions.subscriptions SET expires_at = $2 WHERE customer_id = $1", id,
				now)
			require.NoError(t, err)
		}
		users = append(users, id)
	}
	for _, id := range users {
		for _, issued := range []time.Time{now.Add(-time.Second), now} {
			for _, token := range []string{"fresh", "old"} {
				all = append(all, httpapi.Claims{UserID: id, IssuedAt: issued, TokenID: token})
			}
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// A batch says of each caller what a statement of their own says: of one user's tokens, some ended, too.
func TestCheckedTogetherIsAsCheckedAlone(t *testing.T) {
	t.Parallel()
	db, now := pgtest.DB(t), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := New(Deps{Pool: db, Clock: clock.NewFake(now)})
	var together, alone []*viewer
	for _, claims := range claimsOfAll(t, db, now) {
		together, alone = append(together, &viewer{claims: claims}), append(alone, &viewer{claims: claims})
	}
	require.NoError(t, s.readViewers(t.Context(), together))
	found := map[string]int{}
	for i, one := range alone {
		require.NoError(t, s.readViewers(t.Context(), []*viewer{one}))
		require.Equal(t, one.row, together[i].row, "%+v", one.claims)
		found[fmt.Sprint(one.row.UserType, " ", one.row.HasAccess)]++
	}
	// Of four tokens a user, the one is ended that is old and older. Access is the user's, whatever their token.
	require.Equal(t, map[string]int{
		"admin false": 3, "customer true": 3, "customer false": 6, " true": 5, " false": 7,
	}, found)
}

// Whoever comes at once with whom, and whoever of them goes away: each gets their own.
func TestEachCallerGetsTheirOwn(t *testing.T) {
	t.Parallel()
	db, now := pgtest.DB(t), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := New(Deps{Pool: db, Clock: clock.NewFake(now)})
	claims := claimsOfAll(t, db, now)
	want := make([]error, len(claims))
	for i, c := range claims {
		_, want[i] = s.viewers.check(t.Context(), c)
	}
	require.Contains(t, want, nil)
	require.Contains(t, want, error(errNoSubscription()))
	require.Contains(t, want, httpapi.ErrBadToken())
	var largest atomic.Int64
	read := s.viewers.read
	s.viewers.read = func(ctx context.Context, batch []*viewer) error {
		largest.Store(max(largest.Load(), int64(len(batch))))
		return read(ctx, batch)
	}
	for range 5 {
		var all sync.WaitGroup
		leaving, leave := context.WithCancel(t.Context())
		for n := range 10 * len(claims) {
			i := n % len(claims)
			all.Go(func() {
				if _, err := s.viewers.check(t.Context(), claims[i]); fmt.Sprint(err) != fmt.Sprint(want[i]) {
					t.Errorf("%+v: %v, not %v", claims[i], err, want[i])
				}
			})
			all.Go(func() {
				_, err := s.viewers.check(leaving, claims[i])
				if !errors.Is(err, context.Canceled) && fmt.Sprint(err) != fmt.Sprint(want[i]) {
					t.Errorf("%+v, leaving: %v, not %v", claims[i], err, want[i])
				}
			})
			if n == 5*len(claims) {
				leave()
			}
		}
		all.Wait()
		leave()
	}
	require.Greater(t, largest.Load(), int64(1), "some are checked together")
	require.LessOrEqual(t, largest.Load(), int64(maxViewers))
}
