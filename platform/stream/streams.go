package stream

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/platform/fault"
	"marquee/platform/objectid"
)

const (
	// mostOfUser is how many streams a user has in a process.
	mostOfUser = 3
	// again is how long who finds no place is told to wait.
	again = 5 * time.Second
	// retry is how long a client waits before it takes up a stream that ended.
	retry = time.Second
	// recheckAfter is how often the caller is looked at.
	recheckAfter = 10 * time.Second
	// quiet is how long a stream says nothing at most.
	quiet = 15 * time.Second
	// lastWrite is how long a client has to take the end of a stream.
	lastWrite = time.Second
)

// Config is what New needs; the zero value of a field means its default.
type Config struct {
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Longest time.Duration    // of a stream; default a minute
	Now     func() time.Time // default time.Now
	// Ticks begins what says when a feed is to look at the database, until stop is called; default: every second.
	Ticks func() (ticks <-chan time.Time, stop func())
}

// Streams are the streams of a process.
type Streams struct {
	cfg   Config
	open  *prometheus.GaugeVec
	ctx   context.Context //nolint:containedctx // of what reads for all streams
	end   context.CancelFunc
	feeds sync.WaitGroup

	mu       sync.Mutex
	draining bool
	ofUser   map[objectid.ID]int
	under    map[*underWay]struct{}
}

// underWay is a stream that is being sent.
type underWay struct {
	cancel context.CancelFunc
	events *writer
}

// New makes the streams of a process; Close them.
func New(cfg Config) *Streams {
	cfg.Longest = cmp.Or(cfg.Longest, time.Minute)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Ticks == nil {
		cfg.Ticks = everySecond
	}
	s := &Streams{
		cfg: cfg, ofUser: map[objectid.ID]int{}, under: map[*underWay]struct{}{},
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "marquee_event_streams", Help: "Streams of events that are open, by what they tell of.",
		}, []string{"feed"}),
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	if cfg.Metrics != nil {
		cfg.Metrics.MustRegister(s.open)
	}
	return s
}

func everySecond() (ticks <-chan time.Time, stop func()) {
	ticker := time.NewTicker(time.Second)
	return ticker.C, ticker.Stop
}

// Drain ends all streams, and begins no more: 503. Their clients come back to another process.
func (s *Streams) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	for u := range s.under {
		u.cancel()
		if u.events != nil {
			u.events.hurry(lastWrite)
		}
	}
}

// Close is Drain, and waits until nothing is read any more.
func (s *Streams) Close() {
	s.Drain()
	s.end()
	s.feeds.Wait()
}

// enter takes a place for a stream of the user's, until leave. Errors: 429 where they have as many as they may; 503
// while the process drains.
func (s *Streams) enter(user objectid.ID, feed string, cancel context.CancelFunc) (u *underWay, leave func(),
	err error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, nil, &fault.Error{
			Kind: fault.KindUnavailable, Message: "This server is about to end. Try again.", RetryAfter: retry,
		}
	}
	if s.ofUser[user] >= mostOfUser {
		return nil, nil, fault.TooManyRequests(again, "You follow %s of events already. End one of them first.",
			fault.Count(mostOfUser, "stream"))
	}
	u = &underWay{cancel: cancel}
	s.ofUser[user]++
	s.under[u] = struct{}{}
	s.open.WithLabelValues(feed).Inc()
	return u, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ofUser[user]--; s.ofUser[user] == 0 {
			delete(s.ofUser, user)
		}
		delete(s.under, u)
		s.open.WithLabelValues(feed).Dec()
	}, nil
}

// begun tells Drain of what the stream is written to.
func (s *Streams) begun(u *underWay, events *writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.events = events
	if s.draining {
		events.hurry(lastWrite)
	}
}
