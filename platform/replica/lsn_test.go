package replica

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLagIsTheTimeSinceThePrimaryWasThere(t *testing.T) {
	t.Parallel()
	var h history
	start := time.Date(2031, 3, 3, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	_, known := h.lag(100, start)
	require.False(t, known, "nobody has looked at the primary")
	for i, place := range []LSN{100, 100, 200, 300, 300} {
		h.add(moment{at(i), place}, time.Hour)
	}
	for place, want := range map[LSN]time.Duration{
		400: 0, 300: 0, // it has all that anybody has seen
		299: 3 * time.Second, 200: 3 * time.Second, // the primary was at 200 two seconds after the beginning
		199: 4 * time.Second, 100: 4 * time.Second,
	} {
		lag, known := h.lag(place, at(5))
		require.True(t, known)
		require.Equal(t, want, lag, "%d", place)
	}
	lag, known := h.lag(99, at(5))
	require.False(t, known, "it was behind before anybody looked")
	require.Equal(t, 5*time.Second, lag, "and is at least so much")

	h.add(moment{at(10), 300}, 7*time.Second)
	require.Len(t, h.seen, 4, "one moment older than the span is kept")
	lag, _ = h.lag(300, at(12))
	require.Zero(t, lag, "a primary that writes nothing makes nobody lag")
	lag, _ = h.lag(300, at(60))
	require.Equal(t, 50*time.Second, lag, "nobody has looked for long")

	h.add(moment{at(61), 250}, time.Hour)
	_, known = h.lag(249, at(61))
	require.False(t, known, "another primary begins anew")
}

func TestOnlyAReplicaThatHasThePlaceServesIt(t *testing.T) {
	t.Parallel()
	require.Equal(t, LSN(7), afterOf(After(context.Background(), 7)))
	require.Zero(t, afterOf(After(context.Background(), 0)))
	require.True(t, standing{state: OK, replayed: 7}.serves(7))
	require.False(t, standing{state: OK, replayed: 6}.serves(7))
	require.False(t, standing{state: Lagging, replayed: 8}.serves(7))
	require.False(t, standing{state: Away}.serves(0))
}
