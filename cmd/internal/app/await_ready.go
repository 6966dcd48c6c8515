package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// readyPoll is the pause between two questions whether a process is ready, readyTimeout how long one may take.
const (
	readyPoll    = 200 * time.Millisecond
	readyTimeout = 3 * time.Second
)

// AwaitReady asks the process of this machine that listens where the configuration says (`serve` or `work`) whether it
// is ready, again and again until it is or wait is over, and prints its last answer. The error says that it is not.
func AwaitReady(ctx context.Context, cfg Config, process string, wait time.Duration, out io.Writer) error {
	addr := cfg.HTTP.Addr
	if process == "work" {
		addr = cfg.HTTP.WorkMetricsAddr
	}
	if addr == "off" {
		return errors.New("WORK_METRICS_ADDR is off: nobody can ask")
	}
	url := "http://" + reached(addr) + "/readyz"
	ends := time.Now().Add(wait)
	for {
		body, err := getReady(ctx, url)
		if err == nil || !time.Now().Before(ends) {
			_, printing := out.Write(body)
			return errors.Join(err, printing)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(readyPoll):
		}
	}
}

func getReady(ctx context.Context, url string) (body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("not ready: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("not ready: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, err = io.ReadAll(io.LimitReader(res.Body, 1<<20)); err != nil {
		return nil, fmt.Errorf("not ready: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return body, fmt.Errorf("not ready: %s", res.Status)
	}
	return body, nil
}

// reached is the address under which this machine reaches what listens on addr.
func reached(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr // which Validate refuses
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
