package stage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

func TestAdvanceRunsJobsInOrderOfTheirDates(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *stage.Options) { o.Frozen = time.Now() })
	clock, now := b.s.Clock, b.s.Clock.Now()
	clock.At(now.Add(3*time.Hour), "effect", "third")
	clock.At(now.Add(time.Hour), "effect", "first")
	clock.At(now.Add(2*time.Hour), "effect", "second")
	clock.At(now.Add(2*time.Hour), "effect", "second too")
	clock.At(now.Add(5*time.Hour), "effect", "beyond")
	clock.At(now.Add(time.Hour), "effect", "cancelled")
	clock.Cancel("effect", "cancelled")
	after, err := clock.Advance(4 * time.Hour)
	require.NoError(t, err)
	require.WithinDuration(t, now.Add(4*time.Hour), after, 0)
	require.Equal(t, []string{"first", "second", "second too", "third"}, b.had())
}

func TestJobSeesItsOwnDateAndMayScheduleFurther(t *testing.T) {
	t.Parallel()
	s, err := stage.New(stage.Options{Name: "test", Frozen: time.Now()})
	require.NoError(t, err)
	var seen []time.Time
	s.Clock.Handle("daily", func(string) {
		seen = append(seen, s.Clock.Now())
		s.Clock.At(s.Clock.Now().Add(24*time.Hour), "daily", "")
	})
	require.NoError(t, s.Start())
	start := s.Clock.Now()
	s.Clock.At(start.Add(24*time.Hour), "daily", "")
	_, err = s.Clock.Advance(73 * time.Hour)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Len(t, seen, 3)
	for i, at := range seen {
		require.WithinDuration(t, start.Add(time.Duration(i+1)*24*time.Hour), at, 0)
	}
}

func TestRealTimeRunsJobsToo(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.s.Clock.At(b.s.Clock.Now().Add(time.Hour), "effect", "late")
	b.s.Clock.At(b.s.Clock.Now().Add(20*time.Millisecond), "effect", "soon")
	require.Eventually(t, func() bool { return len(b.had()) == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{"soon"}, b.had())
}

func TestClockOnlyGoesForward(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, err := b.s.Clock.Advance(-time.Second)
	require.ErrorIs(t, err, stage.ErrBackwards)
	_, err = b.s.Clock.AdvanceTo(time.Now().Add(-time.Hour))
	require.ErrorIs(t, err, stage.ErrBackwards)
	status, _, err := b.send("POST", "/_sandbox/clock/advance", `{"by":"-1h"}`)
	require.NoError(t, err)
	require.Equal(t, 400, status)
	res := b.control("POST", "/_sandbox/clock/advance", `{"by":"2d"}`)
	require.WithinDuration(t, time.Now().Add(48*time.Hour), decode[map[string]time.Time](t, res)["now"], time.Minute)
	require.WithinDuration(t, time.Now().Add(48*time.Hour),
		decode[map[string]time.Time](t, b.control("GET", "/_sandbox/clock", ""))["now"], time.Minute)
}
