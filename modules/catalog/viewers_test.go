package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
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

// statements are a read of viewers whose end is up to a test. A viewer's token id names them.
type statements struct {
	viewers viewers
	release chan error // what the statement under way ends with

	mu  sync.Mutex
	all [][]string
}

func newStatements(slow time.Duration) *statements {
	s := &statements{release: make(chan error)}
	s.viewers.slow = slow
	s.viewers.read = func(ctx context.Context, batch []*viewer) error {
		s.mu.Lock()
		var names []string
		for _, one := range batch {
			names = append(names, one.claims.TokenID)
			one.row.UserType, one.row.Number = httpapi.TypeAdmin, int64(len(s.all)+1)
		}
		s.all = append(s.all, names)
		s.mu.Unlock()
		err := <-s.release
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return err
	}
	return s
}

// seen are the statements once there are as many.
func (s *statements) seen(t *testing.T, n int) (all [][]string) {
	t.Helper()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		all = append(all[:0], s.all...)
		return len(all) >= n
	}, 5*time.Second, time.Millisecond)
	return all
}

type result struct {
	statement int64 // that it was read by
	err       error
}

// check begins a check, and returns when it waits, or its statement is under way.
func (s *statements) check(ctx context.Context, t *testing.T, name string) chan result {
	t.Helper()
	one := make(chan result, 1)
	count := func() (n int) {
		s.viewers.mu.Lock()
		defer s.viewers.mu.Unlock()
		return len(s.viewers.waiting)
	}
	before, begun := count(), len(s.seen(t, 0))
	go func() {
		number, err := s.viewers.check(ctx, httpapi.Claims{TokenID: name})
		one <- result{number, err}
	}()
	require.Eventually(t, func() bool { return count() > before || len(s.seen(t, 0)) > begun }, 5*time.Second,
		50*time.Microsecond)
	return one
}

func TestViewersGatherWhileAStatementIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newStatements(time.Hour)
	first := s.check(t.Context(), t, "first")
	require.Equal(t, [][]string{{"first"}}, s.seen(t, 1), "a lone one waits for nobody")
	var names []string
	var results []chan result
	for i := range maxViewers + 6 {
		names = append(names, strconv.Itoa(i))
		results = append(results, s.check(t.Context(), t, names[i]))
	}
	require.Len(t, s.seen(t, 1), 1)
	s.release <- nil
	require.Equal(t, result{1, nil}, <-first)
	s.release <- nil
	s.release <- nil
	require.Equal(t, [][]string{{"first"}, names[:maxViewers], names[maxViewers:]}, s.seen(t, 3))
	for i, one := range results {
		require.Equal(t, result{2 + int64(i/maxViewers), nil}, <-one,
			"read by a statement that began after they came")
	}
	last := s.check(t.Context(), t, "last")
	s.release <- nil
	require.Equal(t, result{4, nil}, <-last)
}

// An error of a statement, and a panic, are of all whom it checks, and of nobody else.
func TestAnErrorReachesAllOfItsStatement(t *testing.T) {
	t.Parallel()
	bad := errors.New("cannot be read")
	s := newStatements(time.Hour)
	read := s.viewers.read
	s.viewers.read = func(ctx context.Context, batch []*viewer) error {
		if err := read(ctx, batch); err == nil || errors.Is(err, bad) {
			return err
		}
		panic("cannot go on")
	}
	first := s.check(t.Context(), t, "first")
	second := []chan result{s.check(t.Context(), t, "1"), s.check(t.Context(), t, "2")}
	s.release <- nil
	require.Len(t, s.seen(t, 2), 2)
	third := []chan result{s.check(t.Context(), t, "3"), s.check(t.Context(), t, "4")}
	s.release <- bad
	require.Len(t, s.seen(t, 3), 3)
	last := s.check(t.Context(), t, "last")
	s.release <- errors.New("to panic")
	s.release <- nil
	require.Equal(t, result{1, nil}, <-first)
	for _, one := range second {
		require.ErrorIs(t, (<-one).err, bad)
	}
	for _, one := range third {
		require.ErrorContains(t, (<-one).err, "cannot go on")
	}
	require.Equal(t, result{4, nil}, <-last)
	require.Equal(t, [][]string{{"first"}, {"1", "2"}, {"3", "4"}, {"last"}}, s.seen(t, 4), "none is tried again")
}

func TestWhoGoesAwayHurtsNobody(t *testing.T) {
	t.Parallel()
	s := newStatements(time.Hour)
	first := s.check(t.Context(), t, "first")
	gone, goAway := context.WithCancel(t.Context())
	leaves, stays := s.check(gone, t, "leaves"), s.check(t.Context(), t, "stays")
	s.release <- nil
	require.Equal(t, result{1, nil}, <-first)
	require.Equal(t, []string{"leaves", "stays"}, s.seen(t, 2)[1])
	waiting := s.check(gone, t, "waiting")
	last := s.check(t.Context(), t, "last")
	goAway()
	require.ErrorIs(t, (<-leaves).err, context.Canceled, "while their statement is under way")
	require.ErrorIs(t, (<-waiting).err, context.Canceled)
	s.release <- nil
	require.Equal(t, result{2, nil}, <-stays, "the statement was not cancelled")
	s.release <- nil
	require.Equal(t, result{3, nil}, <-last)
	require.Equal(t, [][]string{{"first"}, {"leaves", "stays"}, {"last"}}, s.seen(t, 3), "who has gone is not read")
}

func TestASlowStatementKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := newStatements(20 * time.Millisecond)
	stuck, behind := s.check(t.Context(), t, "stuck"), s.check(t.Context(), t, "behind")
	require.Equal(t, [][]string{{"stuck"}, {"behind"}}, s.seen(t, 2))
	later := s.check(t.Context(), t, "later")
	require.Equal(t, []string{"later"}, s.seen(t, 3)[2])
	for range 3 {
		s.release <- nil
	}
	require.Equal(t, result{1, nil}, <-stuck)
	require.Equal(t, result{2, nil}, <-behind)
	require.Equal(t, result{3, nil}, <-later)
	require.Eventually(t, func() bool {
		s.viewers.mu.Lock()
		defer s.viewers.mu.Unlock()
		return !s.viewers.serving
	}, 5*time.Second, time.Millisecond, "nobody is left to take what waits")
}

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
