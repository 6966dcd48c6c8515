package telemetry_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/telemetry"
)

// blockable is a log that can be held back, as by a disk that hangs.
type blockable struct {
	gate sync.RWMutex
	mu   sync.Mutex
	text strings.Builder
	n    int // writes
}

func (h *blockable) Write(p []byte) (int, error) {
	h.gate.RLock()
	defer h.gate.RUnlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
	return h.text.Write(p)
}

func (h *blockable) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

func (h *blockable) writes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

func TestNoLineIsLostAndAllKeepTheirOrder(t *testing.T) {
	t.Parallel()
	var out blockable
	w := telemetry.NewLineWriter(&out)
	const writers, each = 8, 5_000
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for i := range each {
				fmt.Fprintf(w, "%d %d %s\n", writer, i, strings.Repeat("x", i%200))
			}
		})
	}
	all.Wait()
	require.NoError(t, w.Close())
	require.NoError(t, w.Close(), "twice is once")
	next := [writers]int{}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, lines, writers*each)
	for _, line := range lines {
		var writer, i int
		_, err := fmt.Sscanf(line, "%d %d", &writer, &i)
		require.NoError(t, err, line)
		require.Equal(t, next[writer], i)
		require.True(t, strings.HasSuffix(line, " "+strings.Repeat("x", i%200)))
		next[writer]++
	}
	require.Less(t, out.writes(), writers*each/10, "many lines go together")
	fmt.Fprint(w, "after the end\n")
	require.True(t, strings.HasSuffix(out.String(), "after the end\n"))
}

func TestWhoLogsDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	var out blockable
	w := telemetry.NewLineWriter(&out)
	log, err := telemetry.NewLog(w, "info")
	require.NoError(t, err)
	out.gate.Lock()
	for range 1_000 {
		log.Info("request")
	}
	require.Empty(t, out.String())
	// Beyond its room, who logs waits: nothing is left out.
	done := make(chan struct{})
	line := []byte(strings.Repeat("x", 1023) + "\n")
	go func() {
		defer close(done)
		for range 3_000 {
			_, _ = w.Write(line)
		}
	}()
	select {
	case <-done:
		t.Fatal("the memory for lines has no bound")
	case <-time.After(200 * time.Millisecond):
	}
	out.gate.Unlock()
	<-done
	require.NoError(t, w.Close())
	require.Equal(t, 1_000, strings.Count(out.String(), `"msg":"request"`))
	require.Equal(t, 3_000, strings.Count(out.String(), string(line)))
}

func TestWarningsAreWrittenAtOnceBehindWhatCameBefore(t *testing.T) {
	t.Parallel()
	var out blockable
	w := telemetry.NewLineWriter(&out)
	defer w.Close()
	log, err := telemetry.NewLog(w, "info")
	require.NoError(t, err)
	for _, level := range []slog.Level{slog.LevelWarn, slog.LevelError} {
		log.Info("before " + level.String())
		log.With("a", 1).WithGroup("g").Log(context.Background(), level, "now "+level.String())
		require.Contains(t, out.String(), "now "+level.String())
		before, now := strings.Index(out.String(), "before "+level.String()), strings.Index(out.String(), "now "+level.String())
		require.Less(t, before, now)
	}
	log.Info("a lone line")
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "a lone line") }, 5*time.Second,
		10*time.Millisecond)
}

// A panic that nobody recovers ends the process after what is deferred.
func TestAPanicLosesNoLine(t *testing.T) {
	t.Parallel()
	var out blockable
	require.PanicsWithValue(t, "oh", func() {
		w := telemetry.NewLineWriter(&out)
		defer w.Close()
		fmt.Fprint(w, "the last line\n")
		panic("oh")
	})
	require.Equal(t, "the last line\n", out.String())
}

// BenchmarkRequestLine writes what a request logs, to a file as it is and through a LineWriter.
func BenchmarkRequestLine(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "log"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = file.Close() })
	lines := telemetry.NewLineWriter(file)
	b.Cleanup(func() { _ = lines.Close() })
	for name, to := range map[string]io.Writer{"straight": file, "gathered": lines} {
		b.Run(name, func(b *testing.B) {
			log, err := telemetry.NewLog(to, "info")
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				log.LogAttrs(b.Context(), slog.LevelInfo, "request", slog.String("request_id", "6741f0a1b2c3d4e5f6071829"),
					slog.String("method", "GET"), slog.String("route", "/api/v1/videos"), slog.Int("status", 200),
					slog.Int("bytes", 4321), slog.Duration("took", time.Millisecond), slog.String("addr", "10.0.0.1"))
			}
		})
	}
}
