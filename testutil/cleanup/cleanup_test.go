package cleanup_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/cleanup"
)

func TestWhatAParallelTestUsedIsFreedBeforeTheLastHasEnded(t *testing.T) {
	t.Parallel()
	freed := make(chan struct{})
	t.Run("uses", func(t *testing.T) {
		t.Parallel()
		used := new([1 << 20]byte)
		runtime.AddCleanup(used, func(freed chan struct{}) { close(freed) }, freed)
		cleanup.Add(t, func() { used[0]++ })
	})
	t.Run("runs on", func(t *testing.T) {
		t.Parallel()
		require.Eventually(t, func() bool {
			runtime.GC()
			select {
			case <-freed:
				return true
			default:
				return false
			}
		}, time.Minute, time.Millisecond)
	})
}
