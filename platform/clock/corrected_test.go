package clock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
)

func TestAWrongClockIsPutRight(t *testing.T) {
	t.Parallel()
	right := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	read := func() (time.Time, error) { return right.Now(), nil }
	for _, wrong := range []time.Duration{10 * time.Minute, -10 * time.Minute, time.Second} {
		machine := clock.NewFake(right.Now().Add(wrong))
		c := &clock.Corrected{Machine: machine.Now}
		require.Equal(t, machine.Now(), c.Now(), "before it is read")
		ahead, err := c.Correct(read)
		require.NoError(t, err)
		require.Equal(t, wrong, ahead)
		require.Equal(t, wrong, c.Ahead())
		require.Equal(t, right.Now(), c.Now())
		machine.Advance(time.Minute)
		right.Advance(time.Minute)
		require.Equal(t, right.Now(), c.Now())

		ahead, err = c.Correct(func() (time.Time, error) { return time.Time{}, errors.New("away") })
		require.Error(t, err)
		require.Equal(t, wrong, ahead)
		require.Equal(t, right.Now(), c.Now(), "as before")

		machine.Advance(-wrong) // set right by its owner
		_, err = c.Correct(read)
		require.NoError(t, err)
		require.Equal(t, machine.Now(), c.Now())
	}
}

// TestWhatTheReadingTakesIsNoCorrection: the answer is of some instant between question and reply.
func TestWhatTheReadingTakesIsNoCorrection(t *testing.T) {
	t.Parallel()
	machine := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	c := &clock.Corrected{Machine: machine.Now}
	for took, ahead := range map[time.Duration]time.Duration{
		0: 999 * time.Millisecond, 8 * time.Second: 4 * time.Second, time.Minute: 30 * time.Second,
	} {
		measured, err := c.Correct(func() (time.Time, error) {
			machine.Advance(took)
			return machine.Now().Add(-took/2 - ahead), nil
		})
		require.NoError(t, err)
		require.Equal(t, ahead, measured)
		require.Equal(t, machine.Now(), c.Now())
	}
}
