package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// platform is a marquee dev process of our own.
type platform struct {
	command *exec.Cmd
	dir     string
	kept    bool // the directory stays
	http    *http.Client
	URL     string `json:"url"`
	// DatabaseURL is the platform's database, with all rights.
	DatabaseURL string `json:"database_url"`
	Webhooks    struct {
		GWBSecret string `json:"gwb_secret"`
	} `json:"webhooks"`
	Users map[string]struct {
		Username string `json:"username"`
		Password string `json:"password"`
	} `json:"users"`
}

// start runs the binary and waits for its line.
func start(ctx context.Context, binary string) (*platform, error) {
	dir, err := os.MkdirTemp("", "marquee-bench-")
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the Postgres account has to reach its folder in it
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return startIn(ctx, binary, dir)
}

// startIn runs it on a data directory that may be there already.
func startIn(ctx context.Context, binary, dir string) (*platform, error) {
	p := &platform{
		dir: dir, http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	p.command = exec.CommandContext(ctx, binary, "dev", "--json", "--no-throttle", "--addr", "127.0.0.1:0",
		"--data-dir", dir)
	p.command.Env = append(os.Environ(), "LOG_LEVEL=error")
	p.command.Stderr = os.Stderr
	p.command.Cancel = func() error { return p.command.Process.Signal(syscall.SIGINT) }
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, p)
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("marquee dev did not become ready: %w", err)
	}
	return p, nil
}

func (p *platform) stop() {
	_ = p.command.Process.Signal(syscall.SIGINT)
	_ = p.command.Wait()
	if !p.kept {
		_ = os.RemoveAll(p.dir)
	}
}

// login returns an access token of a seeded user.
func (p *platform) login(ctx context.Context, user string) (string, error) {
	u := p.Users[user]
	form := url.Values{"username": {u.Username}, "password": {u.Password}}
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	err := p.call(ctx, http.MethodPost, "/api/v1/token", "", "application/x-www-form-urlencoded",
		strings.NewReader(form.Encode()), &tokens)
	return tokens.AccessToken, err
}

// fill adds videos through the API until there are as many as wanted.
func (p *platform) fill(ctx context.Context, admin string, want int) error {
	var list envelope
	if err := p.call(ctx, http.MethodGet, "/api/v1/videos", admin, "", nil, &list); err != nil {
		return err
	}
	for n := list.Pagination.QtyTotalDocs; n < want; {
		var batch []map[string]any
		for ; n < want && len(batch) < 1000; n++ {
			batch = append(batch, map[string]any{
				"title": fmt.Sprintf("Film %06d", n), "slug": fmt.Sprintf("film-%06d", n),
				"video_id":     fmt.Sprintf("https://videos.example.com/%06d", n),
				"duration":     60 + n%120,
				"release_date": time.Date(1950+n%70, time.Month(1+n%12), 1+n%28, 0, 0, 0, 0, time.UTC),
				"description":  "A film of the benchmark's catalogue.", "author": fmt.Sprintf("Director %d", n%500),
				"tags": []string{fmt.Sprintf("tag%d", n%50)},
			})
		}
		body, err := json.Marshal(batch)
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
		if err := p.call(ctx, http.MethodPost, "/api/v1/videos", admin, "application/json", bytes.NewReader(body),
			nil); err != nil {
			return err
		}
	}
	return nil
}

func (p *platform) call(ctx context.Context, method, path, token, contentType string, body io.Reader, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, p.URL+path, body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := p.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, raw)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return errors.Join(fmt.Errorf("%s %s", method, path), err)
	}
	return nil
}
