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

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/localpg"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

var shell = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestRestoreFromTheDocsLong runs what docs/operations.md says of backup and restore, word by
// word: a dump, money that moves after it, another server, and reconciliation.
func TestRestoreFromTheDocsLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	requireTools(t, "pg_dump", "pg_dumpall", "pg_restore", "psql")
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## Backup and restore\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := shell.FindAllStringSubmatch(section, -1)
	require.Len(t, blocks, 5, "dump, restore, list, repair, list again")

	o := newOutside(t)
	o.requireDumps()
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
	o.run("user", "create", "--customer", "--username", "bia", "--email", "bia@example.com", "--phone",
		"+5511987654322", "--tax-id", "11144477735", "--password-stdin")
	bia := o.loginAs("bia")
	expect(t, 201, http.MethodPost, o.api("/gwb/subscribe"), bia, map[string]any{
		"plan_id": "plus", "payment_method_id": "pm_card_visa",
	})
	eventually(t, "the card is not booked", func() bool { return paid() == 2990 })
	run(0) // yesterday's dump

	code := o.listed(o.sandbox.GWAURL() + "/payments")[0].(map[string]any)["id"].(string)
	_, err = o.sandbox.GWA.Pay(code)
	require.NoError(t, err)
	eventually(t, "the code is not booked", func() bool { return paid() == 2*2990 })
	root := o.loginAs("root")
	subscription := expect(t, 200, http.MethodGet, o.api("/customers/me/subscription"), bia,
		nil)["docs"].([]any)[0].(map[string]any)["_id"].(string)
	expect(t, 200, http.MethodPost, o.api("/subscriptions/"+subscription+"/refund"), root,
		map[string]any{"reason": "asked for it"})
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
	require.Equal(t, 2,
		o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status IN ('active', 'cancelled')`))
	o.run("doctor")
}

// requireTools skips the test where the machine lacks one.
func requireTools(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: restoring was not tried", tool)
		}
	}
}

// requireDumps skips the test where the machine's pg_dump is older than the server.
func (o *outside) requireDumps() {
	o.t.Helper()
	version, err := exec.Command("pg_dump", "--version").Output()
	require.NoError(o.t, err)
	major, err := strconv.Atoi(string(regexp.MustCompile(`[0-9]+`).Find(version)))
	require.NoError(o.t, err)
	if served := o.count("SELECT current_setting('server_version_num')::int / 10000"); served > major {
		o.t.Skipf("pg_dump is of %d, the tests' server of %d: restoring was not tried", major, served)
	}
}

// TestARestoredDatabaseWaitsLong: a database that was migrated, worked in and dumped without
// a refund by itself knows in its copy that it is one. What a webhook and reconciliation
// tell there is listed: no money goes back and no recurrence ends until a person has
// reconciled, and no lost recurrence before a further run.
func TestARestoredDatabaseWaitsLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	requireTools(t, "pg_dump", "pg_restore")
	o := newOutsideOn(t, newDatabase(t, "lived", "migrate", "up"))
	o.requireDumps()
	serving, working := o.serve(""), o.start("work", "")
	ana := o.login()
	card := map[string]any{"plan_id": "plus", "payment_method_id": "pm_card_visa"}
	expect(t, 201, http.MethodPost, o.api("/gwb/subscribe"), ana, card)
	paid := func() int { return o.count(`SELECT count(*) FROM payments.payments`) }
	eventually(t, "the card is not booked", func() bool { return paid() == 1 })
	dump := t.TempDir() + "/marquee.dump"
	tool := func(name string, args ...string) {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	tool("pg_dump", "--dbname="+o.database, "--format=custom", "--file="+dump)

	expect(t, 200, http.MethodDelete, o.api("/customers/me/subscription"), ana, nil)
	expect(t, 201, http.MethodPost, o.api("/gwb/subscribe/pix"), ana, map[string]any{"plan_id": "plus"})
	code := text(t, o, `SELECT pix_payment_id FROM subscriptions.subscriptions WHERE pix_payment_id IS NOT NULL`)
	o.run("user", "create", "--customer", "--username", "bia", "--email", "bia@example.com", "--phone",
		"+5511987654322", "--tax-id", "11144477735", "--password-stdin")
	expect(t, 201, http.MethodPost, o.api("/gwb/subscribe"), o.loginAs("bia"), card)
	eventually(t, "the second card is not booked", func() bool { return paid() == 2 })
	for _, p := range []*process{serving, working} {
		require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
		<-p.exited
	}

	o.database = newDatabase(t, "restored")
	tool("pg_restore", "--dbname="+o.database, "--exit-on-error", dump)
	o.env = append(o.env, "DATABASE_URL="+o.database)
	o.serve("")
	working = o.start("work", "")
	require.NoError(t, o.sandbox.GWB.PayPIX(code))
	const completed = `SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_unapplied' AND state = 'completed'`
	eventually(t, "the code's money was not looked at", func() bool { return o.count(completed) > 0 })
	require.Contains(t, working.log.String(), "this database is restored or copied")
	untouched := func() {
		t.Helper()
		require.Zero(t, o.count(`SELECT count(*) FROM payments.refunds`))
		require.Equal(t, 1,
			o.count(`SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'foreign' AND state = 'open'`))
		require.Empty(t, o.listed(o.sandbox.GWBURL()+"/v1/refunds"))
	}
	untouched()
	charging := func() int { return len(o.listed(o.sandbox.GWBURL() + "/v1/subscriptions?status=active")) }
	o.reconcile("--since", "1h")
	untouched()

	first := o.reconcile("--since", "1h", "--apply")
	require.NotRegexp(t, `stray_recurrence .* repaired`, first)
	const strays = `SELECT count(*) FROM subscriptions.stray_recurrences WHERE held AND confirmed_at IS NULL AND ended_at IS NULL`
	eventually(t, "what charges was not noted", func() bool { return o.count(strays) == 1 })
	require.Equal(t, 1, charging())
	require.Contains(t, o.reconcile("--since", "1h", "--apply"), "stray_recurrence")
	require.Zero(t, charging())
	require.Equal(t, 1, o.count(`SELECT count(*) FROM payments.database_marks WHERE mark = payments.database_mark()`))
}

// newDatabase is an empty database on the tests' server, on which a command is run.
func newDatabase(t *testing.T, name string, command ...string) string {
	t.Helper()
	address, err := url.Parse(pgtest.URL(t))
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), address.String())
	require.NoError(t, err)
	name = strings.TrimPrefix(address.Path, "/") + "_" + name
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
		_ = conn.Close(context.Background())
	})
	address.Path = "/" + name
	if len(command) > 0 {
		c := exec.Command(build(t, "faultpoints"), command...)
		c.Env = append(os.Environ(), "DATABASE_URL="+address.String())
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return address.String()
}

// text asks the database for one.
func text(t *testing.T, o *outside, query string) (value string) {
	t.Helper()
	require.NoError(t, o.db().QueryRow(t.Context(), query).Scan(&value))
	return value
}
