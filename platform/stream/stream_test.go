package stream_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/stream"
	"marquee/testutil/apitest"
)

// people is an Authenticator whose tokens are the names of its users.
type people struct {
	mu    sync.Mutex
	known map[string]httpapi.Caller
}

func (p *people) Verify(token string) (httpapi.Claims, error) {
	return httpapi.Claims{TokenID: token}, nil
}

func (p *people) Caller(_ context.Context, c httpapi.Claims) (httpapi.Caller, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	caller, ok := p.known[c.TokenID]
	if !ok {
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	caller.Claims = c
	return caller, nil
}

func (p *people) set(name string, c httpapi.Caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[name] = c
}

// scene is a feed behind HTTP, whose clock and whose ticks are the test's.
type scene struct {
	t       *testing.T
	clock   *clock.Fake
	ticks   chan time.Time
	people  *people
	streams *stream.Streams
	url     string
	metrics *prometheus.Registry

	mu     sync.Mutex
	states map[string]stream.State
	fault  error
	reads  int
}

func newScene(t *testing.T, set ...func(*httpapi.Config)) *scene {
	t.Helper()
	s := &scene{
		t: t, clock: clock.NewFake(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)), ticks: make(chan time.Time),
		people: &people{known: map[string]httpapi.Caller{}}, states: map[string]stream.State{},
		metrics: prometheus.NewRegistry(),
	}
	for _, name := range []string{"ana", "bia"} {
		s.people.set(name, httpapi.Caller{ID: objectid.New(), Type: httpapi.TypeAdmin, Handlers: []string{"thing_get"}})
	}
	s.streams = stream.New(stream.Config{
		Metrics: s.metrics, Now: s.clock.Now, Ticks: func() (<-chan time.Time, func()) { return s.ticks, func() {} },
	})
	cfg := httpapi.Config{
		Version: "test", PublicURL: "https://api.example.com", Auth: s.people, Log: slog.New(slog.DiscardHandler),
		Metrics: s.metrics,
	}
	for _, f := range set {
		f(&cfg)
	}
	api := httpapi.New(cfg)
	feed := s.streams.Feed("things", s.read)
	httpapi.Route(api, http.MethodGet, "/things/{id}/events", "thing_events", httpapi.Admin,
		func(ctx context.Context, in *thing) (*huma.StreamResponse, error) {
			return feed.Serve(ctx, api, stream.Target{Route: "thing_events", Key: in.ID, Event: "thing", Lists: true})
		}, append(stream.Doc[map[string]int](api, "ThingEvent", "thing"), httpapi.PermissionOf("thing_get"))...)
	s.url = apitest.Serve(t, api)
	t.Cleanup(s.streams.Close)
	return s
}

type thing struct {
	ID string `path:"id"`
}

func (s *scene) read(_ context.Context, keys []string) (map[string]stream.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	states := map[string]stream.State{}
	for _, key := range keys {
		if state, ok := s.states[key]; ok {
			states[key] = state
		}
	}
	return states, s.fault
}

// is makes a state the newest of a key.
func (s *scene) is(key, id string, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[key] = stream.State{ID: id, Data: map[string]int{id: 1}, Ended: ended}
}

// tick lets the feed read once, after so much time.
func (s *scene) tick(after time.Duration) {
	s.t.Helper()
	s.clock.Advance(after)
	select {
	case s.ticks <- s.clock.Now():
	case <-time.After(time.Minute):
		s.t.Fatal("nobody follows anything")
	}
}

func (s *scene) get(method, who, key string, headers ...string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+httpapi.Prefix+"/things/"+key+"/events", http.NoBody)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+who)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// client reads a stream.
type client struct {
	t    *testing.T
	body io.ReadCloser
	text *bufio.Reader
}

func (s *scene) open(who, key string, headers ...string) *client {
	s.t.Helper()
	res := s.get(http.MethodGet, who, key, headers...)
	require.Equal(s.t, http.StatusOK, res.StatusCode)
	c := &client{t: s.t, body: res.Body, text: bufio.NewReader(res.Body)}
	require.Equal(s.t, "retry: 1000", c.block())
	return c
}

// block is what stands before the next empty line; "" at the end.
func (c *client) block() string {
	c.t.Helper()
	var lines []string
	for {
		line, err := c.text.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return ""
		}
		require.NoError(c.t, err)
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			return strings.Join(lines, "|")
		}
		lines = append(lines, line)
	}
}

func event(id string) string { return "id: " + id + `|event: thing|data: {"` + id + `":1}` }

func TestAStreamTellsEachStateOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.is("a", "one", false)
	res := s.get(http.MethodGet, "ana", "a", "Accept", "application/json", "Accept-Encoding", "gzip")
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	require.Equal(t, "no-cache, no-store, no-transform", res.Header.Get("Cache-Control"))
	require.Equal(t, "no", res.Header.Get("X-Accel-Buffering"))
	require.Empty(t, res.Header.Get("Content-Encoding"))
	require.NoError(t, res.Body.Close())

	c := s.open("ana", "a")
	require.Equal(t, event("one"), c.block())
	s.tick(time.Second)
	s.is("a", "two", false)
	s.tick(time.Second)
	require.Equal(t, event("two"), c.block())
	s.is("a", "three", true)
	s.tick(time.Second)
	require.Equal(t, event("three"), c.block())
	require.Empty(t, c.block(), "what has ended changes no more")
	require.Equal(t, http.StatusNotFound, s.get(http.MethodGet, "ana", "b").StatusCode)
	require.Equal(t, http.StatusOK, s.get(http.MethodHead, "ana", "a").StatusCode)
}

func TestAStreamIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.is("a", "one", false)
	first := s.open("ana", "a")
	require.Equal(t, event("one"), first.block())
	require.NoError(t, first.body.Close())
	s.is("a", "two", false)
	s.is("a", "three", false) // while nobody looked
	again := s.open("ana", "a", "Last-Event-ID", "one")
	require.Equal(t, event("three"), again.block())
	current := s.open("ana", "a", "Last-Event-ID", "three")
	s.is("a", "four", false)
	s.tick(time.Second)
	require.Equal(t, event("four"), current.block(), "nothing was told twice")
	require.Equal(t, event("four"), again.block())
}

// TestAStreamEndsAfterAMinute: and says meanwhile that it lives.
func TestAStreamEndsAfterAMinute(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.is("a", "one", false)
	c := s.open("ana", "a")
	require.Equal(t, event("one"), c.block())
	for range 3 {
		s.tick(15 * time.Second)
		require.Equal(t, ": nothing new", c.block())
	}
	s.is("a", "two", false)
	s.tick(14 * time.Second)
	require.Equal(t, event("two"), c.block())
	s.is("a", "three", false)
	s.tick(time.Second)
	require.Equal(t, event("three"), c.block())
	require.Equal(t, ": take it up again", c.block())
	require.Empty(t, c.block())
}

func TestAUserHasThreeStreams(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.is("a", "one", false)
	var open []*client
	for range 3 {
		open = append(open, s.open("ana", "a"))
	}
	refused := s.get(http.MethodGet, "ana", "a")
	require.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	require.Equal(t, "5", refused.Header.Get("Retry-After"))
	require.Equal(t, "application/json", refused.Header.Get("Content-Type"))
	require.Equal(t, event("one"), s.open("bia", "a").block(), "others have their own")
	require.NoError(t, open[0].body.Close())
	require.Eventually(t, func() bool {
		res := s.get(http.MethodGet, "ana", "a")
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, time.Minute, 10*time.Millisecond)
}

func TestAStreamEndsWithTheRightsOfItsCaller(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*people){
		"signed out": func(p *people) { p.mu.Lock(); defer p.mu.Unlock(); delete(p.known, "ana") },
		"no right":   func(p *people) { p.set("ana", httpapi.Caller{ID: objectid.New(), Type: httpapi.TypeAdmin}) },
		"no admin":   func(p *people) { p.set("ana", httpapi.Caller{ID: objectid.New(), Type: httpapi.TypeCustomer}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.is("a", "one", false)
			c := s.open("ana", "a")
			require.Equal(t, event("one"), c.block())
			s.is("a", "two", false)
			s.tick(9 * time.Second)
			require.Equal(t, event("two"), c.block())
			change(s.people)
			s.is("a", "secret", false)
			s.tick(time.Second)
			require.Equal(t, ": the caller may not follow this any more, or it could not be known", c.block())
			require.Empty(t, c.block())
		})
	}
}

func TestDrainingEndsStreams(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.is("a", "one", false)
	c := s.open("ana", "a")
	require.Equal(t, event("one"), c.block())
	s.streams.Drain()
	require.Equal(t, ": this server ends, or the client has gone", c.block())
	require.Empty(t, c.block())
	refused := s.get(http.MethodGet, "ana", "a")
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	require.Equal(t, "1", refused.Header.Get("Retry-After"))
}

// TestOneReadForAll: whoever follows what, and none once nobody does.
func TestOneReadForAll(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.is("a", "one", false)
	s.is("b", "one", false)
	for _, who := range []string{"ana", "bia"} {
		for _, key := range []string{"a", "b"} {
			require.Equal(t, event("one"), s.open(who, key).block())
		}
	}
	s.mu.Lock()
	before := s.reads
	s.mu.Unlock()
	s.tick(time.Second)
	s.tick(time.Second) // is heard once the first was read
	s.mu.Lock()
	defer s.mu.Unlock()
	require.GreaterOrEqual(t, s.reads, before+1)
	require.LessOrEqual(t, s.reads, before+2)
}

// TestWhatCannotBeReadIsReadLater: a stream outlives a fault of the database, and what goes ends it.
func TestWhatCannotBeReadIsReadLater(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.is("a", "one", false)
	c := s.open("ana", "a")
	require.Equal(t, event("one"), c.block())
	s.mu.Lock()
	s.fault = errors.New("away")
	s.mu.Unlock()
	s.tick(time.Second)
	s.tick(time.Second) // the first was read
	s.mu.Lock()
	s.fault = nil
	s.mu.Unlock()
	s.is("a", "two", false)
	s.tick(time.Second)
	require.Equal(t, event("two"), c.block())
	s.mu.Lock()
	delete(s.states, "a")
	s.mu.Unlock()
	s.tick(time.Second)
	require.Equal(t, "id: gone|event: gone|data: null", c.block())
	require.Empty(t, c.block())
}

// TestASlowReaderIsCutOff: who takes nothing holds neither the stream nor its place for longer than a piece may take.
func TestASlowReaderIsCutOff(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(c *httpapi.Config) { c.PieceTime = 50 * time.Millisecond })
	big := strings.Repeat("x", 8<<20) // more than a connection takes by itself
	s.is("a", big, false)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /api/v1/things/a/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ana\r\n\r\n")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.hasRead() && s.opened() == 0 }, time.Minute, 10*time.Millisecond)
}

func (s *scene) hasRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads > 0
}

// opened is how many streams there are, as the metric says.
func (s *scene) opened() (n float64) {
	families, err := s.metrics.Gather()
	require.NoError(s.t, err)
	for _, f := range families {
		if f.GetName() == "marquee_event_streams" {
			for _, m := range f.GetMetric() {
				n += m.GetGauge().GetValue()
			}
		}
	}
	return n
}
