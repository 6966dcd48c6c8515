package telemetry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/platform/telemetry"
	"marquee/testutil/secrettest"
)

// TestFiguresAreReadOnceInAWhile: however many scrape, and also when nothing can be read.
func TestFiguresAreReadOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads, gone := 0, error(nil)
		desc := prometheus.NewDesc("marquee_probe", "A figure.", []string{"kind"}, nil)
		reg := prometheus.NewPedanticRegistry()
		reg.MustRegister(telemetry.NewFigures(secrettest.Logger(t),
			func(ctx context.Context, gauge telemetry.Gauge) error {
				_, bounded := ctx.Deadline()
				require.True(t, bounded)
				reads++
				if gone == nil {
					gauge(desc, float64(reads), "a")
				}
				return gone
			}, desc))
		scrape := func() float64 {
			families, err := reg.Gather()
			require.NoError(t, err)
			if len(families) == 0 {
				return 0
			}
			return families[0].GetMetric()[0].GetGauge().GetValue()
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { require.InDelta(t, 1, scrape(), 0) })
		}
		all.Wait()
		require.Equal(t, 1, reads)
		time.Sleep(6 * time.Second)
		require.InDelta(t, 2, scrape(), 0)
		gone = errors.New("the database is away")
		time.Sleep(6 * time.Second)
		require.InDelta(t, 0, scrape(), 0)
		require.InDelta(t, 0, scrape(), 0)
		require.Equal(t, 3, reads)
	})
}
