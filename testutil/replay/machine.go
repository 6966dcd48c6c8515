package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// begin is where every run's clock begins: a Monday, so that months and banking days fall alike whenever it is played.
var begin = time.Date(2031, 3, 3, 15, 0, 0, 0, time.UTC)

// settings are what the platform would else decide by how fast the machine is.
var settings = []string{
	"LOGIN_SYNC_WAIT=60s", "LOGIN_SYNC_PER_MINUTE=100000", "DATABASE_WAIT=60s", "DATABASE_LOCK_WAIT=60s",
	"ACCESS_TOKEN_TTL=2160h", "REFRESH_TOKEN_TTL=2160h", "ARCHIVE_TOKEN_TTL=2160h",
}

// machine is one `marquee dev` on a data directory of its own.
type machine struct {
	command *exec.Cmd
	exited  chan error
	dir     string
	ready   map[string]any // the line that it prints
}

// start begins with an empty database and a clock that stands at begin.
func start(ctx context.Context, binary string) (*machine, error) {
	path, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	m := &machine{exited: make(chan error, 1)}
	if m.dir, err = os.MkdirTemp("", "marquee-replay-"); err != nil {
		return nil, err
	}
	if err := os.Chmod(m.dir, 0o755); err != nil { // a root's Postgres runs as another account
		return nil, err
	}
	data := filepath.Join(m.dir, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		return nil, err
	}
	ahead := time.Until(begin).Truncate(time.Millisecond)
	if ahead < 0 {
		return nil, fmt.Errorf("the story begins on %s, which is over: move begin on and record anew",
			begin.Format(time.DateOnly))
	}
	// The clock stands between the moves of the story: what the machine's speed decides is in no answer.
	clock := fmt.Sprintf(`{"ahead_ns":%d,"stands_at":%q}`, ahead.Nanoseconds(), begin.Format(time.RFC3339))
	if err := os.WriteFile(filepath.Join(data, "clock.json"), []byte(clock), 0o600); err != nil {
		return nil, err
	}
	logs, err := os.Create(filepath.Join(m.dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = logs.Close() }()
	m.command = exec.Command(path, "dev", "--addr", "127.0.0.1:0", "--data-dir", data, "--json", "--no-throttle")
	m.command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, settings...)
	m.command.Stderr = logs
	out, err := m.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.command.Start(); err != nil {
		return nil, err
	}
	lines := make(chan []byte, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadBytes('\n')
		lines <- line
		m.exited <- m.command.Wait()
	}()
	select {
	case line := <-lines:
		if err := json.Unmarshal(line, &m.ready); err != nil {
			return nil, fmt.Errorf("%s did not start, see %s", binary, logs.Name())
		}
		return m, nil
	case <-time.After(3 * time.Minute):
		err = errors.New("the binary is not ready after 3 minutes")
	case <-ctx.Done():
		err = ctx.Err()
	}
	m.stop()
	return nil, err
}

// stop ends it and removes its data; what it logged stays.
func (m *machine) stop() {
	_ = m.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-m.exited:
	case <-time.After(30 * time.Second):
		_ = m.command.Process.Kill()
	}
	_ = os.RemoveAll(filepath.Join(m.dir, "data"))
}
