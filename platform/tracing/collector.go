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
	"strings"
	"sync"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	// tries and pause are how often and after how long a delivery is repeated that the collector could not take.
	tries, pause = 3, time.Second
	// deliveryTime bounds one try.
	deliveryTime = 10 * time.Second
	// silence is how long after a line in the log about lost spans there is no other.
	silence = time.Minute
)

// collector is an OTLP client over HTTP (docs/decisions/traces.md says why it is ours). What it cannot deliver is lost
// and logged: nobody else hears of it.
type collector struct {
	url     string
	headers map[string]string
	log     *slog.Logger
	http    *http.Client
	pause   time.Duration

	mu     sync.Mutex
	lost   int // spans, since the last line about them
	logged time.Time
}

func newCollector(cfg Config) *collector {
	return &collector{
		url: strings.TrimSuffix(cfg.Endpoint, "/") + "/v1/traces", headers: cfg.Headers, log: cfg.Log, pause: pause,
		http: &http.Client{
			Timeout: deliveryTime,
			// A redirect would carry the headers, and so a key, to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Start implements otlptrace.Client.
func (*collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. TracesData has the wire format of the request, ExportTraceServiceRequest.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := packed(&tracepb.TracesData{ResourceSpans: spans})
	for try := 1; err == nil; try++ {
		var again bool
		if again, err = c.deliver(ctx, body); err == nil {
			return nil
		}
		if !again || try == tries {
			break
		}
		select {
		case <-time.After(time.Duration(try) * c.pause):
			err = nil
		case <-ctx.Done():
		}
	}
	c.report(ctx, spans, err)
	return nil
}

func packed(message proto.Message) ([]byte, error) {
	raw, err := proto.Marshal(message)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(raw)
	return out.Bytes(), errors.Join(err, w.Close())
}

// deliver makes one try. Again reports whether the same may be taken later.
func (c *collector) deliver(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	res, err := c.http.Do(r)
	if err != nil {
		return true, err
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // for the connection's next delivery
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the collector answers %d", res.StatusCode)
}

// report logs that spans are lost, once in a minute at most.
func (c *collector) report(ctx context.Context, all []*tracepb.ResourceSpans, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range all {
		for _, s := range r.GetScopeSpans() {
			c.lost += len(s.GetSpans())
		}
	}
	if time.Since(c.logged) < silence {
		return
	}
	c.log.WarnContext(ctx, "spans not delivered", slog.Int("lost", c.lost), slog.Any("error", err))
	c.lost, c.logged = 0, time.Now()
}
