package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestWhatServeAndWorkStartWith: the configuration, and a schema that they run on.
func TestWhatServeAndWorkStartWith(t *testing.T) {
	t.Parallel()
	ctx, database, long := t.Context(), pgtest.URL(t), strings.Repeat("k", 32)
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(long+"\n"), 0o600))
	o := &outside{
		t: t, database: database, addr: loopback(),
		env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "DATABSE_URL=" + database},
	}
	metrics := loopback()
	refused := func(args ...string) string {
		t.Helper()
		c := exec.Command(build(t, "faultpoints"), args...)
		c.Env = o.env
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", out)
		require.Equal(t, 1, exit.ExitCode(), "%s", out)
		return string(out)
	}
	for _, command := range []string{"serve", "work"} {
		out := refused(command)
		require.Contains(t, out, "PUBLIC_URL is missing")
		require.Contains(t, out, "GWB_SECRET_KEY is missing")
		require.Contains(t, out, "DATABSE_URL is set and not read: is DATABASE_URL meant?")
	}
	require.Contains(t, refused("config", "check"), "9 variables would keep serve and work from starting")

	o.env = append(o.env, "DATABASE_URL="+database, "ADDR="+o.addr, "METRICS_ADDR="+metrics,
		"WORK_METRICS_ADDR=off", "DRAIN_DELAY=0",
		"PUBLIC_URL=http://"+o.addr, "TOKEN_KEYS=a:"+long, "FILE_KEY_FILE="+key,
		"GWA_API_KEY=key", "GWA_WEBHOOK_TOKEN="+long, "GWB_SECRET_KEY=key", "GWB_WEBHOOK_SECRET="+long,
		"SMTP_URL=smtp://127.0.0.1:1", "DATABASE_MAX_CONNS=4")
	o.run("config", "check")
	missing, err := schema.Down(ctx, database)
	require.NoError(t, err)
	for _, command := range [][]string{{"serve"}, {"work"}, {"doctor"}, {"analyst", "create", "ana_too_early"}} {
		require.Contains(t, refused(command...), "1 migration is missing, "+missing+". Run: marquee migrate up")
	}
	o.run("migrate", "up")

	db, err := pgx.Connect(ctx, database)
	require.NoError(t, err)
	defer func() { _ = db.Close(ctx) }()
	_, err = db.Exec(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	require.NoError(t, err)
	serve := o.serve("")
	for _, method := range []string{http.MethodGet, http.MethodPost} { // the control of development
		for _, path := range []string{"/_dev/clock", "/_dev/clock/advance", "/api/v1/_dev/clock/advance"} {
			status, body, err := tryCall(method, "http://"+o.addr+path, "", map[string]any{"by": "1h"})
			require.NoError(t, err)
			require.Equal(t, 404, status, "%s %s: %s", method, path, body)
		}
	}
	require.Contains(t, serve.log.String(), "the database is newer than this program")
	_, text, err := tryCall(http.MethodGet, "http://"+metrics+"/metrics", "", nil)
	require.NoError(t, err)
	require.Contains(t, string(text), "# TYPE marquee_db_waits_total counter")
	for i := range 20 { // whose lines are in memory when the process is told to end
		req, err := http.NewRequest(http.MethodGet, o.api("/health"), http.NoBody)
		require.NoError(t, err)
		req.Header.Set("X-Request-Id", "at-the-end-"+strconv.Itoa(i))
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
	require.NoError(t, serve.command.Process.Signal(syscall.SIGTERM))
	<-serve.exited
	require.Equal(t, 20, strings.Count(serve.log.String(), `"request_id":"at-the-end-`))
	_, err = db.Exec(ctx, "INSERT INTO platform.breaking_migrations VALUES (99999, 99998)")
	require.NoError(t, err)
	for _, command := range []string{"serve", "work"} {
		require.Contains(t, refused(command),
			"does not run with its migration 99999: that needs a program which knows 99998")
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian's package prometheus): what it says of the metrics was not asked")
	}
	c := exec.Command(promtool, "check", "metrics")
	c.Stdin = strings.NewReader(string(text))
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, strings.TrimSpace(string(out)))
}
