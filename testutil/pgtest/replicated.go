package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/localpg"
)

// Cluster is a primary of a test's own with streaming replicas, which can be stopped, killed and made to lag.
type Cluster struct {
	t        testing.TB
	primary  *localpg.Server
	replicas []*localpg.Server
	dirs     []string
}

// Replicated makes a cluster with a migrated database and so many replicas.
func Replicated(t testing.TB, replicas int) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "replicated")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // the server's account has to get there
	c := &Cluster{t: t, dirs: []string{filepath.Join(dir, "primary")}}
	c.primary = c.start(c.dirs[0])
	t.Cleanup(func() { _ = c.primary.Stop(context.Background()) })
	url, err := c.primary.EnsureDatabase(t.Context(), "marquee")
	require.NoError(t, err)
	_, err = schema.Up(t.Context(), url)
	require.NoError(t, err)
	for i := range replicas {
		c.dirs = append(c.dirs, filepath.Join(dir, "replica"+strconv.Itoa(i+1)))
		require.NoError(t, c.primary.CopyInto(t.Context(), c.dirs[i+1]))
		c.replicas = append(c.replicas, c.start(c.dirs[i+1]))
		t.Cleanup(func() { _ = c.replicas[i].Stop(context.Background()) })
	}
	return c
}

// start starts the server on the data; again on the port of the first time.
func (c *Cluster) start(dir string) *localpg.Server {
	c.t.Helper()
	s, err := localpg.Start(context.WithoutCancel(c.t.Context()), localpg.Options{DataDir: dir, Settings: map[string]string{
		"fsync": "off", "shared_buffers": "32MB", "autovacuum": "off", "jit": "off",
		"wal_receiver_status_interval": "1s", "wal_retrieve_retry_interval": "100ms",
		"max_standby_streaming_delay": "0", // what stands in the way of the log's replay is cancelled at once
	}})
	require.NoError(c.t, err)
	return s
}

// URL is that of the database on the primary.
func (c *Cluster) URL() string { return c.primary.URL("marquee") }

// ReplicaURL is that of the database on the n-th replica, from 0.
func (c *Cluster) ReplicaURL(n int) string { return c.replicas[n].URL("marquee") }

// ReplicaURLs are those of all, separated by commas.
func (c *Cluster) ReplicaURLs() string {
	urls := make([]string, len(c.replicas))
	for i := range c.replicas {
		urls[i] = c.ReplicaURL(i)
	}
	return strings.Join(urls, ",")
}

// Pause lets the n-th replica fall behind, Resume catch up.
func (c *Cluster) Pause(n int) { c.exec(n, "SELECT pg_wal_replay_pause()") }

// Resume ends Pause.
func (c *Cluster) Resume(n int) { c.exec(n, "SELECT pg_wal_replay_resume()") }

// Promote makes the n-th replica a primary of its own.
func (c *Cluster) Promote(n int) { c.exec(n, "SELECT pg_promote()") }

// Detach makes the n-th replica a copy that runs by itself, as one does that was made without a standby.signal: all that
// the log has given it it has in common with the primary, its timeline, too.
func (c *Cluster) Detach(n int) {
	c.t.Helper()
	require.NoError(c.t, c.replicas[n].Stop(context.WithoutCancel(c.t.Context())))
	require.NoError(c.t, os.Remove(filepath.Join(c.dirs[n+1], "postgres", "standby.signal")))
	c.Start(n)
}

// StreamFrom has the n-th replica follow another one instead of the primary.
func (c *Cluster) StreamFrom(n, other int) {
	at, err := pgx.ParseConfig(c.ReplicaURL(other))
	require.NoError(c.t, err)
	c.exec(n, fmt.Sprintf("ALTER SYSTEM SET primary_conninfo = 'host=%s port=%d user=%s password=%s'",
		at.Host, at.Port, at.User, at.Password))
	c.exec(n, "SELECT pg_reload_conf()")
}

func (c *Cluster) exec(n int, sql string) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.ReplicaURL(n))
	require.NoError(c.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(c.t.Context(), sql)
	require.NoError(c.t, err)
}

// Kill ends the n-th replica as kill -9 does; Start starts it again.
func (c *Cluster) Kill(n int) {
	c.t.Helper()
	require.NoError(c.t, syscall.Kill(c.replicas[n].Process(), syscall.SIGKILL))
	<-c.replicas[n].Done()
	require.NoError(c.t, c.replicas[n].Stop(context.Background())) // which gives up the data
}

// Start starts the n-th replica again.
func (c *Cluster) Start(n int) { c.replicas[n] = c.start(c.dirs[n+1]) }

// Freeze stops every process of the n-th replica where it stands, as a machine that hangs does; Thaw lets them go on.
func (c *Cluster) Freeze(n int) { c.signal(n, syscall.SIGSTOP) }

// Thaw ends Freeze.
func (c *Cluster) Thaw(n int) { c.signal(n, syscall.SIGCONT) }

func (c *Cluster) signal(n int, s syscall.Signal) {
	c.t.Helper()
	main := c.replicas[n].Process()
	require.NoError(c.t, syscall.Kill(main, s)) // first, so that it starts no more
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(c.t, err)
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(main) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			require.NoError(c.t, err)
			_ = syscall.Kill(pid, s)
		}
	}
}
