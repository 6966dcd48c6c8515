package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"marquee/cmd/bench/busiest"
)

// side is a server that is measured.
type side struct {
	name     string
	url      string
	process  int       // its id
	metrics  string    // the address of its profiles; "": it has none
	pooler   int       // that of the pooler before its database; 0: none
	platform *platform // on whose database it works
}

type request = busiest.Request

// client is the one of the generator: connections stay open.
var client = &http.Client{
	Timeout: 5 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
}

// do sends a request and reads the whole answer.
func (s side) do(ctx context.Context, r request) (code int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, s.url+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	if r.ContentType != "" {
		req.Header.Set("Content-Type", r.ContentType)
	}
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	defer res.Body.Close()
	var read bytes.Buffer
	if res.ContentLength > 0 {
		read.Grow(int(res.ContentLength) + bytes.MinRead)
	}
	if _, err := read.ReadFrom(res.Body); err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	return res.StatusCode, read.Bytes(), nil
}

// call is do for what has to succeed; into may be nil.
func (s side) call(ctx context.Context, r request, into any) error {
	code, raw, err := s.do(ctx, r)
	if err != nil {
		return err
	}
	if code/100 != 2 {
		return fmt.Errorf("%s %s: %d %s", r.Method, r.Path, code, raw)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	return nil
}

// signIn is the request of a login.
func (p *platform) signIn(user string) request {
	u := p.Users[user]
	form := url.Values{"username": {u.Username}, "password": {u.Password}}
	return request{
		Method: http.MethodPost, Path: "/api/v1/token", ContentType: "application/x-www-form-urlencoded",
		Body: form.Encode(),
	}
}

// login returns an access token of a seeded user.
func (s side) login(ctx context.Context, user string) (string, error) {
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	err := s.call(ctx, s.platform.signIn(user), &tokens)
	return tokens.AccessToken, err
}

// usage is processor time of a server, and of the Postgres behind it with what stands between.
type usage struct{ server, postgres time.Duration }

// used is what they have used since they began.
func (s side) used() usage {
	used := usage{server: cpuTime(s.process), postgres: cpuTime(s.platform.postmaster)}
	if s.pooler != 0 {
		used.postgres += cpuTime(s.pooler)
	}
	return used
}

// each is what was used since before, a request.
func (u usage) each(before usage, requests int) usage {
	n := time.Duration(max(requests, 1))
	return usage{(u.server - before.server) / n, (u.postgres - before.postgres) / n}
}

func (u usage) sum() time.Duration { return u.server + u.postgres }

// ticksPerSecond is the unit of /proc/<pid>/stat on Linux.
const ticksPerSecond = 100

// cpuTime is the processor time of a process and its descendants: Postgres' backends are the
// postmaster's.
func cpuTime(root int) time.Duration {
	children := map[int][]int{}
	ticks := map[int]int64{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended meanwhile
		}
		text := string(raw)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
		for _, i := range []int{11, 12, 13, 14} { // user and system time, own and of ended children
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			ticks[pid] += n
		}
	}
	var sum int64
	queue := []int{root}
	for len(queue) > 0 {
		pid := queue[0]
		queue = append(queue[1:], children[pid]...)
		sum += ticks[pid]
	}
	return time.Duration(sum) * time.Second / ticksPerSecond
}
