package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type envelope struct {
	Docs       []json.RawMessage `json:"docs"`
	Pagination struct {
		QtyTotalDocs int `json:"qty_total_docs"`
	} `json:"pagination"`
}

type result struct {
	perSecond float64
	p50, p99  time.Duration
	cpu       time.Duration // of the server and its Postgres, a request
}

// load runs a workload with so many clients at once and checks every answer.
func (p *platform) load(ctx context.Context, token string, clients int, length time.Duration,
	w workload) (result, error) {
	return p.drive(ctx, clients, length, func(ctx context.Context, until time.Time) ([]time.Duration, error) {
		return p.client(ctx, token, until, w)
	})
}

// drive runs so many clients at once, each of which calls until the time is up and
// tells how long its calls took. The first error ends all.
func (p *platform) drive(ctx context.Context, clients int, length time.Duration,
	client func(context.Context, time.Time) ([]time.Duration, error)) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		all   []time.Duration
		first error
		wg    sync.WaitGroup
	)
	before, start := cpuTime(p.command.Process.Pid), time.Now()
	for range clients {
		wg.Go(func() {
			times, err := client(ctx, start.Add(length))
			mu.Lock()
			defer mu.Unlock()
			all = append(all, times...)
			if err != nil && first == nil {
				first = err
				cancel()
			}
		})
	}
	wg.Wait()
	took, used := time.Since(start), cpuTime(p.command.Process.Pid)-before
	if first != nil {
		return result{}, first
	}
	slices.Sort(all)
	n := len(all)
	return result{
		perSecond: float64(n) / took.Seconds(), p50: all[n/2], p99: all[n*99/100], cpu: used / time.Duration(n),
	}, nil
}

func (p *platform) client(ctx context.Context, token string, until time.Time, w workload) ([]time.Duration, error) {
	var times []time.Duration
	for n := 0; time.Now().Before(until); n++ {
		path := w.path(n)
		start := time.Now()
		var page envelope
		if err := p.call(ctx, http.MethodGet, path, token, "", nil, &page); err != nil {
			return times, err
		}
		times = append(times, time.Since(start))
		if !w.right(page) {
			return times, fmt.Errorf("wrong answer to %s: %d documents, total %d", path, len(page.Docs),
				page.Pagination.QtyTotalDocs)
		}
	}
	return times, nil
}

// ticksPerSecond is the unit of /proc/<pid>/stat on Linux.
const ticksPerSecond = 100

// cpuTime is the processor time of a process and its descendants, Postgres'
// backends among them.
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
