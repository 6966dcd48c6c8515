package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// tries and pause are how often and after how long a delivery is repeated that the collector could not take.
	tries, pause = 3, time.Second
	// longestPause is how long a collector may ask for.
	longestPause = 5 * time.Second
	// deliveryTime bounds one try, exportTime all of a batch.
	deliveryTime = 10 * time.Second
	exportTime   = 30 * time.Second
	// silence is how long after a line in the log about lost spans there is no other.
	silence = time.Minute
)

// collector delivers batches of spans by OTLP over HTTP (docs/decisions/traces.md says why it is ours). What it cannot
// deliver is lost, counted and logged: nobody else hears of it.
type collector struct {
	url     string
	headers map[string]string
	log     *slog.Logger
	http    *http.Client
	pause   time.Duration
	spans   counters
	hurried context.Context //nolint:containedctx // its end says that nothing is tried again
	hurry   context.CancelFunc
	ended   context.Context //nolint:containedctx // its end breaks off what is under way
	abort   context.CancelFunc

	mu     sync.Mutex
	lost   int // spans, since the last line about them
	logged time.Time
}

// counters count spans. Those that are neither delivered nor lost wait, or found the queue full.
type counters struct{ recorded, delivered, lost prometheus.Counter }

func newCounters(reg prometheus.Registerer) counters {
	spans := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "marquee_trace_spans_total",
		Help: "Spans that were recorded, and of these what the collector took (delivered) or did not take (lost); " +
			"the others wait, or found the queue full.",
	}, []string{"result"})
	if reg != nil {
		reg.MustRegister(spans)
	}
	return counters{
		spans.WithLabelValues("recorded"), spans.WithLabelValues("delivered"), spans.WithLabelValues("lost"),
	}
}

func newCollector(cfg Config) *collector {
	c := &collector{
		url: strings.TrimSuffix(cfg.URL, "/") + "/v1/traces", headers: cfg.Headers, log: cfg.Log, pause: pause,
		spans: newCounters(cfg.Metrics),
		http: &http.Client{
			Timeout:   deliveryTime,
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, IdleConnTimeout: time.Minute},
			// A redirect would carry the headers, and so a key, to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	c.hurried, c.hurry = context.WithCancel(context.Background())
	c.ended, c.abort = context.WithCancel(context.Background())
	return c
}

// Shutdown implements sdktrace.SpanExporter.
func (c *collector) Shutdown(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// ExportSpans implements sdktrace.SpanExporter. It returns no error, which the library would print past the log.
func (c *collector) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ended, cancel)() //nolint:contextcheck // its end is another's
	if err := c.deliver(ctx, exportRequest(spans)); err != nil {
		c.report(ctx, len(spans), err)
		return nil
	}
	c.spans.delivered.Add(float64(len(spans)))
	return nil
}

// deliver tries a few times, as long as the collector may take it later.
func (c *collector) deliver(ctx context.Context, message []byte) error {
	body, err := packed(message)
	for try := 1; err == nil; try++ {
		var again time.Duration
		if again, err = c.try(ctx, body); err == nil {
			return nil
		}
		if again == 0 || try == tries {
			break
		}
		timer := time.NewTimer(time.Duration(try) * again)
		select {
		case <-timer.C:
			err = nil
		case <-c.hurried.Done():
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return err
}

func packed(message []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(message)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// try makes one. Again is when the same may be taken later, 0 for never.
func (c *collector) try(ctx context.Context, body []byte) (again time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	res, err := c.http.Do(r)
	if err != nil {
		return c.pause, err
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // for the connection's next delivery
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = c.pause
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
			again = min(time.Duration(seconds)*time.Second, longestPause)
		}
	}
	return again, fmt.Errorf("the collector answers %d", res.StatusCode)
}

// report counts and logs that spans are lost, the latter once in a minute at most.
func (c *collector) report(ctx context.Context, spans int, err error) {
	c.spans.lost.Add(float64(spans))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost += spans
	if time.Since(c.logged) < silence {
		return
	}
	c.log.WarnContext(ctx, "spans not delivered", slog.Int("lost", c.lost), slog.Any("error", err))
	c.lost, c.logged = 0, time.Now()
}
