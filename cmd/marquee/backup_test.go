package main_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/localpg"
	"marquee/testutil/pgtest"
)

// archived is a private Postgres whose log pgBackRest archives, by the files of deploy/backup with other places in
// them.
type archived struct {
	t        *testing.T
	dir      string
	settings map[string]string
	server   *localpg.Server
	env      []string            // of pgbackrest and restore.sh
	account  *syscall.Credential // whose the data is; nil: ours
}

func newArchived(t *testing.T) *archived {
	t.Helper()
	a := &archived{t: t, dir: pgtest.DataDir(t), settings: map[string]string{}}
	a.start()
	var data string
	require.NoError(t, a.connect("postgres").QueryRow(t.Context(), "SHOW data_directory").Scan(&data))
	info, err := os.Stat(data)
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	for _, name := range []string{"repository", "run"} {
		path := filepath.Join(a.dir, name)
		require.NoError(t, os.Mkdir(path, 0o700))
		require.NoError(t, os.Chown(path, int(owner.Uid), int(owner.Gid)))
	}
	if os.Geteuid() == 0 {
		a.account = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
	}
	address, err := url.Parse(a.server.URL("postgres"))
	require.NoError(t, err)
	run, config := filepath.Join(a.dir, "run"), filepath.Join(a.dir, "pgbackrest.conf")
	text := strings.NewReplacer(
		"[global]\n", "[global]\nlog-path="+run+"\nlock-path="+run+"\nspool-path="+run+"\n",
		"/var/lib/pgbackrest", filepath.Join(a.dir, "repository"), "/var/lib/postgresql/15/main", data,
	).Replace(read(t, "backup/pgbackrest.conf"))
	text += "pg1-port=" + address.Port() + "\npg1-socket-path=" + run + "\npg1-user=postgres\n"
	require.NoError(t, os.WriteFile(config, []byte(text), 0o644)) //nolint:gosec // Postgres's account reads it
	a.env = append(os.Environ(), "PGBACKREST_CONFIG="+config, "PGPASSWORD="+password(address))
	a.stop()
	for line := range strings.Lines(read(t, "backup/archive.conf")) {
		name, value, found := strings.Cut(strings.TrimSpace(line), " = ")
		if found && !strings.HasPrefix(name, "#") {
			here := strings.NewReplacer("'", "", "pgbackrest ", "pgbackrest --config="+config+" ")
			a.settings[name] = here.Replace(value)
		}
	}
	require.Contains(t, a.settings["archive_command"], "archive-push")
	a.settings["unix_socket_directories"] = run
	a.start()
	return a
}

func password(u *url.URL) string {
	text, _ := u.User.Password()
	return text
}

func (a *archived) start() {
	a.t.Helper()
	var err error
	a.server, err = localpg.Start(a.t.Context(), localpg.Options{DataDir: a.dir, Settings: a.settings})
	require.NoError(a.t, err)
	server := a.server
	a.t.Cleanup(func() { _ = server.Stop(context.Background()) })
}

func (a *archived) stop() { require.NoError(a.t, a.server.Stop(a.t.Context())) }

func (a *archived) connect(database string) *pgx.Conn {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), a.server.URL(database))
	require.NoError(a.t, err)
	a.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// sh runs commands of the operators' page as the data's owner.
func (a *archived) sh(commands string, env ...string) string {
	a.t.Helper()
	c := exec.Command("bash", "-euo", "pipefail", "-c", commands)
	c.Env, c.Dir = append(a.env, env...), a.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: a.account}
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "is this version of PostgreSQL supported") {
		a.t.Skip("this pgBackRest is older than this Postgres: restoring to an instant was not tried")
	}
	require.NoError(a.t, err, "%s\n%s", commands, out)
	return string(out)
}

// TestPointInTimeOps does what docs/operations.md says of continuous archiving: a full backup, a purchase, an instant,
// another purchase, and the database as it was at the instant. The second purchase's money is found at the gateway.
func TestPointInTimeOps(t *testing.T) {
	if os.Getenv("OPS") == "" {
		t.Skip("makes a cluster and restores it: make test-ops")
	}
	program(t, "pgbackrest", "pgbackrest")
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## To an instant\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := shell.FindAllStringSubmatch(section, -1)
	require.Len(t, blocks, 3, "prepare, restore, what was lost")

	a := newArchived(t)
	database, err := a.server.EnsureDatabase(t.Context(), "marquee")
	require.NoError(t, err)
	migrate := exec.Command(build(t, "faultpoints"), "migrate", "up")
	migrate.Env = append(os.Environ(), "DATABASE_URL="+database)
	out, err := migrate.CombinedOutput()
	require.NoError(t, err, "%s", out)
	o := newOutsideOn(t, database)
	o.run("user", "create", "--customer", "--username", "bia", "--email", "bia@example.com", "--phone",
		"+5511987654322", "--tax-id", "11144477735", "--password-stdin")
	a.sh(blocks[0][1])

	serving, working := o.serve(""), o.start("work", "")
	event := expect(t, 200, http.MethodPost, o.api("/events"), o.loginAs("root"), []object{{
		"title": "Premiere", "event_date": "2099-04-20T22:00:00Z", "location": "Cine Ipiranga", "capacity": 40,
		"ticket_value": 60, "is_sale_box_office": true,
	}})["docs"].([]any)[0].(object)["_id"]
	buy := func(who string) (order string) {
		t.Helper()
		bought := expect(t, 200, http.MethodPost, o.api("/store/purchase/gwb/card"), o.loginAs(who),
			object{"event_id": event, "quantity": 1, "payment_method_id": visa})
		order = bought["order"].(object)["_id"].(string)
		eventually(t, "the purchase is not booked", func() bool {
			return o.count(`SELECT count(*) FROM tickets.orders o JOIN payments.payments p ON p.local_id = o.id
				WHERE o.state = 'paid' AND o.id = '`+order+`'`) == 1
		})
		return order
	}
	first := buy("ana")
	target := text(t, o, "SELECT clock_timestamp()::text")
	second := buy("bia")
	for _, p := range []*process{serving, working} {
		require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
		<-p.exited
	}
	last := text(t, o, "SELECT pg_walfile_name(pg_switch_wal())")
	eventually(t, "the log was not archived", func() bool {
		return o.count(`SELECT count(*) FROM pg_stat_archiver WHERE last_archived_wal >= '`+last+`'`) == 1
	})
	o.db().Close()
	a.stop()

	script := filepath.Join(a.dir, "restore.sh")
	require.NoError(t, os.WriteFile(script, []byte(read(t, "backup/restore.sh")), 0o755)) //nolint:gosec // as there
	// The command by which Postgres fetches its log names the configuration where it is not in its usual place.
	here := strings.NewReplacer("deploy/backup/restore.sh", script,
		`"$TARGET"`, `"$TARGET" --config="$PGBACKREST_CONFIG"`)
	a.sh(here.Replace(blocks[1][1]), "TARGET="+target)
	a.start()
	o.pool = nil
	orders := `SELECT count(*) FROM tickets.orders WHERE state = 'paid' AND id = '`
	require.Equal(t, 1, o.count(orders+first+`'`), "bought before the instant")
	require.Equal(t, 0, o.count(orders+second+`'`), "bought after it")
	charged := o.listed(o.sandbox.GWBURL() + "/v1/charges")
	require.Len(t, charged, 2, "the gateway has both")

	bin := t.TempDir()
	require.NoError(t, os.Symlink(build(t, "faultpoints"), bin+"/marquee"))
	since := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	c := exec.Command("bash", "-euo", "pipefail", "-c", blocks[2][1])
	c.Env = append(o.env, "PATH="+bin+":"+os.Getenv("PATH"), "SINCE="+since, "RECONCILE_PAUSE=0s")
	said, err := c.CombinedOutput()
	require.NoError(t, err, "%s", said)
	t.Logf("%s", said)
	require.Contains(t, string(said), "60.00", "the second purchase's money is told")
	o.start("work", "")
	eventually(t, "the second purchase's money is not listed", func() bool {
		return o.count(`SELECT count(*) FROM payments.unapplied_payments WHERE amount_cents = 6000`) == 1
	})
	o.run("doctor")
}
