package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

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

// A batch says of each caller what a statement of their own says: of one user's tokens, some ended, too.
func TestCheckedTogetherIsAsCheckedAlone(t *testing.T) {
	t.Parallel()
	db, now := pgtest.DB(t), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := New(Deps{Pool: db, Clock: clock.NewFake(now)})
	var users []objectid.ID
	for _, state := range []string{"admin", "subscriber", "expired", "stranger", "disabled"} {
		id, userType := objectid.New(), httpapi.TypeCustomer
		if state == "admin" {
			userType = httpapi.TypeAdmin
		}
		_, err := db.Exec(t.Context(), `INSERT INTO accounts.users (id, user_type, username, email, created_at, updated_at,
				enable, tokens_valid_after, kept_token_id, kept_token_since)
			VALUES ($1, $2, $3, $3 || '@example.com', $4, $4, $3 <> 'disabled', $4, 'fresh', $4)`, id, userType, state, now)
		require.NoError(t, err)
		if state != "admin" && state != "stranger" {
			subscriptionstest.Active(t, db, id)
		}
		if state == "expired" {
			_, err = db.Exec(t.Context(), "UPDATE subscriptions.subscriptions SET expires_at = $2 WHERE customer_id = $1", id,
				now)
			require.NoError(t, err)
		}
		users = append(users, id)
	}
	var together, alone []*viewer
	for _, id := range append(users, objectid.New()) {
		for _, issued := range []time.Time{now.Add(-time.Second), now} {
			for _, token := range []string{"fresh", "old"} {
				claims := httpapi.Claims{UserID: id, IssuedAt: issued, TokenID: token}
				together, alone = append(together, &viewer{claims: claims}), append(alone, &viewer{claims: claims})
			}
		}
	}
	rand.Shuffle(len(together), func(i, j int) {
		together[i], together[j] = together[j], together[i]
		alone[i], alone[j] = alone[j], alone[i]
	})
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
