package main_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/localpg"
)

var shell = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestRestoreFromTheDocs runs what docs/operations.md says of backup and restore, word by
// word: a dump, money that moves after it, another server, and reconciliation.
func TestRestoreFromTheDocs(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"pg_dump", "pg_dumpall", "pg_restore", "psql"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: restoring was not tried", tool)
		}
	}
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## Backup and restore\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := shell.FindAllStringSubmatch(section, -1)
	require.Len(t, blocks, 5, "dump, restore, list, repair, list again")

	o := newOutside(t)
	version, err := exec.Command("pg_dump", "--version").Output()
	require.NoError(t, err)
	major, err := strconv.Atoi(string(regexp.MustCompile(`[0-9]+`).Find(version)))
	require.NoError(t, err)
	if served := o.count("SELECT current_setting('server_version_num')::int / 10000"); served > major {
		t.Skipf("pg_dump is of %d, the tests' server of %d: restoring was not tried", major, served)
	}
	dir := t.TempDir()
	run := func(n int, more ...string) string {
		t.Helper()
		c := exec.Command("bash", "-euo", "pipefail", "-c", blocks[n][1])
		c.Dir = dir
		c.Env = append(append(o.env, "RECONCILE_PAUSE=0s"), more...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s\n%s", blocks[n][1], out)
		return string(out)
	}
	bin := t.TempDir()
	require.NoError(t, os.Symlink(build(t, "faultpoints"), bin+"/marquee"))
	o.env = append(o.env, "PATH="+bin+":"+os.Getenv("PATH"))
	paid := func() int {
		return o.count(`SELECT coalesce(sum(amount_cents), 0)::int FROM payments.payments`)
	}
	back := func() int {
		return o.count(`SELECT coalesce(sum(amount_cents), 0)::int FROM payments.refunds WHERE status = 'done'`)
	}

	serving := o.serve("")
	ana := o.login()
	expect(t, 201, http.MethodPost, o.api("/gwa/subscribe/pix"), ana, map[string]any{"plan_id": "plus"})
	o.run("user", "create", "--customer", "--username", "bia", "--email", "bia@example.com", "--phone", "+5511987654322", "--tax-id", "11144477735", "--password-stdin")
	bia := o.loginAs("bia")
	expect(t, 201, http.MethodPost, o.api("/gwb/subscribe"), bia, map[string]any{"plan_id": "plus", "payment_method_id": "pm_card_visa"})
	eventually(t, "the card is not booked", func() bool { return paid() == 2990 })
	run(0) // yesterday's dump

	code := o.listed(o.sandbox.GWAURL() + "/payments")[0].(map[string]any)["id"].(string)
	_, err = o.sandbox.GWA.Pay(code)
	require.NoError(t, err)
	eventually(t, "the code is not booked", func() bool { return paid() == 2*2990 })
	root := o.loginAs("root")
	subscription := expect(t, 200, http.MethodGet, o.api("/customers/me/subscription"), bia, nil)["docs"].([]any)[0].(map[string]any)["_id"].(string)
	expect(t, 200, http.MethodPost, o.api("/subscriptions/"+subscription+"/refund"), root, map[string]any{"reason": "asked for it"})
	eventually(t, "the refund is not booked", func() bool { return back() == 2990 })
	require.NoError(t, serving.command.Process.Signal(syscall.SIGTERM))
	<-serving.exited

	data, err := os.MkdirTemp("", "marquee-restored-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	require.NoError(t, os.Chmod(data, 0o755)) // of which Postgres may run as another user
	server, err := localpg.Start(t.Context(), localpg.Options{DataDir: data + "/server", Ephemeral: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	run(1, "ADMIN_URL="+server.URL("postgres"))
	old, err := url.Parse(o.database)
	require.NoError(t, err)
	o.database = server.URL(strings.TrimPrefix(old.Path, "/"))
	o.env = append(o.env, "DATABASE_URL="+o.database)
	require.Equal(t, 2990, paid(), "as of the dump")
	require.Zero(t, back())

	since := "SINCE=" + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	listed := run(2, since)
	require.Contains(t, listed, "missed_payment")
	require.Equal(t, 2990, paid(), "listed, and nothing changed")
	run(3, since)
	require.Contains(t, run(4, since), " 0 differences")
	require.Equal(t, 2*2990, paid())
	require.Equal(t, 2990, back())
	require.Equal(t, 2, o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status IN ('active', 'cancelled')`))
	o.run("doctor")
}
