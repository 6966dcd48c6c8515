package tracing_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"marquee/platform/tracing"
)

// toward is a tracer whose collector is a handler, its log, and its figures by result.
func toward(t *testing.T, h http.HandlerFunc) (tracer *tracing.Tracer, log *bytes.Buffer, spans func(result string) int) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // before it waits for them
	log = &bytes.Buffer{}
	reg := prometheus.NewPedanticRegistry()
	tracer = tracing.New(tracing.Config{
		URL: server.URL, Headers: map[string]string{"X-Key": "key-of-the-collector"}, Ratio: 1, Service: "test",
		Log: slog.New(slog.NewJSONHandler(log, nil)), Metrics: reg,
	})
	tracer.Pauses(time.Millisecond)
	t.Cleanup(func() { tracer.Close(ended()) })
	return tracer, log, func(result string) int {
		families, err := reg.Gather()
		require.NoError(t, err)
		for _, m := range families[0].GetMetric() {
			if m.GetLabel()[0].GetValue() == result {
				return int(m.GetCounter().GetValue())
			}
		}
		return -1
	}
}

// ended is a context without time.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// record records so many spans.
func record(tracer *tracing.Tracer, n int) {
	for range n {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody)
		_, span := tracer.StartRequest(r, false)
		span.End("GET", "/", http.StatusOK)
	}
}

// TestADeliveryIsTriedAgainWhereThatMayHelp: and the key goes to nobody else, nor into the log.
func TestADeliveryIsTriedAgainWhereThatMayHelp(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed, with the key %q", r.Header.Get("X-Key"))
	}))
	t.Cleanup(elsewhere.Close)
	for name, c := range map[string]struct {
		statuses               []int
		tries, delivered, lost int
	}{
		"at once":             {[]int{200}, 1, 3, 0},
		"after two":           {[]int{503, 429, 200}, 3, 3, 0},
		"never":               {[]int{502, 504, 503, 200}, 3, 0, 3},
		"refused":             {[]int{400, 200}, 1, 0, 3},
		"without the key":     {[]int{401, 200}, 1, 0, 3},
		"sent somewhere else": {[]int{307, 200}, 1, 0, 3},
		"broken off":          {[]int{0, 200}, 2, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			tracer, log, spans := toward(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "key-of-the-collector", r.Header.Get("X-Key"))
				status := c.statuses[min(int(tries.Add(1)), len(c.statuses))-1]
				if status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Location", elsewhere.URL)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "key-of-the-collector")
			})
			record(tracer, 3)
			require.NoError(t, tracer.Flush(t.Context()))
			require.Equal(t, c.tries, int(tries.Load()))
			require.Equal(t, []int{3, c.delivered, c.lost}, []int{spans("recorded"), spans("delivered"), spans("lost")})
			require.Equal(t, c.lost > 0, bytes.Contains(log.Bytes(), []byte(`"spans not delivered","lost":3`)), "%s", log)
			require.NotContains(t, log.String(), "key-of-the-collector")
		})
	}
}

// TestNobodyWaitsForACollectorThatHangs: what is beyond the queue is lost at once, and a process that ends waits for as
// long as it has.
func TestNobodyWaitsForACollectorThatHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	tracer, _, spans := toward(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	const many = 50_000
	begun := time.Now()
	record(tracer, many)
	require.Less(t, time.Since(begun), 8*time.Second, "some microseconds each")
	require.Equal(t, many, spans("recorded"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun = time.Now()
	tracer.Close(ctx)
	require.Less(t, time.Since(begun), 5*time.Second)
	record(tracer, 1) // and nothing breaks
	require.Equal(t, many, spans("recorded"))
	require.Eventually(t, func() bool { return spans("lost") > 0 }, time.Minute, time.Millisecond, "it was broken off")
	require.Eventually(t, func() bool {
		n := spans("lost")
		return n <= tracing.Queued+2*tracing.Batched && spans("delivered") == 0
	}, time.Minute, time.Millisecond)
}

// TestTheLastSpansAreDelivered: those of before Close.
func TestTheLastSpansAreDelivered(t *testing.T) {
	t.Parallel()
	tracer, _, spans := toward(t, func(http.ResponseWriter, *http.Request) {})
	record(tracer, 1200)
	tracer.Close(t.Context())
	require.Equal(t, 1200, spans("delivered"))
	tracer.Close(t.Context()) // twice is once
}

// TestAProcessThatEndsTriesOnce: a collector that is away does not hold it up.
func TestAProcessThatEndsTriesOnce(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	tracer, _, spans := toward(t, func(w http.ResponseWriter, _ *http.Request) {
		tries.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	tracer.Pauses(time.Hour)
	record(tracer, 3)
	tracer.Close(t.Context())
	require.EqualValues(t, 1, tries.Load())
	require.Equal(t, 3, spans("lost"))
}

// BenchmarkStatement is a statement within a recorded request, with what it costs to deliver its span.
func BenchmarkStatement(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	tracer := tracing.New(tracing.Config{URL: server.URL, Ratio: 1, Service: "test", Log: slog.New(slog.DiscardHandler)})
	defer tracer.Close(context.Background())
	r, span := tracer.StartRequest(httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", http.NoBody), false)
	defer span.End("GET", "/", http.StatusOK)
	sql, start := tracer.Database(), pgx.TraceQueryStartData{SQL: "-- name: PlanList :many\nSELECT 1"}
	b.ReportAllocs()
	for b.Loop() {
		sql.TraceQueryEnd(sql.TraceQueryStart(r.Context(), nil, start), nil, pgx.TraceQueryEndData{})
	}
}
