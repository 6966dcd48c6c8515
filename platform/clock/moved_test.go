package clock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
)

// TestAStandingClockMovesWhenItIsMoved: between its moves it goes by what is read of it alone.
func TestAStandingClockMovesWhenItIsMoved(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 3, 3, 15, 0, 0, 0, time.UTC)
	c := clock.NewStanding(at)
	require.True(t, c.Stands())
	first, second := c.Now(), c.Now()
	require.True(t, second.After(first), "what is written later is later")
	require.Equal(t, at, c.At())
	c.Move(time.Hour)
	require.Equal(t, at.Add(time.Hour), c.At(), "reads do not count")
	for range 100 {
		second = c.Now()
	}
	c.Move(time.Millisecond)
	require.False(t, c.At().Before(second), "it never goes back")
	require.InDelta(t, time.Until(c.At()).Seconds(), c.Ahead().Seconds(), 5)
	require.False(t, (&clock.Moved{}).Stands())
}
