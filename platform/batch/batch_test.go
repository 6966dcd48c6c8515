package batch_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/batch"
)

const most = 8

// batches are served until a test says how they end.
type batches struct {
	batcher *batch.Batcher[*one]
	release chan error // what the batch under way ends with

	mu  sync.Mutex
	all [][]string

	begins func() // called as a batch begins
}

// one that is served.
type one struct {
	name  string
	batch int // by which it was served, from 1
}

// newBatches ends a batch with what end makes of what it was released with.
func newBatches(slow time.Duration, end func(error) error) *batches {
	s := &batches{release: make(chan error), begins: func() {}}
	s.batcher = batch.New(most, slow, func(_ context.Context, all []*one) error {
		s.begins()
		s.mu.Lock()
		var names []string
		for _, o := range all {
			names = append(names, o.name)
			o.batch = len(s.all) + 1
		}
		s.all = append(s.all, names)
		s.mu.Unlock()
		return end(<-s.release)
	})
	return s
}

func asReleased(err error) error { return err }

// seen are the batches once there are as many.
func (s *batches) seen(t *testing.T, n int) (all [][]string) {
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
	batch int
	err   error
}

// join begins a Join, and returns when it waits, or its batch is under way: that of the first one always is, soon.
func (s *batches) join(ctx context.Context, t *testing.T, name string) chan result {
	t.Helper()
	done := make(chan result, 1)
	before, begun := s.batcher.Waiting(), len(s.seen(t, 0))
	go func() {
		o := &one{name: name}
		if err := s.batcher.Join(ctx, o); err != nil {
			done <- result{0, err}
			return
		}
		done <- result{o.batch, nil}
	}()
	require.Eventually(t, func() bool {
		return len(s.seen(t, 0)) > begun || begun > 0 && s.batcher.Waiting() > before
	}, 5*time.Second, 50*time.Microsecond)
	return done
}

func TestTheyGatherWhileABatchIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newBatches(time.Hour, asReleased)
	first := s.join(t.Context(), t, "first")
	require.Equal(t, [][]string{{"first"}}, s.seen(t, 1), "a lone one waits for nobody")
	var names []string
	var results []chan result
	for i := range most + 6 {
		names = append(names, strconv.Itoa(i))
		results = append(results, s.join(t.Context(), t, names[i]))
	}
	require.Len(t, s.seen(t, 1), 1)
	s.release <- nil
	require.Equal(t, result{1, nil}, <-first)
	s.release <- nil
	s.release <- nil
	require.Equal(t, [][]string{{"first"}, names[:most], names[most:]}, s.seen(t, 3))
	for i, one := range results {
		require.Equal(t, result{2 + i/most, nil}, <-one, "served by a batch that began after they came")
	}
	last := s.join(t.Context(), t, "last")
	s.release <- nil
	require.Equal(t, result{4, nil}, <-last)
}

// An error of a batch, and a panic, are of all who are in it, and of nobody else.
func TestAnErrorReachesAllOfItsBatch(t *testing.T) {
	t.Parallel()
	bad, panics := errors.New("cannot be done"), errors.New("to panic")
	s := newBatches(time.Hour, func(err error) error {
		if errors.Is(err, panics) {
			panic("cannot go on")
		}
		return err
	})
	first := s.join(t.Context(), t, "first")
	second := []chan result{s.join(t.Context(), t, "1"), s.join(t.Context(), t, "2")}
	s.release <- nil
	require.Len(t, s.seen(t, 2), 2)
	third := []chan result{s.join(t.Context(), t, "3"), s.join(t.Context(), t, "4")}
	s.release <- bad
	require.Len(t, s.seen(t, 3), 3)
	last := s.join(t.Context(), t, "last")
	s.release <- panics
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
	s := newBatches(time.Hour, asReleased)
	first := s.join(t.Context(), t, "first")
	gone, goAway := context.WithCancel(t.Context())
	leaves, stays := s.join(gone, t, "leaves"), s.join(t.Context(), t, "stays")
	s.release <- nil
	require.Equal(t, result{1, nil}, <-first)
	require.Equal(t, []string{"leaves", "stays"}, s.seen(t, 2)[1])
	waiting := s.join(gone, t, "waiting")
	last := s.join(t.Context(), t, "last")
	goAway()
	require.ErrorIs(t, (<-leaves).err, context.Canceled, "while their batch is under way")
	require.ErrorIs(t, (<-waiting).err, context.Canceled)
	s.release <- nil
	require.Equal(t, result{2, nil}, <-stays)
	s.release <- nil
	require.Equal(t, result{3, nil}, <-last)
	require.Equal(t, [][]string{{"first"}, {"leaves", "stays"}, {"last"}}, s.seen(t, 3), "who has gone is not served")
}

func TestASlowBatchKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := newBatches(20*time.Millisecond, asReleased)
	stuck, behind := s.join(t.Context(), t, "stuck"), s.join(t.Context(), t, "behind")
	require.Equal(t, [][]string{{"stuck"}, {"behind"}}, s.seen(t, 2))
	s.release <- nil
	s.release <- nil
	require.Equal(t, result{1, nil}, <-stuck)
	require.Equal(t, result{2, nil}, <-behind)
	require.Eventually(t, func() bool { return !s.batcher.Serving() }, 5*time.Second, time.Millisecond,
		"nobody is left to take what waits")
}

// Where all batches are slow, no more of them are under way at once: they gather instead.
func TestSlowBatchesDoNotMultiply(t *testing.T) {
	t.Parallel()
	var underWay, peak atomic.Int64
	s := newBatches(time.Millisecond, func(err error) error {
		underWay.Add(-1)
		return err
	})
	s.begins = func() {
		if n := underWay.Add(1); n > peak.Load() {
			peak.Store(n)
		}
	}
	results := []chan result{s.join(t.Context(), t, "first")}
	results = append(results, s.join(t.Context(), t, "second"))
	s.seen(t, 2)
	for i := range most {
		results = append(results, s.join(t.Context(), t, strconv.Itoa(i)))
	}
	close(s.release)
	for _, one := range results {
		require.NoError(t, (<-one).err)
	}
	require.Equal(t, int64(2), peak.Load())
	require.Len(t, s.seen(t, 3)[2], most)
	require.Eventually(t, func() bool { return !s.batcher.Serving() }, 5*time.Second, time.Millisecond)
}
