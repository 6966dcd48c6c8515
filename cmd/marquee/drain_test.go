package main_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/soak"
)

// statusOf is the status of a GET over a connection of its own, and whether the next one has to have another; 0 where
// nobody listens.
func statusOf(t *testing.T, address string) (status int, closes bool) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: false}, Timeout: patience}
	defer client.CloseIdleConnections()
	res, err := client.Get(address)
	if err != nil {
		return 0, false
	}
	defer res.Body.Close()
	return res.StatusCode, res.Close
}

// is waits for a status.
func is(t *testing.T, status int, address string) {
	t.Helper()
	eventually(t, address+" has another status", func() bool {
		got, _ := statusOf(t, address)
		return got == status
	})
}

// TestServeDrainsBeforeItEnds: from SIGTERM on it is not ready and goes on answering; then nobody is let in, what is
// under way has its answer, and the process ends well.
func TestServeDrainsBeforeItEnds(t *testing.T) {
	t.Parallel()
	o, inside := newOutside(t), loopback()
	o.env = append(o.env, "METRICS_ADDR="+inside, "DRAIN_DELAY=1h")
	api, ready := "http://"+o.addr, "http://"+o.addr+"/readyz"
	first := o.start("serve", "")
	o.run("probe", "serve", "--wait", patience.String())
	is(t, 200, api+"/livez")
	is(t, 200, "http://"+inside+"/readyz")
	status, closes := statusOf(t, o.api("/plans"))
	require.Equal(t, 200, status)
	require.False(t, closes)
	require.NoError(t, first.command.Process.Signal(syscall.SIGTERM))
	is(t, 503, ready)
	is(t, 503, "http://"+inside+"/readyz")
	is(t, 200, api+"/livez")
	status, closes = statusOf(t, o.api("/plans"))
	require.Equal(t, 200, status, "whoever has not heard of it yet is answered")
	require.True(t, closes, "and comes back over another connection")
	require.NoError(t, first.command.Process.Kill())
	<-first.exited

	o.env = append(o.env, "DRAIN_DELAY=0")
	second := o.start("serve", "")
	o.run("probe", "serve", "--wait", patience.String())
	db, err := pgx.Connect(t.Context(), o.database)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	locked, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, err = locked.Exec(t.Context(), "LOCK TABLE accounts.users") // a login stands behind it
	require.NoError(t, err)
	late := make(chan int, 1)
	go func() {
		status, _, _ := tryCall(http.MethodPost, o.api("/token"), "", url.Values{"username": {"ana"}, "password": {o.password}})
		late <- status
	}()
	eventually(t, "the login does not wait", func() bool {
		return o.count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	})
	require.NoError(t, second.command.Process.Signal(syscall.SIGTERM))
	is(t, 0, ready)
	is(t, 503, "http://"+inside+"/readyz")
	is(t, 200, "http://"+inside+"/livez")
	require.NoError(t, locked.Rollback(t.Context()))
	require.Equal(t, 200, <-late)
	<-second.exited
	require.True(t, second.command.ProcessState.Success(), "%s", second.log)
}

// TestWorkTellsOperatorsHowItIs: its metrics, and whether it lives and is ready, until the last job has ended.
func TestWorkTellsOperatorsHowItIs(t *testing.T) {
	t.Parallel()
	o, inside := newOutside(t), loopback()
	o.env = append(o.env, "WORK_METRICS_ADDR="+inside)
	o.serve("")
	root := o.loginAs("root")
	db, err := pgx.Connect(t.Context(), o.database)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	locked, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, err = locked.Exec(t.Context(), "LOCK TABLE finance.export_chunks") // an export stands behind it
	require.NoError(t, err)
	export := expect(t, 202, http.MethodGet, o.api("/admin/finance/export?format=csv&async=1"), root, nil)["_id"].(string)

	work := o.start("work", "")
	o.run("probe", "work", "--wait", patience.String())
	is(t, 200, "http://"+inside+"/livez")
	_, text, err := tryCall(http.MethodGet, "http://"+inside+"/metrics", "", nil)
	require.NoError(t, err)
	require.Contains(t, string(text), "marquee_db_connections ")
	eventually(t, "the export is not begun", func() bool { return o.count("SELECT attempt FROM finance.exports") == 1 })
	beside := o.start("work", "") // whose address is taken
	eventually(t, "the second does not say so", func() bool {
		return strings.Contains(beside.log.String(), "this process tells operators nothing")
	})
	require.NoError(t, beside.command.Process.Kill())
	<-beside.exited

	require.NoError(t, work.command.Process.Signal(syscall.SIGTERM))
	is(t, 503, "http://"+inside+"/readyz")
	is(t, 200, "http://"+inside+"/livez")
	require.NoError(t, locked.Rollback(t.Context()))
	<-work.exited
	require.True(t, work.command.ProcessState.Success(), "%s", work.log)
	require.Equal(t, "done", expect(t, 200, http.MethodGet, o.api("/admin/exports/"+export), root, nil)["status"])
}

// TestOnlyAnAbsentDatabaseMakesAProcessNotReadyLong: it lives on meanwhile, and is ready again by itself.
func TestOnlyAnAbsentDatabaseMakesAProcessNotReadyLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	o := newOutside(t)
	through := newCable(t, o.database)
	o.env = append(o.env, "DATABASE_URL="+through.url)
	o.start("serve", "")
	o.run("probe", "serve", "--wait", patience.String())
	through.cut()
	is(t, 503, "http://"+o.addr+"/readyz")
	is(t, 200, "http://"+o.addr+"/livez")
	through.mend()
	is(t, 200, "http://"+o.addr+"/readyz")
}

// cable carries connections to a Postgres until it is cut.
type cable struct {
	url  string
	mu   sync.Mutex
	open map[net.Conn]bool // nil while it is cut
}

func newCable(t *testing.T, database string) *cable {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	c, to := &cable{open: map[net.Conn]bool{}}, u.Host
	u.Host = listener.Addr().String()
	c.url = u.String()
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go c.carry(from, to)
		}
	}()
	return c
}

func (c *cable) carry(from net.Conn, to string) {
	defer from.Close()
	postgres, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer postgres.Close()
	c.mu.Lock()
	if c.open == nil {
		c.mu.Unlock()
		return
	}
	c.open[from] = true
	c.mu.Unlock()
	go func() {
		_, _ = io.Copy(from, postgres)
		_ = from.Close()
	}()
	_, _ = io.Copy(postgres, from)
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
}

func (c *cable) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = map[net.Conn]bool{}
}
