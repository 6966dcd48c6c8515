package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/probe"
	"marquee/testutil/secrettest"
)

// stands is a process whose database and details a test decides.
type stands struct {
	database, detail atomic.Pointer[error]
	calls            atomic.Int32
}

func (s *stands) probe(t *testing.T) *probe.Probe {
	t.Helper()
	said := func(p *atomic.Pointer[error]) error {
		if err := p.Load(); err != nil {
			return *err
		}
		return nil
	}
	return probe.New(probe.Config{
		Version: "v1", Log: secrettest.Logger(t),
		Database: func(ctx context.Context) error {
			s.calls.Add(1)
			return errors.Join(said(&s.database), ctx.Err())
		},
		Details: map[string]func(context.Context) (any, error){
			"jobs": func(context.Context) (any, error) { return map[string]int{"age": 3}, said(&s.detail) },
		},
	})
}

// get is the status of an answer, and what it says.
func get(t *testing.T, h http.Handler, path string) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	var m map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &m), "%s", w.Body)
	return w.Code, m
}

func TestTheDatabaseAloneDecidesWhetherAProcessIsReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, gone := &stands{}, errors.New("it is away")
		h := s.probe(t).Handler()
		check := func(status int, want, database string, jobs any) {
			t.Helper()
			time.Sleep(time.Second) // an answer stands for as long; the test's clock, not the machine's
			got, m := get(t, h, "/readyz")
			require.Equal(t, status, got)
			require.Equal(t, want, m["status"])
			checks := m["checks"].(map[string]any)
			require.Equal(t, map[string]any{"status": database}, checks["database"])
			require.Equal(t, jobs, checks["jobs"])
			got, m = get(t, h, "/livez")
			require.Equal(t, http.StatusOK, got)
			require.Equal(t, map[string]any{"status": "ok", "version": "v1"}, m)
		}
		check(200, "ready", "ok", map[string]any{"age": 3.0})
		s.detail.Store(&gone)
		check(200, "ready", "ok", map[string]any{"status": "failing"})
		s.database.Store(&gone)
		check(503, "failing", "failing", nil)
		s.database.Store(nil)
		s.detail.Store(nil)
		check(200, "ready", "ok", map[string]any{"age": 3.0})
	})
}

func TestWhoeverAsksOftenGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stands{}
		h := s.probe(t).Handler()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				cancel() // who goes away spoils it for nobody
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", http.NoBody))
				require.Equal(t, 200, w.Code)
			})
		}
		all.Wait()
		require.EqualValues(t, 1, s.calls.Load())
		time.Sleep(time.Second)
		get(t, h, "/readyz")
		require.EqualValues(t, 2, s.calls.Load())
	})
}

func TestAProcessThatDrainsSaysSoAtOnceAndGoesOnAnswering(t *testing.T) {
	t.Parallel()
	s := &stands{}
	p := s.probe(t)
	h := p.Beside(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	answer := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return w
	}
	require.Equal(t, 200, answer("/readyz").Code)
	require.Empty(t, answer("/any").Header().Get("Connection"))
	p.Drain()
	require.Equal(t, 503, answer("/readyz").Code)
	require.Equal(t, 200, answer("/livez").Code)
	require.Equal(t, http.StatusTeapot, answer("/any").Code)
	for _, path := range []string{"/any", "/readyz", "/livez"} {
		require.Equal(t, "close", answer(path).Header().Get("Connection"), path)
	}
	require.JSONEq(t, `{"status":"draining","version":"v1"}`, answer("/readyz").Body.String())
}
