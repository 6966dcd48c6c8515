package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What the deploy has to stand: at least so many requests from so many clients at once.
const (
	deployRequests = 10_000
	deployClients  = 8
)

// laterMigration is one that the tree's binary brings besides those that it has: it takes the strongest lock of the
// busiest tables, as a migration that adds a column does.
const laterMigration = `-- +goose Up
ALTER TABLE accounts.users ADD COLUMN side_by_side text;
ALTER TABLE catalog.categories ADD COLUMN side_by_side text NOT NULL DEFAULT 'later';
ALTER TABLE tickets.orders ADD COLUMN side_by_side integer;
-- +goose Down
ALTER TABLE tickets.orders DROP COLUMN side_by_side;
ALTER TABLE catalog.categories DROP COLUMN side_by_side;
ALTER TABLE accounts.users DROP COLUMN side_by_side;
`

// TestTwoVersionsSideBySideOps: the last release and the tree's binary behind one proxy, through a migration, until the
// old processes have ended; no request fails.
func TestTwoVersionsSideBySideOps(t *testing.T) {
	if os.Getenv("OPS") == "" {
		t.Skip("builds the release before and plays a deploy: make test-ops")
	}
	before, after := buildRelease(t), buildLater(t)
	database := newDatabase(t, "side_by_side")
	migrate := exec.Command(before, "migrate", "up")
	migrate.Env = append(os.Environ(), "DATABASE_URL="+database)
	out, err := migrate.CombinedOutput()
	require.NoError(t, err, "%s", out)

	o := newOutsideOf(t, database, before)
	o.env = append(o.env, "DRAIN_DELAY=3s", "DATABASE_WAIT=5s", "DATABASE_LOCK_WAIT=5s")
	proxy := newProxy(t)
	old := [2]*upstream{proxy.start(o, before), proxy.start(o, before)}
	oldWork := o.start("work", "")
	load := newLoad(t, o, proxy)
	load.begin()

	load.until(2000)
	o.binary = after
	o.run("migrate", "up")
	require.Equal(t, 1, o.count("SELECT count(*) FROM goose_db_version WHERE version_id = 99998"))
	first := proxy.start(o, after)
	o.start("work", "")
	load.until(4000)
	proxy.end(old[0])
	second := proxy.start(o, after)
	load.until(7000)
	require.NoError(t, oldWork.command.Process.Signal(syscall.SIGTERM))
	proxy.end(old[1])
	load.until(deployRequests)
	<-oldWork.exited
	load.end()

	t.Logf("%d requests: %d and %d to the release before, %d and %d to this; %d failed", load.sent.Load(),
		old[0].served.Load(), old[1].served.Load(), first.served.Load(), second.served.Load(), len(load.failed))
	for _, u := range []*upstream{old[0], old[1], first, second} {
		require.Greater(t, u.served.Load(), int64(deployRequests/20), "nobody is left out")
	}
	require.Empty(t, load.failed)
	require.True(t, oldWork.command.ProcessState.Success(), "%s", oldWork.log)
	eventually(t, "jobs are left", func() bool {
		return o.count("SELECT count(*) FROM jobs.river_job WHERE state IN ('available', 'running') AND scheduled_at <= now()") == 0
	})
	requireInvariants(t, database)
}

// buildRelease builds the commit of deploy/last-release, or skips the test where the clone does not hold it.
func buildRelease(t *testing.T) string {
	t.Helper()
	var commit string
	for line := range strings.Lines(read(t, "last-release")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			commit = line
		}
	}
	require.Regexp(t, "^[0-9a-f]{40}$", commit)
	if err := exec.Command("git", "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		t.Skipf("the clone does not hold the last release, %s (is it shallow, or no clone?): nothing was run beside it", commit)
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "tree.tar")
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	require.NoError(t, err)
	for _, c := range []*exec.Cmd{
		exec.Command("git", "-C", strings.TrimSpace(string(root)), "archive", "--output="+archive, commit),
		exec.Command("tar", "-xf", archive, "-C", dir),
	} {
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return buildIn(t, dir)
}

// buildLater builds the tree with laterMigration.
func buildLater(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	migration, overlay := filepath.Join(dir, "later.sql"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(migration, []byte(laterMigration), 0o600))
	replaced, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(root, "migrations", "99998_platform_side_by_side.sql"): migration},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replaced, 0o600))
	return buildIn(t, root, "-overlay", overlay)
}

func buildIn(t *testing.T, root string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "marquee")
	c := exec.Command("go", append(append([]string{"build", "-ldflags=-s -w", "-o", path}, flags...), "./cmd/marquee")...)
	c.Dir = root
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// upstream is a serve behind the proxy.
type upstream struct {
	*process
	to     *url.URL
	ready  atomic.Bool
	served atomic.Int64
}

// proxy sends each request to the next serve that is ready, as whoever routes requests does: it looks often, tries
// nothing twice, and keeps connections.
type proxy struct {
	t      *testing.T
	server *httptest.Server

	mu  sync.Mutex
	all []*upstream
	n   int
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{t: t}
	p.server = httptest.NewServer(&httputil.ReverseProxy{
		Transport: &http.Transport{MaxIdleConnsPerHost: deployClients},
		Rewrite: func(r *httputil.ProxyRequest) {
			u := p.next()
			u.served.Add(1)
			r.SetURL(u.to)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, err.Error())
		},
	})
	t.Cleanup(p.server.Close)
	return p
}

// next is the next one that is ready.
func (p *proxy) next() *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range p.all {
		p.n++
		if u := p.all[p.n%len(p.all)]; u.ready.Load() {
			return u
		}
	}
	return p.all[0] // which will refuse
}

// start starts a serve of the binary and waits until it is sent requests.
func (p *proxy) start(o *outside, binary string) *upstream {
	p.t.Helper()
	addr := loopback()
	o.binary, o.env = binary, append(o.env, "ADDR="+addr)
	u := &upstream{process: o.start("serve", ""), to: &url.URL{Scheme: "http", Host: addr}}
	p.mu.Lock()
	p.all = append(p.all, u)
	p.mu.Unlock()
	go u.watch()
	eventually(p.t, "serve is not ready", u.ready.Load)
	return u
}

// watch asks whether the process is ready, until it has ended.
func (u *upstream) watch() {
	for {
		select {
		case <-u.exited:
			u.ready.Store(false)
			return
		case <-time.After(100 * time.Millisecond):
		}
		res, err := http.Get(u.to.String() + "/readyz")
		u.ready.Store(err == nil && res.StatusCode == http.StatusOK)
		if err == nil {
			_ = res.Body.Close()
		}
	}
}

// end ends it as a deploy does.
func (p *proxy) end(u *upstream) {
	p.t.Helper()
	require.NoError(p.t, u.command.Process.Signal(syscall.SIGTERM))
	<-u.exited
	require.True(p.t, u.command.ProcessState.Success(), "%s", u.log)
}

// load is what clients send meanwhile.
type load struct {
	t                     *testing.T
	url                   string
	customer, root, event string
	password              string
	sent                  atomic.Int64
	stopped               chan struct{}
	clients               sync.WaitGroup
	mu                    sync.Mutex
	failed                []string
}

func newLoad(t *testing.T, o *outside, p *proxy) *load {
	t.Helper()
	o.addr = strings.TrimPrefix(p.server.URL, "http://")
	l := &load{
		t: t, url: p.server.URL + "/api/v1", password: o.password, customer: o.login(), root: o.loginAs("root"),
		stopped: make(chan struct{}),
	}
	made := expect(t, 200, http.MethodPost, l.url+"/events", l.root, []any{map[string]any{
		"title": "Premiere", "event_date": "2099-01-01T20:00:00.000Z", "capacity": 100_000, "is_sale_box_office": true,
	}})
	l.event = made["docs"].([]any)[0].(map[string]any)["_id"].(string)
	return l
}

// request is the n-th: reads and writes, by a customer, an admin and nobody.
func (l *load) request(n int64) (method, path, token string, body any) {
	switch n % 10 {
	case 0:
		return http.MethodPost, "/categories", l.root, []any{map[string]any{
			"name": fmt.Sprintf("Category %d", n), "slug": fmt.Sprintf("category-%d", n),
		}}
	case 1:
		return http.MethodGet, "/categories?qty_docs_page=5", l.customer, nil
	case 2:
		return http.MethodPost, "/store/purchase/gwb/card", l.customer, map[string]any{"event_id": l.event, "quantity": 1}
	case 3:
		return http.MethodGet, "/customers/me", l.customer, nil
	case 4:
		return http.MethodGet, "/customers?qty_docs_page=5", l.root, nil
	case 5:
		return http.MethodGet, "/store/events/" + l.event, "", nil
	case 6:
		if n%100 == 6 {
			return http.MethodPost, "/token", "", url.Values{"username": {"ana"}, "password": {l.password}}
		}
		return http.MethodGet, "/current-user", l.customer, nil
	case 7:
		return http.MethodGet, "/me/tickets?qty_docs_page=5", l.customer, nil
	case 8:
		return http.MethodGet, "/admin/finance/overview", l.root, nil
	}
	return http.MethodGet, "/plans", "", nil
}

// begin has the clients send until end, or until there can be no end.
func (l *load) begin() {
	for range deployClients {
		l.clients.Go(func() {
			for {
				select {
				case <-l.stopped:
					return
				default:
				}
				n := l.sent.Add(1)
				method, path, token, body := l.request(n)
				status, raw, err := tryCall(method, l.url+path, token, body)
				if err != nil || status < 200 || status >= 300 {
					l.mu.Lock()
					l.failed = append(l.failed, fmt.Sprintf("%d: %s %s: %d %v %.300s", n, method, path, status, err, raw))
					l.mu.Unlock()
				}
			}
		})
	}
	l.t.Cleanup(l.end)
}

// until waits for so many more requests than were sent at the beginning.
func (l *load) until(n int64) {
	l.t.Helper()
	eventually(l.t, "the clients stand still", func() bool { return l.sent.Load() >= n })
}

// end waits until the last one has its answer.
func (l *load) end() {
	select {
	case <-l.stopped:
	default:
		close(l.stopped)
	}
	l.clients.Wait()
}
